#!/usr/bin/env node
import './check-node.js'
import { existsSync } from 'node:fs'

const program = new URL('../dist/program/main.js', import.meta.url)
if (existsSync(program)) await import(program)
else {
  console.error('meup is not built yet; run pnpm build in the clone')
  process.exitCode = 1
}
