import type { Deed } from '@meup/agent-sdk/ai'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { deferred } from '../support/deferred.js'
import { eventually } from '../support/eventually.js'
import { byKind } from '../support/record-envelopes.js'
import { answering, getPrompt, listStory, type Stage, stage } from './stage.js'

const provider = 'openai.responses'
/** A step that sends a thought and then never ends. */
const stuck: readonly Deed[] = [
  { text: 'So far' },
  { reasoning: 'Let me see. ' },
  { wait: () => new Promise(() => {}) },
]

/** Resolves when the model has received this many requests. */
const requested = ({ model }: Stage, times: number) =>
  eventually(() => expect(model.requests).toHaveLength(times))
/** Resolves when the first thought is in the log. */
const thought = ({ heard }: Stage) => heard.until(byKind(Kind.reasoningThought))

describe('a new message while the model thinks', () => {
  test('steers it: one run, one answer to both, and what was thought is kept', async () => {
    await using here = await stage([stuck, answering('Seven.')], { provider })
    const first = await here.ana.chat('What is 2 + 3?', { to: ['bot'] })
    await thought(here)
    const second = await here.ana.chat('And 2 more?', { to: ['bot'] })
    const answer = await here.heard.until(({ from, kind }) => from === 'bot' && kind === Kind.chat)
    expect(answer).toMatchObject({ payload: { message: 'Seven.' }, correlationId: [first.id, second.id] })
    expect(listStory(here.heard)).toEqual([
      'reasoning.start',
      'reasoning.thought: Let me see.',
      'reasoning.conclusion',
      'chat: Seven.',
    ])
    expect(getPrompt(here.model, 1).slice(1)).toMatchObject([
      { role: 'user', content: [{ text: 'ana: What is 2 + 3?' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'So far' }] },
      { role: 'user', content: [{ text: 'ana: And 2 more?' }] },
    ])
    expect(JSON.stringify(getPrompt(here.model, 1))).not.toContain('Let me see.')
  })

  test('is answered apart where it is about a thought', async () => {
    const slow = deferred()
    const steps = [
      [{ reasoning: 'Let me see. ' }, { call: 'desk__slow', input: {} }],
      answering('Because of the sum.'),
      answering('Five.'),
    ]
    await using here = await stage(steps, { provider })
    here.desk.tool('slow', {}, () => slow.promise.then(() => 'at last'))
    const first = await here.ana.chat('What is 2 + 3?', { to: ['bot'] })
    await here.heard.until((each) => each.kind === Kind.mcpRequest && each.payload.method === 'tools/call')
    const { id: correlationId } = await thought(here)
    const second = await here.ana.chat('> Let me see.\n\nWhy?', { mention: 'bot', correlationId })
    const isAnswer = ({ from, kind }: AnyEnvelope) => from === 'bot' && kind === Kind.chat
    expect(await here.heard.until(isAnswer)).toMatchObject({
      payload: { message: 'Because of the sum.' },
      correlationId: second.id,
    })
    slow.resolve()
    const isFirst = (each: AnyEnvelope) => isAnswer(each) && each.correlationId === first.id
    expect(await here.heard.until(isFirst)).toMatchObject({ payload: { message: 'Five.' } })
  })

  test('waits for the tools that are at work', async () => {
    const slow = deferred()
    await using here = await stage([[{ call: 'desk__slow', input: {} }], answering('done')])
    here.desk.tool('slow', {}, () => slow.promise.then(() => 'at last'))
    await here.ana.chat('Go', { to: ['bot'] })
    await here.heard.until((each) => each.kind === Kind.mcpRequest && each.payload.method === 'tools/call')
    await here.ana.chat('Hurry', { to: ['bot'] })
    slow.resolve()
    await here.heard.until(({ from, kind }) => from === 'bot' && kind === Kind.chat)
    expect(getPrompt(here.model, 1).slice(-2)).toMatchObject([
      { role: 'tool', content: [{ output: { value: 'at last' } }] },
      { role: 'user', content: [{ text: 'ana: Hurry' }] },
    ])
  })

  test('comes from whoever talks in the run, too', async () => {
    await using here = await stage([stuck, answering('Seven.')])
    await here.ana.chat('What is 2 + 3?', { to: ['bot'] })
    const { id: context } = await here.heard.until(byKind(Kind.reasoningStart))
    await requested(here, 1)
    await here.bob.chat('She means 2 + 5', { context })
    await here.heard.until(({ from, kind }) => from === 'bot' && kind === Kind.chat)
    expect(getPrompt(here.model, 1).at(-1)).toMatchObject({ content: [{ text: 'bob: She means 2 + 5' }] })
  })

  test('is read before the next step, where it is a thought in the run, which goes on meanwhile', async () => {
    const slow = deferred()
    const steps = [[{ reasoning: 'Let me see. ' }, { call: 'desk__slow', input: {} }], answering('Seven.')]
    await using here = await stage(steps, { provider })
    here.desk.tool('slow', {}, () => slow.promise.then(() => 'at last'))
    const question = await here.ana.chat('What is 2 + 3?', { to: ['bot'] })
    const { id: context } = await here.heard.until(byKind(Kind.reasoningStart))
    await here.heard.until((each) => each.kind === Kind.mcpRequest && each.payload.method === 'tools/call')
    const { id: to } = await thought(here)
    const added = await here.bob.contribute(context, 'She means 2 + 5', { to })
    expect(added).toMatchObject({ kind: Kind.reasoningThought, from: 'bob', context, correlationId: to })
    slow.resolve()
    const answer = await here.heard.until(({ from, kind }) => from === 'bot' && kind === Kind.chat)
    // The answer correlates with the question, not with the thought.
    expect(answer).toMatchObject({ correlationId: question.id, payload: { message: 'Seven.' } })
    expect(getPrompt(here.model, 1).at(-1)).toMatchObject({
      content: [{ text: 'bob: A thought about your reasoning: She means 2 + 5' }],
    })
  })

  test('joins its question while that one waits for its turn', async () => {
    const freed = deferred()
    const busy: readonly Deed[] = [{ wait: () => freed.promise }, { text: 'Done.' }]
    await using here = await stage([busy, answering('Seven.')], { concurrency: 1 })
    await here.bob.chat('Think hard', { to: ['bot'] })
    await requested(here, 1)
    const asked = await Promise.all(
      ['What is 2 + 3?', 'And 2 more?'].map((text) => here.ana.chat(text, { to: ['bot'] })),
    )
    freed.resolve()
    const answer = await here.heard.until(
      ({ kind, payload }) => kind === Kind.chat && JSON.stringify(payload).includes('Seven'),
    )
    expect(answer.correlationId).toEqual(asked.map(({ id }) => id))
    expect(here.model.requests).toHaveLength(2)
  })

  test('of somebody else is another turn', async () => {
    await using here = await stage([stuck, answering('For Bob.')])
    await here.ana.chat('What is 2 + 3?', { to: ['bot'] })
    await requested(here, 1)
    expect((await here.bob.ask('Me too?', { to: ['bot'] })).text).toBe('For Bob.')
    expect(here.heard.all.filter(byKind(Kind.reasoningStart))).toHaveLength(2)
  })
})

