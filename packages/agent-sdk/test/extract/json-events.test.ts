import { describe, expect, test } from 'vitest'
import { asLines, asServerSent, parsed } from './support/streams.js'

const chunks = [{ a: 'ünï 🛑 \u2028\n' }, { b: [1, null] }, 'text', { data: 'data: x' }]
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

test.each([
  ['server-sent events', asServerSent(chunks)],
  ['lines', asLines(chunks)],
  ['lines, the last without an end', asLines(chunks).trimEnd()],
  [
    'an event in several lines',
    chunks.map((chunk) => `data:${JSON.stringify(chunk, null, 1).replaceAll('\n', '\ndata:')}\n\n`).join(''),
  ],
  [
    'events without a blank line between them',
    chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n`).join(''),
  ],
])('%s, split in two at every byte', async (_, text) => {
  const bytes = encode(text)
  for (let at = 0; at <= bytes.length; at++) {
    expect(await parsed([bytes.subarray(0, at), bytes.subarray(at)]), `split at ${at}`).toEqual(chunks)
  }
})

describe('what is no event is passed over', () => {
  test.each([
    ['nothing', ''],
    ['comments and fields', ': hi\n\nevent: x\nid: 1\nretry: 5\n\n'],
    ['the marker of the end', 'data: [DONE]\n\n'],
    ['half an event', 'data: {"a":'],
    ['half a line', '{"a":'],
    ['no JSON', 'Bad Gateway\n'],
  ])('%s', async (_, text) => {
    expect(await parsed([encode(text)])).toEqual([])
  })

  test('and what follows is read', async () => {
    expect(await parsed([encode('data: {"a":\n\ndata: {"b":1}\n\n{"c":\n{"d":2}\n')])).toEqual([
      { b: 1 },
      { d: 2 },
    ])
  })
})
