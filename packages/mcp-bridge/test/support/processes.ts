import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** Paths of the programs in the folder `fixtures`. */
export const fixtures = {
  family: fileURLToPath(new URL('../fixtures/family.mjs', import.meta.url)),
  libraryServer: fileURLToPath(new URL('../fixtures/library-server.mjs', import.meta.url)),
  oddServer: fileURLToPath(new URL('../fixtures/odd-server.mjs', import.meta.url)),
  parent: fileURLToPath(new URL('../fixtures/parent.mjs', import.meta.url)),
  rawServer: fileURLToPath(new URL('../fixtures/raw-server.mjs', import.meta.url)),
  screenServer: fileURLToPath(new URL('../fixtures/screen-server.mjs', import.meta.url)),
  scriptedServer: fileURLToPath(new URL('../fixtures/scripted-server.mjs', import.meta.url)),
  sdkServer: fileURLToPath(new URL('../fixtures/sdk-server.mjs', import.meta.url)),
  taskServer: fileURLToPath(new URL('../fixtures/task-server.mjs', import.meta.url)),
}

/** Whether a process is running. False for a zombie, which has ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z')
  } catch {
    return false
  }
}

/** Repeats the check until it passes or the deadline is over. Returns whether it passed. */
export async function eventually(condition: () => boolean, deadlineMs = 10_000): Promise<boolean> {
  const deadline = performance.now() + deadlineMs
  while (!condition() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  return condition()
}

/** Reads the first line that a process writes, as JSON. Works because fixtures write it in one piece. */
export async function firstWords(stream: Readable | null): Promise<Record<string, number>> {
  if (!stream) throw new Error('there is no stream')
  const [chunk] = await once(stream, 'data')
  return JSON.parse(String(chunk))
}

export async function readAll(stream: Readable | null): Promise<string> {
  if (!stream) throw new Error('there is no stream')
  return (await stream.toArray()).join('')
}
