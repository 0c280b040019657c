import { type Extraction, extractReasoning } from '@meup/agent-sdk/extract'
import { expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { naive } from './support/naive.js'
import { type Recording, unframed, withRecordings } from './support/recordings.js'
import { asLines, asServerSent, parsed, said, streamed } from './support/streams.js'

/** Runs a check on all recordings in one test. A test per recording would need the folder, which is optional, to be listed. */
const overAll = (check: (recording: Recording) => unknown) =>
  withRecordings(async (recordings) => {
    expect(recordings.length).toBeGreaterThan(0)
    for (const recording of recordings) await check(recording)
  })

const readChunks = async ({ body = new Uint8Array(), isFramed }: Recording): Promise<unknown[]> =>
  isFramed ? unframed(body) : parsed([body])

function expectNaive(extraction: Extraction | null, chunks: readonly unknown[], name: string): void {
  const { signatures, ...rest } = naive(chunks)
  const { reasoning, text, toolCalls, tokens, opaque = [], truncated } = extraction ?? {}
  expect({ reasoning, text, toolCalls, tokens }, name).toEqual(rest)
  expect(reasoning ?? text, name).not.toBe('')
  expect(truncated, name).toBeUndefined()
  for (const signature of signatures)
    expect(JSON.stringify(opaque), name).toContain(JSON.stringify(signature))
}

test(
  'whole responses',
  overAll(({ name, whole }) => {
    if (whole === undefined) return
    expectNaive(extractReasoning(whole), [whole], name)
    expect(streamed([whole]).extraction, name).toEqual(extractReasoning(whole))
  }),
)

test(
  'streams',
  overAll(async (recording) => {
    if (recording.body === undefined) return
    const chunks = await readChunks(recording)
    const { extraction, events } = streamed(chunks)
    expectNaive(extraction, chunks, recording.name)
    expect(said(events, 'reasoning'), recording.name).toBe(extraction.reasoning ?? '')
    expect(said(events, 'text'), recording.name).toBe(extraction.text)
  }),
)

const inPieces = (body: Uint8Array, length: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(body.length / length) }, (_, index) =>
    body.subarray(index * length, (index + 1) * length),
  )

test(
  'streams in single bytes, or by day in a few, as server-sent events and as lines',
  overAll(async (recording) => {
    if (recording.body === undefined) return
    const chunks = await readChunks(recording)
    const { extraction } = streamed(chunks)
    const { body: own = new Uint8Array(), isFramed } = recording
    const isInLines = own.at(0) === '{'.charCodeAt(0)
    const other = new TextEncoder().encode(isInLines ? asServerSent(chunks) : asLines(chunks))
    const bodies = isFramed ? [other] : [own, other]
    for (const body of bodies) {
      const again = await parsed(inPieces(body, times(5, 1)))
      expect(streamed(again).extraction, recording.name).toEqual(extraction)
    }
  }),
  60_000,
)

test(
  'streams that break off anywhere',
  overAll(async (recording) => {
    if (recording.body === undefined) return
    const chunks = await readChunks(recording)
    const { reasoning, text } = streamed(chunks).extraction
    const step = Math.ceil(chunks.length / 100)
    for (let length = 0; length < chunks.length; length += step) {
      const { extraction } = streamed(chunks.slice(0, length))
      expect(reasoning ?? '', recording.name).toContain(extraction.reasoning ?? '')
      expect(text.startsWith(extraction.text), recording.name).toBe(true)
    }
  }),
)
