import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildSync } from 'esbuild'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './cli.js'
import { repositoryRoot } from './files.js'
import { snippetsOf, writeSnippets } from './snippets.js'

/** Makes a folder in place of a clone of this repository, with all files that a page of the docs asks its reader to write. */
export function cloneWith(page: string): string {
  const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  writeSnippets(snippetsOf(page), clone)
  return clone
}

/** Compiles the programs of a folder, because loading them with `tsx` takes longer than running most of them. */
function compile(folder: string): void {
  const entryPoints = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  const options = { format: 'esm', platform: 'node', target: 'node20', sourcemap: 'inline' } as const
  buildSync({ absWorkingDir: folder, entryPoints, outdir: folder, ...options })
}

/** Compiles a program in a folder or below it. Returns the arguments for `node`. */
function runs(cwd: string, file: string): string[] {
  compile(dirname(join(cwd, file)))
  return ['--enable-source-maps', file.replace(/\.ts$/, '.js')]
}

/** Runs a program of a page until the test is over. */
export function startProgram(
  cwd: string,
  file: string,
  env: NodeJS.ProcessEnv = process.env,
): { readonly process: ChildProcess; stdout: string } {
  const child = spawn(process.execPath, runs(cwd, file), { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const program = { process: child, stdout: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    program.stdout += chunk
  })
  return program
}

/** Runs a program of a page to its end. Returns its output. */
export const printedBy = (cwd: string, file: string): string =>
  execFileSync(process.execPath, runs(cwd, file), { cwd, encoding: 'utf8' })
