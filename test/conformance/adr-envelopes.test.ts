import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTestSpace } from '@meup/agent-sdk/testing'
import {
  checkPayload,
  checkSubmission,
  type Envelope,
  GATEWAY,
  Kind,
  normalise,
  PROTOCOL,
  parseContext,
  readObject,
} from '@meup/protocol'
import { expect } from 'vitest'
import { repositoryRoot } from '../support/files.js'
import { verifies } from '../verifies.js'

const participants = ['user', 'agent', 'security-agent', 'perf-agent', 'agent-a', 'agent-b']
type Example = Partial<Envelope> & Pick<Envelope, 'kind'>

/** The complete examples of "ADR-T8K: Reasoning transparency", one per line, without their comments. */
const examples = readFileSync(join(repositoryRoot, 'test/conformance/adr-examples.jsonl'), 'utf8')
  .trim()
  .split('\n')

/** Returns the problem that a gateway would find in an example exactly as it is written; `undefined` = none. */
function problemOf(text: string): unknown {
  const bytes = new TextEncoder().encode(text)
  const object = readObject(bytes)
  if (typeof object === 'string') return object
  const normalised = normalise(object, bytes)
  if ('path' in normalised) return normalised
  const { kind, context, payload = {} } = normalised.value as Example
  const legal = context === undefined || parseContext(context) !== undefined
  return checkSubmission(normalised.value) ?? checkPayload(kind, payload) ?? (legal ? undefined : context)
}

/** Sends all examples, each as the participant that it names. Returns the envelopes that each participant received. */
async function relay(examples: readonly Example[]): Promise<Envelope[][]> {
  await using space = await createTestSpace({
    participants: Object.fromEntries(participants.map((name) => [name, ['*']])),
  })
  const joined = participants.map(async (name) => [name, await space.join(name)] as const)
  const seats = new Map(await Promise.all(joined))
  const heard = [...seats.values()].map(async (seat) => {
    const delivered: Envelope[] = []
    for await (const envelope of seat.envelopes()) {
      if (envelope.from === GATEWAY) continue
      if (envelope.id === 'the-end') break
      delivered.push(envelope)
    }
    return delivered
  })
  const over = { id: 'the-end', from: 'user', kind: Kind.chat, payload: { message: 'over' } }
  for (const example of [...examples, over]) await seats.get(example.from ?? 'agent')?.send(example)
  return Promise.all(heard)
}

verifies('M01', 'the examples of the document are accepted, and keep every field they have', async () => {
  expect(examples).toHaveLength(74)
  for (const text of examples) expect(problemOf(text), text).toBeUndefined()

  const sent = examples.map((text): Example => JSON.parse(text))
  const expected = sent.map((example) => ({
    ...example,
    protocol: PROTOCOL,
    id: example.id ?? expect.any(String),
    seq: expect.any(Number),
    ts: expect.any(String),
    from: example.from ?? 'agent',
    payload: example.payload ?? {},
  }))
  for (const delivered of await relay(sent)) expect(delivered).toEqual(expected)
})
