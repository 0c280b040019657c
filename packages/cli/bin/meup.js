#!/usr/bin/env node
import './check-node.js'
import { existsSync } from 'node:fs'
import module from 'node:module'

// Caches compiled code on disk, for faster starts; from Node 22.1 on.
module.enableCompileCache?.()

const program = new URL('../dist/program/main.js', import.meta.url)
if (existsSync(program)) await import(program)
else {
  console.error('meup is not built yet; run pnpm build in the clone')
  process.exitCode = 1
}
