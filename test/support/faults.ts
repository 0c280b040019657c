import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Mounts a disk of a few MiB in memory, until the test is over; `undefined` = not permitted. */
export function mountSmallDisk(mebibytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'meup-disk-'))
  onTestFinished(() => rmdirSync(folder))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]))
  const filler = join(folder, 'filler')
  return { folder, fill: () => fill(filler), clear: () => rmSync(filler) }
}

/** Writes to a file until the disk is completely full. */
function fill(path: string): void {
  const file = openSync(path, 'a')
  try {
    for (const size of [65_536, 4096, 1]) {
      const chunk = Buffer.alloc(size)
      while (fits(file, chunk)) {}
    }
  } finally {
    closeSync(file)
  }
}

function fits(file: number, chunk: Buffer): boolean {
  try {
    return writeSync(file, chunk) === chunk.length
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}

/** Whether strace can make system calls of other programs fail on this machine. */
export function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-f', '-e', 'inject=fsync:error=EIO', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Returns the beginning of a command that runs a program with strace, and writes its calls of `calls` to the file `trace`.
 * `fault`: what to inject into them, such as `error=EIO:when=7`; each thread counts for itself.
 */
export function tracing(calls: string, trace: string, fault?: string): string[] {
  const injected = fault === undefined ? [] : ['-e', `inject=${calls}:${fault}`]
  return ['strace', '-D', '-f', '--seccomp-bpf', '-o', trace, '-e', `trace=${calls}`, ...injected]
}

/** Reads the system calls from a file of `tracing`, and whether each was made to fail. */
export function tracedCalls(trace: string): { readonly injected: boolean }[] {
  const lines = readFileSync(trace, 'utf8').split('\n')
  return lines.filter((line) => line.includes('(')).map((line) => ({ injected: line.includes('(INJECTED)') }))
}
