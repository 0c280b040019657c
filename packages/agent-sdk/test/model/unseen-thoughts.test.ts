import { setTimeout } from 'node:timers/promises'
import type { AgentOptions } from '@meup/agent-sdk'
import { extractReasoning } from '@meup/agent-sdk/extract'
import { Kind } from '@meup/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  completion,
  delta,
  events,
  type ModelReply,
  serveModel,
} from '../../../../test/support/model-server.js'
import { times } from '../../../../test/support/soak.js'
import { said, streamed } from '../extract/support/streams.js'
import callForms from '../fixtures/model-habits/calls-as-text.json' with { type: 'json' }
import thoughts from '../fixtures/model-habits/thoughts.json' with { type: 'json' }
import { deferred } from '../support/deferred.js'
import { stage } from './stage.js'

const raw = 'RAW THOUGHT'
/** Deltas of answers with the raw thought in a separate field; `texts` are answers with the thought in the text itself. */
const fields = ['reasoning_content', 'reasoning'].flatMap((field) => [
  [{ [field]: raw }, { content: 'It is 5.' }],
  [{ content: 'First. ' }, { [field]: raw }, { content: 'It is 5.' }],
])
const texts = [
  ...thoughts.map(({ text }) => text),
  ...callForms
    .flatMap(({ variants }) => variants.map(({ text }) => text))
    .filter((text) => text.includes(raw)),
  `analysis${raw}`,
  `assistantanalysis${raw}`,
  `${raw}\n</think>\n\nIt is 5.`,
  `${raw}\n<channel|>It is 5.`,
  `${raw}[/THINK]It is 5.`,
]

const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

/** Splits a text or bytes at these places, given as fractions of the length. */
function split<Whole extends string | Uint8Array>(whole: Whole, ends: readonly number[]): Whole[] {
  const at = [...ends.map((end) => Math.floor(end * whole.length)), whole.length].sort((a, b) => a - b)
  return at.map((end, index) => whole.slice(at[index - 1] ?? 0, end) as Whole)
}

const asDeltas = (text: string, ends: readonly number[]): object[] =>
  split(text, ends).map((content) => ({ content }))

const endings = fc.constantFrom('stop', 'length', 'error')
const stream = fc
  .tuple(fc.constantFrom(...texts), places, endings)
  .map(([text, ends, ending]) => completion(ending, ...asDeltas(text, ends)))
const fieldStream = fc
  .tuple(fc.constantFrom(...fields), endings)
  .map(([deltas, ending]) => completion(ending, ...deltas))

/** An agent whose model sends this stream, split at these places. Returns everything that others receive. */
async function shown(body: string, ends: readonly number[], options: Partial<AgentOptions> = {}) {
  const reply: ModelReply = { body: split(new TextEncoder().encode(body), ends) }
  const { baseURL } = await serveModel(() => reply)
  await using here = await stage([], { model: 'm', baseURL, limits: { steps: 2 }, ...options })
  await here.ask()
  return JSON.stringify(here.heard.all)
}

test('there are more than 60 streams', () => {
  expect(texts.length + fields.length).toBeGreaterThan(60)
})

test('no raw thought leaves an agent, at any split of the bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: stream }, fieldStream), places, async (body, ends) => {
      expect(await shown(body, ends)).not.toContain(raw)
    }),
    { numRuns: times(30, 2000), seed: 20261128 },
  )
})

test('no raw thought is streamed, at any split of the text', () => {
  const marked = texts.slice(0, -3)
  fc.assert(
    fc.property(fc.constantFrom(...marked), places, (content, ends) => {
      const deltas = [...asDeltas(content, ends), {}].map((delta) => ({ choices: [{ delta }] }))
      const { extraction, events } = streamed(deltas)
      expect(said(events, 'text')).not.toMatch(/RA|AW|TH|UG/)
      expect(extraction.text).not.toContain(raw)
      expect(extraction).toEqual(
        // Compares only `text`: the complete response has no finish reason, so its field `truncated` may differ.
        expect.objectContaining({ text: extractReasoning({ choices: [{ message: { content } }] })?.text }),
      )
    }),
    { numRuns: times(3000, 100_000), seed: 20261128 },
  )
})

test('a server whose template begins the thought is found out by its first answer, which is not shown live', async () => {
  const [unmarked, marked] = [`${raw}\n</think>\n\nIt is `, `<think>${raw}</think>It is `]
  /** Whether the last of these answers is shown while it is written. */
  const isLive = async (...answers: string[]): Promise<boolean> => {
    const shown = deferred<boolean>()
    async function* body(text: string, isLast: boolean): AsyncGenerator<string> {
      yield events(delta({ content: text }))
      if (isLast) await Promise.race([shown.promise, setTimeout(300)])
      yield completion('stop', { content: '5.' })
    }
    const { baseURL } = await serveModel(
      answers.map((text, index) => ({ body: body(text, index === answers.length - 1) })),
    )
    await using here = await stage([], { model: 'm', baseURL })
    for (const _ of answers.slice(1)) await here.ask()
    here.ana.on('envelope', ({ kind }) => kind === Kind.chatDelta && shown.resolve(true))
    expect(await here.ask()).toBe('It is 5.')
    expect(JSON.stringify(here.heard.all)).not.toContain(raw)
    shown.resolve(false)
    return shown.promise
  }
  expect(await isLive(marked)).toBe(false)
  expect(await isLive(marked, marked)).toBe(true)
  expect(await isLive(unmarked, unmarked)).toBe(false)
  expect(await isLive(unmarked, marked, marked)).toBe(false)
})

test.each<[name: string, isLive: boolean, ...deltas: object[]]>([
  ['thoughts in a field of their own', true, { reasoning_content: raw }, { content: 'It is ' }],
  ['thoughts in another field', true, { reasoning: raw }, { content: 'It is ' }],
  ['nothing but text', false, { content: 'It is ' }],
  ['blank thoughts', false, { reasoning_content: '\n' }, { content: 'It is ' }],
  ['text before its thoughts', false, { content: 'It' }, { reasoning_content: raw }, { content: ' is ' }],
])('of a server that gives %s, the first answer is shown live: %s', async (_, isLive, ...deltas) => {
  const shown = deferred<boolean>()
  async function* body(): AsyncGenerator<string> {
    yield events(...deltas.map((each) => delta(each)))
    await Promise.race([shown.promise, ...(isLive ? [] : [setTimeout(300)])])
    yield completion('stop', { content: '5.' })
  }
  const { baseURL } = await serveModel([{ body: body() }])
  await using here = await stage([], { model: 'm', baseURL })
  here.ana.on('envelope', ({ kind }) => kind === Kind.chatDelta && shown.resolve(true))
  expect(await here.ask()).toBe('It is 5.')
  shown.resolve(false)
  expect(await shown.promise).toBe(isLive)
  expect(JSON.stringify(here.heard.all)).not.toContain(raw)
})
