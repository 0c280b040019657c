import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentOptions } from '@meup/agent-sdk'
import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import {
  type ChatBody,
  calling,
  completion,
  delta,
  events,
  failing,
  type ModelReply,
  saying,
  serveModel,
} from '../../../../test/support/model-server.js'
import argumentForms from '../fixtures/model-habits/arguments.json' with { type: 'json' }
import callForms from '../fixtures/model-habits/calls-as-text.json' with { type: 'json' }
import marked from '../fixtures/model-habits/thoughts.json' with { type: 'json' }
import {
  type CallHabit,
  type Change,
  describeRows,
  type ErrorHabit,
  findThoughtOutcome,
  isAskedAgain,
  matrix,
  type RefusalHabit,
  reason,
  type ThoughtHabit,
  type ThoughtOutcome,
  type Wire,
} from './matrix.js'
import { getToolCalls, listStory, stage } from './stage.js'
import { begin, block, event, message } from './wire.js'

const answer = 'It is 5.'
const thought = 'RAW THOUGHT.'
const args = { a: 2, b: 3 }

/** The content of a response. `field`: the name of the field with the thought or the refusal. */
interface Said {
  readonly field?: string
  readonly thought?: string
  readonly refusal?: string
  readonly text?: string
  readonly call?: typeof args
  /** The finish reason of the response. */
  readonly ends?: string
}

interface Protocol {
  connect(baseURL: string): Partial<AgentOptions>
  /** A stream that ends after its first words. */
  readonly begin: string
  write(said: Said): string
}

const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
const response = { id: 'r', created_at: 1, model: 'gpt-5', service_tier: null, output: [] }
const usage = { input_tokens: 5, output_tokens: 7 }
const part = { item_id: 'msg_1', output_index: 1, content_index: 0 }
const summaryPart = { item_id: 'rs_1', output_index: 0, summary_index: 0 }

/** Applies `make` to a value unless it is `undefined`. */
const made = <Value, Made>(value: Value | undefined, make: (value: Value) => readonly Made[]) =>
  value === undefined ? [] : make(value)

const reasoningItem = { type: 'reasoning', id: 'rs_1', summary: [] }
const callItem = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'desk__add', status: 'completed' }
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'desk__add', input: {} }
const added = (output_index: number, item: object) =>
  event({ type: 'response.output_item.added', output_index, item })
const done = (output_index: number, item: object) =>
  event({ type: 'response.output_item.done', output_index, item })
const candidate = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, finishReason }],
})

const protocols: Readonly<Record<Wire, Protocol>> = {
  chat: {
    connect: (baseURL) => ({ model: 'm', baseURL }),
    begin: events(delta({ content: 'It is' })),
    write: ({ field = 'reasoning_content', thought, refusal, text, call, ends = 'stop' }) =>
      completion(
        ends,
        ...made(thought, (it) => [{ [field]: it }]),
        ...made(refusal, (it) => [{ [field]: it }]),
        ...made(text, (content) => [{ content }]),
        ...made(call, (it) => {
          const called = { name: 'desk__add', arguments: JSON.stringify(it) }
          return [{ tool_calls: [{ index: 0, id: 'c', type: 'function', function: called }] }]
        }),
      ),
  },
  responses: {
    connect: (baseURL) => ({ model: createOpenAI({ baseURL, apiKey: 'k' }).responses('gpt-5') }),
    begin: [
      event({ type: 'response.created', response }),
      added(1, item),
      event({ type: 'response.output_text.delta', ...part, delta: 'It is', logprobs: [] }),
    ].join(''),
    write: ({ thought, refusal, text, call }) =>
      [
        event({ type: 'response.created', response }),
        ...made(thought, (delta) => [
          added(0, reasoningItem),
          event({ type: 'response.reasoning_summary_part.added', ...summaryPart }),
          event({ type: 'response.reasoning_summary_text.delta', ...summaryPart, delta }),
          event({ type: 'response.reasoning_summary_part.done', ...summaryPart }),
          done(0, reasoningItem),
        ]),
        ...made(text, (delta) => [
          added(1, item),
          event({ type: 'response.output_text.delta', ...part, delta, logprobs: [] }),
          done(1, item),
        ]),
        ...made(refusal, (delta) => [
          added(1, item),
          event({ type: 'response.refusal.delta', ...part, delta }),
          done(1, item),
        ]),
        ...made(call, (it) => {
          const called = { ...callItem, arguments: JSON.stringify(it) }
          return [added(2, called), done(2, called)]
        }),
        event({ type: 'response.completed', response: { ...response, usage, incomplete_details: null } }),
      ].join(''),
  },
  anthropic: {
    connect: (baseURL) => ({ model: createAnthropic({ baseURL, apiKey: 'k' })('claude-sonnet-4-5') }),
    begin: begin + block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'It is' }),
    write: ({ thought, text, call, ends = call === undefined ? 'end_turn' : 'tool_use' }) =>
      message(
        ends,
        ...made(thought, (thinking) => {
          const signature = { type: 'signature_delta', signature: 'EqoB+signed/==' }
          return [
            block(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking }, signature),
          ]
        }),
        ...made(text, (it) => [block(1, { type: 'text', text: '' }, { type: 'text_delta', text: it })]),
        ...made(call, (it) => [
          block(2, toolUse, { type: 'input_json_delta', partial_json: JSON.stringify(it) }),
        ]),
      ),
  },
  gemini: {
    connect: (baseURL) => ({ model: createGoogleGenerativeAI({ baseURL, apiKey: 'k' })('gemini-2.5-pro') }),
    begin: events(candidate([{ text: 'It is' }])),
    write: ({ thought, text, call, ends = 'STOP' }) => {
      const parts = [
        ...made(thought, (it) => [{ text: it, thought: true }]),
        ...made(text, (it) => [{ text: it }]),
        ...made(call, (it) => [{ functionCall: { name: 'desk__add', args: it } }]),
      ]
      const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 }
      return events({ ...candidate(parts, ends), usageMetadata })
    },
  },
}