describe('who stops it', () => {
  test('by taking the question back gets no answer; what was thought stays', async () => {
    await using here = await stage([stuck, answering('next')], { provider })
    const { id } = await here.ana.chat('What is 2 + 3?', { to: ['bot'] })
    await thought(here)
    await here.ana.send({
      kind: Kind.chatCancel,
      correlationId: id,
      to: ['bot'],
      payload: { reason: 'never mind' },
    })
    await here.heard.until(byKind(Kind.reasoningCancel))
    expect(await here.ask('Anything else?')).toBe('next')
    expect(listStory(here.heard).slice(0, 4)).toEqual([
      'reasoning.start',
      'reasoning.thought: Let me see.',
      'reasoning.cancel: never mind',
      'reasoning.start',
    ])
    expect(here.model.requests[0]?.abortSignal?.aborted).toBe(true)
    expect(here.troubles).toEqual([])
  })

  test('by a cancel in the run is named to who asked', async () => {
    await using here = await stage([stuck])
    const answer = here.ask()
    const { id: context } = await here.heard.until(byKind(Kind.reasoningStart))
    await requested(here, 1)
    await here.bob.send({ kind: Kind.reasoningCancel, context, payload: { reason: 'too dear' } })
    expect(await answer).toBe('I was stopped: interrupted by bob: too dear')
    expect(here.model.requests[0]?.abortSignal?.aborted).toBe(true)
  })

  test('while tools are at work stops them as well', async () => {
    const begun = deferred<AbortSignal>()
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    await using here = await stage([[{ call: 'desk__slow', input: {} }]])
    here.desk.tool('slow', {}, (_, { signal }) => {
      begun.resolve(signal)
      return new Promise(() => {})
    })
    const answer = here.ask()
    const signal = await begun.promise
    const { id: context } = await here.heard.until(byKind(Kind.reasoningStart))
    await here.bob.send({ kind: Kind.reasoningCancel, context })
    expect(await answer).toBe('I was stopped: interrupted by bob')
    await eventually(() => expect(signal.aborted).toBe(true))
    // An interruption is not an error, so it is not printed.
    expect(printed.mock.calls).toEqual([])
  })

  test('by closing the space ends the agent', async () => {
    await using here = await stage([stuck])
    void here.ana.chat('Go', { to: ['bot'] })
    await requested(here, 1)
    here.bot.close()
    await here.ended
    expect(here.troubles).toEqual([])
  })
})
