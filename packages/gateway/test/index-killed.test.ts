import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { range } from './client.js'
import { built, everythingOfTurns, gatewayOn, indexPathOf, logged, randomFields, rowsOf } from './indexed.js'
import { temporaryFile } from './support.js'

const script = fileURLToPath(new URL('./fixtures/index-until-killed.mjs', import.meta.url))

/**
 * Lets a gateway index until it has printed its progress `said` times, and kills it `ms` milliseconds later. Returns the last
 * indexed seq.
 */
async function killedAfter(path: string, said: number, ms: number): Promise<number> {
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  let [lines, seq] = [0, 0]
  for await (const line of createInterface(child.stdout)) {
    seq = Number(line)
    if (++lines === said) setTimeout(() => child.kill('SIGKILL'), ms)
  }
  await ended
  return seq
}

/** Indexes the rest of the log, and returns the rows of the index. */
async function goneOn(path: string, index: string): Promise<unknown> {
  await built(path, index)
  return rowsOf(index)
}

test(
  'an index whose gateway is killed at any moment is, when it goes on, that which is built at once',
  async () => {
    const path = await logged(randomFields(41, 1000))
    for (const round of range(1, times(3, 50))) {
      const seq = await killedAfter(path, 1 + (round % 3), (round * 37) % 100)
      expect(seq).toBeGreaterThan(1000)
      // Every other index is also closed properly, so that it has a saved state.
      if (round % 2 === 0) await goneOn(path, indexPathOf(path))
    }
    expect(await goneOn(path, indexPathOf(path))).toEqual(await goneOn(path, temporaryFile('index.db')))
    const received = await everythingOfTurns(await gatewayOn(path))
    expect(JSON.stringify(received)).toContain('dora')
  },
  times(1, 10) * 120_000,
)