type Script = Parameters<typeof serveModel>[0]

/** Asks once. Returns the answer, the requests, and the envelopes of the turn. */
async function ask(wire: Wire, script: Script, options: Partial<AgentOptions> = {}) {
  const { baseURL, requests } = await serveModel(script)
  await using here = await stage([], { ...protocols[wire].connect(baseURL), ...options })
  const text = await here.ask()
  const { all } = here.heard
  const end = all.find((each) => each.kind === Kind.reasoningConclusion)
  const { metadata = {} } = end?.payload ?? {}
  return {
    text,
    requests,
    metadata,
    calls: getToolCalls(here),
    story: listStory(here.heard),
    all: JSON.stringify(all),
  }
}

async function tryCall(wire: Wire, habit: CallHabit): Promise<void> {
  const { write } = protocols[wire]
  const plain = { body: write({ text: answer }) }
  if ('args' in habit) {
    const form = argumentForms.find(({ name }) => name === habit.args)
    const deltas = form?.deltas.map((tool_calls) => ({ tool_calls })) ?? []
    const { text, calls } = await ask(wire, [{ body: completion('tool_calls', ...deltas) }, plain])
    expect(text).toBe(answer)
    expect(calls).toEqual(form?.calls.map((each) => ({ name: 'add', arguments: each })))
    return
  }
  const asText = (form: string): string => callForms.find(({ of }) => of === form)?.variants[0]?.text ?? ''
  const reply: ModelReply =
    'name' in habit
      ? calling(habit.name, args)
      : { body: write('form' in habit ? { text: asText(habit.form) } : { call: args }) }
  const { text, calls } = await ask(wire, [reply, plain])
  expect(text).toBe(answer)
  expect(calls).toEqual([{ name: 'add', arguments: args }])
}

/** Thoughts as parts of the content, in two forms. */
const parts = {
  thinking: { type: 'thinking', thinking: [{ type: 'text', text: thought }] },
  summary: { type: 'reasoning', summary: [{ type: 'summary_text', text: thought }] },
}

/** How visible the thoughts were, according to the field `reasoning` in the metadata of the run, by their treatment. */
const noted: Readonly<Record<ThoughtOutcome, string | undefined>> = {
  shown: 'summary',
  hidden: 'full',
  counted: 'omitted',
  none: undefined,
}

