import { performance } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { readLines } from '@meup/mcp-bridge'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { call, serve } from './support/servers.js'

const MiB = 1024 * 1024

/** Yields `bytes` bytes without a line break, in chunks like those of a pipe. */
function* endless(bytes: number, chunkBytes = 64 * 1024): Generator<Buffer> {
  const chunk = Buffer.alloc(chunkBytes, 'x')
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk
}

describe('a line without an end', () => {
  test.for([
    [times(256, 1024) * MiB, 64 * 1024],
    [12 * MiB, 512],
  ] as const)(
    'of %i bytes, in pieces of %i, takes memory of its limit alone',
    async ([bytes, chunkBytes]) => {
      const dropped: number[] = []
      const limit = {
        maxBytes: 10 * MiB,
        longer: 'drop',
        onDropped: (line: { readonly bytes: number }) => {
          dropped.push(line.bytes)
          return undefined
        },
      } as const
      let [peakBytes, count] = [0, 0]
      const measured = function* () {
        for (const chunk of endless(bytes, chunkBytes)) {
          if (count++ % 1000 === 0) peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers)
          yield chunk
        }
        yield Buffer.from('\nnext\n')
      }
      const before = process.memoryUsage().arrayBuffers
      const lines: string[] = []
      for await (const line of readLines(Readable.from(measured()), limit)) lines.push(line)
      expect(lines).toEqual(['next'])
      expect(dropped).toEqual([Math.ceil(bytes / chunkBytes) * chunkBytes])
      expect(peakBytes - before).toBeLessThan(64 * MiB)
    },
  )

  test('of stderr is given out in pieces of the limit', async () => {
    const limit = { maxBytes: 1000, longer: 'split' } as const
    const pieces: number[] = []
    for await (const line of readLines(
      Readable.from([Buffer.alloc(2500, 'x'), Buffer.from('\n\nok')]),
      limit,
    ))
      pieces.push(line.length)
    expect(pieces).toEqual([1000, 1000, 500, 0, 2])
  })
})

test.for([
  [
    'notifications',
    call('spam', { line: '{"jsonrpc":"2.0","method":"notifications/x","params":{"a":[1,2,3]}}' }),
  ],
  ['noise', call('spam', { line: 'Server is listening!' })],
  ['lines on stderr', call('complain')],
] as const)('a server that floods with %s is not felt by others, and fills no log', async ([, request]) => {
  const [flooding, other] = [await serve('rawServer'), await serve('rawServer')]
  flooding.relay.request(request).catch(() => {})
  await other.relay.request(call('log'))
  const before = process.memoryUsage().rss
  const until = performance.now() + times(1500, 3000)
  let answers = 0
  while (performance.now() < until) {
    expect(await other.relay.request(call('log'))).toHaveProperty('result')
    answers++
    await sleep(10)
  }
  // If the flood blocked the thread, each answer would take a second or more.
  expect(answers).toBeGreaterThan(times(5, 20))
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * MiB)
  expect(flooding.lines.length).toBeLessThan(1500)
})
