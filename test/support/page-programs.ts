import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './cli.js'
import { repositoryRoot } from './files.js'
import { snippetsOf, writeSnippets } from './snippets.js'

/** A folder that replaces the clone, with all files that a page of the docs asks its reader to write. */
export function cloneWith(page: string): string {
  const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  writeSnippets(snippetsOf(page), clone)
  return clone
}

const runs = (file: string): string[] => ['--import', 'tsx', file]

/** Runs a program of a page for as long as the test takes. */
export function startProgram(cwd: string, file: string): { readonly process: ChildProcess; stdout: string } {
  const child = spawn(process.execPath, runs(file), { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const program = { process: child, stdout: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    program.stdout += chunk
  })
  return program
}

/** Runs a program of a page to its end, and gives what it printed. */
export const printedBy = (cwd: string, file: string): string =>
  execFileSync(process.execPath, runs(file), { cwd, encoding: 'utf8' })