async function tryThoughts(wire: Wire, habit: ThoughtHabit, outcome: ThoughtOutcome): Promise<void> {
  const { write } = protocols[wire]
  const bodyOf = (): string => {
    if (habit === 'none') return write({ text: answer })
    if (habit === 'counted') {
      const details = { completion_tokens_details: { reasoning_tokens: 5 } }
      const counted = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12, ...details }
      return events(
        delta({ content: answer }, 'stop'),
        { ...delta({}), choices: [], usage: counted },
        '[DONE]',
      )
    }
    if ('field' in habit) return write({ field: habit.field, thought, text: answer })
    if ('part' in habit)
      return completion('stop', { content: [parts[habit.part], { type: 'text', text: answer }] })
    if ('closer' in habit) return write({ text: `${thought}${habit.closer}${answer}` })
    return write({ text: marked.find(({ name }) => name === `${habit.mark} at the beginning`)?.text ?? '' })
  }
  const { text, story, all, metadata } = await ask(wire, [{ body: bodyOf() }])
  expect(text).toBe(answer)
  expect(story.filter((line) => line.startsWith('reasoning.thought'))).toEqual(
    outcome === 'shown' ? [`reasoning.thought: ${thought}`] : [],
  )
  if (outcome !== 'shown') expect(all).not.toContain('RAW THOUGHT')
  expect(metadata.reasoning).toBe(noted[outcome])
}

/** Predicates for requests that were changed so that the server accepts them, by change. */
const isTaken: Readonly<Record<Change, (body: ChatBody) => boolean>> = {
  usage: ({ stream_options }) => stream_options === undefined,
  thoughts: ({ messages }) =>
    messages.every((each) => !('tool_calls' in each) || 'reasoning_content' in each),
  system: ({ messages }) => messages.every(({ role }) => role !== 'system'),
  tools: ({ tools }) => tools === undefined,
}

async function tryRefusal(wire: Wire, habit: RefusalHabit): Promise<void> {
  const { write } = protocols[wire]
  if ('field' in habit) {
    const sentence = 'I cannot help with that.'
    const { text } = await ask(wire, [{ body: write({ field: habit.field, refusal: sentence }) }])
    expect(text).toBe(sentence)
    return
  }
  if ('ends' in habit) {
    const { text } = await ask(wire, [{ body: write({ text: 'I', ends: habit.ends }) }])
    expect(text).toMatch(/^I could not answer: .* withheld its answer/)
    expect(text).toContain(habit.ends)
    return
  }
  const { status, says, change } = habit
  const script = (body: ChatBody): ModelReply => {
    if (change === undefined || !isTaken[change](body)) return failing(status, says)
    const isCalled = change === 'tools' || body.messages.at(-1)?.role === 'tool'
    return isCalled ? saying(answer) : calling('desk__add', args, { reasoning_content: thought })
  }
  const { text, requests } = await ask(wire, script, { settings: { maxRetries: 0 } })
  if (change === undefined) {
    expect(text).toContain(`answered ${status}: ${says}`)
    expect(requests).toHaveLength(1)
  } else {
    expect(text).toBe(answer)
    expect(requests.filter(({ body }) => !isTaken[change](body))).toHaveLength(1)
  }
}

async function tryError(wire: Wire, habit: ErrorHabit): Promise<void> {
  const { begin, write } = protocols[wire]
  const replyOf = (): ModelReply => {
    if ('ends' in habit) return { body: write({ text: 'It is', ends: habit.ends }) }
    if ('event' in habit) return { body: begin + events(habit.event) }
    const headers = { 'content-type': 'application/json', 'retry-after': '0' }
    return { status: habit.status, headers, body: JSON.stringify(habit.body) }
  }
  const { text } = await ask(wire, [replyOf()], { settings: { maxRetries: 0 } })
  expect(text).toMatch(/^I could not answer: /)
  expect(text).toContain('ends' in habit ? habit.ends : reason)
  const again = await ask(wire, [replyOf(), { body: write({ text: answer }) }])
  expect(again.text === answer).toBe(isAskedAgain(habit))
}

test.for(matrix)('$of: what comes of what it sends', async (row) => {
  const { wire = 'chat', calls, thoughts, refusals, errors } = row
  if (calls) await tryCall(wire, calls)
  if (thoughts) await tryThoughts(wire, thoughts, findThoughtOutcome(thoughts, row))
  if (refusals) await tryRefusal(wire, refusals)
  if (errors) await tryError(wire, errors)
})

test('each of more than thirty rows says what happens, and no two are of the same', () => {
  const rows = describeRows()
  expect(new Set(rows.map(([of]) => of)).size).toBe(rows.length)
  expect(rows.length).toBeGreaterThanOrEqual(30)
  expect(rows.flat().filter((cell) => /undefined|^$/.test(cell))).toEqual([])
})
