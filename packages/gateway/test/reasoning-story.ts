import type { JobReasoning, ReasoningUpdate } from '@meup/folds'
import { testToken } from '@meup/gateway/testing'
import { onTestFinished } from 'vitest'
import type { Sent } from './client.js'
import { bearer, withEpoch } from './http-client.js'
import { begin, call, chat, conclude, result, thought } from './turns.js'

const hide: Sent = { kind: 'observe.visibility', payload: { context: 'dark', reasoningVisible: false } }

/**
 * Every way in which a batch of tool calls can end: results, one result for two calls, parallel calls, a cancel; in turns (work
 * on a question) and jobs (work that no one asked for), public, private, and hidden.
 */
export const story: [who: string, ...what: Sent[]][] = [
  ['ana', chat('ask', 'go'), chat('ask2', 'you too', { to: ['cleo'] })],
  ['ben', begin('run', 'ask', 'begin'), thought('run', 'look first'), call('one', 'run', 'look', 'to see')],
  [
    'cleo',
    begin('crun', 'ask2', 'for ana alone', { to: ['ana'] }),
    call('c-one', 'crun', 'look', 'to see as well'),
  ],
  ['tool', result(['one', 'c-one'], 'seen', { to: ['ben', 'cleo'] })],
  ['ben', ...[1, 2, 3].map((n) => call(`p${n}`, 'run', `act${n}`, `part ${n}`, { parallelGroup: 7 }))],
  ['tool', result('p2'), result('p1')],
  ['ben', thought('run', 'waiting')],
  ['tool', result('p3')],
  [
    'cleo',
    begin('job', undefined, 'on my own'),
    call('j-one', 'job', 'sweep', 'it is late'),
    call('j-two', 'job', 'mop', ''),
  ],
  ['tool', result('j-one', 'swept', { to: ['cleo'] })],
  ['cleo', { kind: 'reasoning.cancel', context: 'job', payload: { reason: 'enough' } }],
  ['ben', conclude('run'), chat('is', 'done', { correlationId: 'ask' })],
  ['ana', chat('ask3', 'and in the dark?')],
  [
    'ben',
    begin('dark', 'ask3', 'begin'),
    hide,
    thought('dark', 'kept back'),
    call('d-one', 'dark', 'look', 'why'),
  ],
  ['tool', result('d-one')],
  ['ana', chat('end', 'that is all')],
]

/** The events of a stream as sent, up to the envelope with the id `until`. */
export async function rawEvents(
  url: string,
  reader: string,
  { query = '', lastId, until = 'end' }: { query?: string; lastId?: string; until?: string },
): Promise<string[]> {
  const headers = { ...bearer(reader), ...(lastId !== undefined && { 'last-event-id': lastId }) }
  const whole = await withEpoch(url, testToken(reader), query)
  const response = await fetch(`${url}/spaces/test/events?${whole}`, { headers })
  if (response.status !== 200 || response.body === null) throw new Error(await response.text())
  const stream = response.body.pipeThrough(new TextDecoderStream()).getReader()
  onTestFinished(() => stream.cancel())
  for (let text = ''; ; ) {
    const { done, value } = await stream.read()
    if (done) throw new Error(`the stream ended: ${text.slice(-500)}`)
    text += value
    const blocks = text.split('\n\n').slice(0, -1)
    if (!blocks.some((block) => block.includes(`"id":"${until}"`))) continue
    await stream.cancel()
    return blocks.filter((block) => block.startsWith('event: ')).map((block) => `${block}\n\n`)
  }
}

/** The event id with which a browser reconnects after these events. */
export const lastIdOf = (blocks: readonly string[]): string =>
  blocks.map((block) => /^id: (.*)$/m.exec(block)?.[1]).findLast((id) => id !== undefined) ?? '0'

export const isReasoning = (block: string): boolean =>
  /^event: (reasoning_update|job_reasoning)\n/.test(block)

export const dataOf = (block: string) =>
  JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as Record<string, unknown>

/** The events of a stream about tool calls. */
export const reasoningIn = (blocks: readonly string[]): (ReasoningUpdate | JobReasoning)[] =>
  blocks.filter(isReasoning).map(dataOf) as unknown as (ReasoningUpdate | JobReasoning)[]

/** A reader's events about tool calls, from the beginning to the chat with the id `end`. */
export const received = async (url: string, reader: string): Promise<(ReasoningUpdate | JobReasoning)[]> =>
  reasoningIn(await rawEvents(url, reader, { query: 'after=0' }))
