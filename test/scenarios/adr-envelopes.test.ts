import { existsSync, readFileSync } from 'node:fs'
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
import { expect, test } from 'vitest'
import { withReason } from '../support/documented.js'
import { repositoryRoot } from '../support/files.js'
import { needing, verifies } from '../verifies.js'

const document = '../shared/seeds/meup-adr-t8k-reasoning-transparency.md'
const participants = ['user', 'agent', 'security-agent', 'perf-agent', 'agent-a', 'agent-b']
type Example = Partial<Envelope> & Pick<Envelope, 'kind'>

const withDocument = needing(`the document whose examples these are, at ${document}`, () => {
  const path = join(repositoryRoot, document)
  return existsSync(path) && readFileSync(path, 'utf8')
})

const token = /"(?:\\.|[^"\\])*"|\/\/.*|[{}]/g

/** The objects of the document's `json` blocks as written, comments left out; several may stand in one block. */
function objectsOf(markdown: string): string[][] {
  return [...markdown.matchAll(/^```json\n(.*?)^```/gms)].map(([, block = '']) => {
    const text = block.replace(token, (match) => (match.startsWith('//') ? '' : match))
    const objects: string[] = []
    let [depth, start] = [0, 0]
    for (const { 0: match, index } of text.matchAll(token)) {
      if (match === '{' && depth++ === 0) start = index
      if (match === '}' && --depth === 0) objects.push(text.slice(start, index + 1))
    }
    return objects
  })
}

const isComplete = (object: string): boolean => !object.includes('{...}')

test('objects are found as they stand in a block', () => {
  const fence = '```'
  const block = '// {"a"}\n{"a": {"b": "}// \\" {"}} // c\n{"d": [\n  "e" // f\n]}\n'
  expect(objectsOf(`x\n${fence}json\n${block}${fence}\n${fence}yaml\n{}\n${fence}\n`)).toEqual([
    ['{"a": {"b": "}// \\" {"}}', '{"d": [\n  "e" \n]}'],
  ])
})

/** What a gateway would find wrong with an example as it stands: nothing is added to it. */
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

/** Sends all of them, each from the participant it names; gives back what each participant was delivered. */
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

const everyExample = withDocument(async (markdown) => {
  const blocks = objectsOf(markdown)
  const texts = blocks.flat().filter(isComplete)
  expect(blocks).toHaveLength(12)
  expect(blocks.flat()).toHaveLength(76)
  expect(texts).toHaveLength(74)
  for (const text of texts) expect(problemOf(text), text).toBeUndefined()

  const examples = texts.map((text): Example => JSON.parse(text))
  const expected = examples.map((example) => ({
    ...withReason(example),
    protocol: PROTOCOL,
    id: example.id ?? expect.any(String),
    seq: expect.any(Number),
    ts: expect.any(String),
    from: example.from ?? 'agent',
    payload: example.payload ?? {},
  }))
  for (const delivered of await relay(examples)) expect(delivered).toEqual(expected)
})

verifies('M01', 'the examples of the document are accepted, and keep every field they have', everyExample)
