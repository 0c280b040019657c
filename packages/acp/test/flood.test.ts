import type { Reasoning } from '@meup/agent-sdk'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { AgentCall } from '../src/agent-call.js'
import { AnswerText } from '../src/answer-text.js'
import { RunLog } from '../src/run-log.js'
import { startCoder } from './support/coder.js'

const maxChars = 250_000
const chunk = (sessionUpdate: string, text: string) => ({ sessionUpdate, content: { type: 'text', text } })

describe('what is kept of an agent is bounded', () => {
  test('the text of an answer', () => {
    const text = new AnswerText(Number.POSITIVE_INFINITY)
    for (let at = 0; at < 1000; at++) text.add('x'.repeat(1000))
    expect(text.isFull).toBe(true)
    expect(text.length).toBe(maxChars)
  })

  test('the text of an answer, to what an envelope holds', () => {
    const text = new AnswerText(10_000)
    for (let at = 0; at < 2000; at++) text.add('"日本"')
    expect(text.isFull).toBe(true)
    expect(Buffer.byteLength(JSON.stringify(text.toString()))).toBeLessThanOrEqual(10_002)
    expect(Buffer.byteLength(JSON.stringify(text.toString()))).toBeGreaterThan(9900)
  })

  test('the text of an answer, anew once it is cleared', () => {
    const text = new AnswerText(10)
    text.add('more than ten bytes')
    text.clear()
    expect([text.isFull, text.add('again')]).toEqual([false, 'again'])
  })

  test.each([
    ['thoughts', (log: RunLog) => log.push('a thought '.repeat(1000))],
    ['texts before calls', (log: RunLog) => log.say('a text '.repeat(1000))],
    ['plans', (log: RunLog) => log.plan([{ content: 'x'.repeat(10_000), status: 'pending' }])],
    ['errors', (log: RunLog) => log.report('an error')],
  ])('%s that wait for the log', (_, add) => {
    // `thought` never resolves, so all entries stay in the queue of the `RunLog`.
    const run = { thought: () => new Promise(() => {}), signal: new AbortController().signal }
    const log = new RunLog({ run: run as unknown as Reasoning, log: () => {}, onExcess: () => {} })
    for (let at = 0; at < 2000; at++) add(log)
    expect(log.waitingChars).toBeLessThanOrEqual(maxChars)
  })

  test('what a call has put out', () => {
    const call = new AgentCall('c1', 'bash')
    const meta = { terminal_output_delta: { data: 'x'.repeat(100_000) } }
    for (let at = 0; at < 10; at++) call.update({ id: 'c1', meta })
    const content = [{ type: 'text', text: 'x'.repeat(2_000_000) }] as const
    for (let at = 0; at < 3; at++) call.update({ id: 'c1', meta: {}, content })
    expect(call.chars).toBeLessThan(1_500_000)
    call.release()
    expect(call.chars).toBeLessThan(10)
  })
})

describe('an agent that writes without end is stopped, and its answer says so', () => {
  test('in the text of its answer, of which the beginning is the answer', async () => {
    const { ask, notes } = await startCoder()
    const answer = await ask(['pour', chunk('agent_message_chunk', 'abcdefghij'), 30_000])
    expect(answer).toMatch(/^(abcdefghij){25000}\n\n\(.*250000 characters.*\)$/)
    expect(notes()).toContainEqual({ poured: 'until it was cancelled' })
    expect(await ask(['text', 'Here again.'])).toBe('Here again.')
  })

  test('in thoughts', async () => {
    const { ask, notes } = await startCoder()
    const thought = chunk('agent_thought_chunk', 'a thought '.repeat(20))
    expect(await ask(['pour', thought, 30_000])).toContain('was stopped')
    expect(notes()).toContainEqual({ poured: 'until it was cancelled' })
  })

  test('in the arguments of its calls', async () => {
    const { ask } = await startCoder({ unasked: 'report' })
    expect(await ask(['calls', 20, 1_000_000], ['work', 20_000])).toContain('16777216 characters')
  })

  test('in more calls than can be followed', async () => {
    const { ask, log } = await startCoder({ unasked: 'report' })
    expect(await ask(['calls', 300, 1], ['work', 20_000])).toContain('256 calls')
    expect(log.filter(({ kind }) => kind === Kind.mcpRequest)).toEqual([])
  })
})

test('what an agent writes before a call, or thinks at once, is logged whole', async () => {
  const { ask, log } = await startCoder({ unasked: 'report' })
  const words = (letter: string) => Array.from({ length: 5000 }, (_, at) => `${letter}${at}`).join(' ')
  const call = { toolCallId: 'c1', title: 'ls', kind: 'execute', status: 'completed' }
  await ask(['thought', words('t')], ['text', words('a')], ['call', call], ['text', 'Done.'])
  const thoughts = log.filter(({ kind, payload }) => kind === Kind.reasoningThought && !Object(payload).phase)
  expect(thoughts.map(({ payload }) => Object(payload).message).join(' ')).toBe(`${words('t')} ${words('a')}`)
})
