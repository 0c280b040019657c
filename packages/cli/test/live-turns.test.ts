import type { AnyEnvelope } from '@meup/protocol'
import { plainStyle, type TurnInfo } from '@meup/views'
import { describe, expect, test } from 'vitest'
import { Feed } from '../src/join/feed.js'
import { LiveTurns } from '../src/join/live-turns.js'
import { answering } from './support/answering.js'
import { envelope, timeOf, turnOf } from './support/turns.js'

const place = { space: 'demo', epoch: 'epoch' }
const question = (seq: number) => envelope(seq, 'chat', 'ana', { payload: { message: 'why?' } })
const call = (seq: number, question: number, from = 'bot') =>
  envelope(seq, 'mcp.request', from, {
    to: ['tools'],
    correlationId: `e${question}`,
    payload: { method: 'tools/call', params: { name: 'read' } },
  })
const result = (seq: number, request: number) =>
  envelope(seq, 'mcp.response', 'tools', {
    correlationId: `e${request}`,
    payload: { result: { content: [{ type: 'text', text: 'four' }] } },
  })
const answer = (seq: number, question: number, from = 'bot') =>
  envelope(seq, 'chat', from, { correlationId: `e${question}`, payload: { message: 'because' } })

/** A gateway that knows these turns of `bot`, and somebody who looks on. */
async function lookingOn(turns: readonly TurnInfo[] = []) {
  const asked: string[] = []
  const at = await answering(({ pathname, searchParams }) => {
    asked.push(`${pathname}?thread_id=${searchParams.get('thread_id')}`)
    if (searchParams.get('thread_id') === 'demo/bot') return { body: { turns, has_more: false } }
    return { status: 404, body: { code: 'not_found', detail: 'nobody has such a thread' } }
  })
  return { live: new LiveTurns(at, place, plainStyle), asked }
}

const block = (number: number, outcome: string) => [
  '',
  `  ┄ Reasoning (turn ${number})`,
  '  ┄ read  "to know"',
  '    params: {}',
  `    → ${outcome}`,
]

describe('an answer', () => {
  test('is followed by the turn that it ended, with what came back of the tools that one saw', async () => {
    const { live, asked } = await lookingOn([turnOf(6), turnOf(7, { completed_at: timeOf(4) }), turnOf(8)])
    for (const each of [question(1), call(2, 1), result(3, 2)]) expect(live.take(each)).toBeUndefined()
    expect(await live.take(answer(4, 1))).toEqual(block(7, 'success (4 chars)'))
    expect(asked).toEqual(['/spaces/demo/turns?thread_id=demo/bot'])
    expect(live.detailed(turnOf(7)).reasoning?.tool_decisions[0]?.size).toEqual({ count: 4, unit: 'chars' })
    expect(live.detailed(turnOf(6))).toEqual(turnOf(6))
    expect(live.answerer).toBe('bot')
  })

  test('to what was asked before one came is followed by it as well', async () => {
    const { live } = await lookingOn([turnOf(3, { completed_at: timeOf(4) })])
    expect(await live.take(answer(4, 1))).toEqual(block(3, 'success'))
  })

  test('without tools asks the gateway for nothing', async () => {
    const { live, asked } = await lookingOn([turnOf(1, { completed_at: timeOf(2) })])
    live.take(question(1))
    expect(live.take(answer(2, 1))).toBeUndefined()
    expect(asked).toEqual([])
  })

  test('that is a response ends a turn, too', async () => {
    const { live } = await lookingOn([turnOf(1, { completed_at: timeOf(4) })])
    live.take(envelope(1, 'mcp.request', 'ana', { to: ['bot'], payload: { method: 'tools/call' } }))
    live.take(call(2, 1))
    expect(live.take(result(3, 2))).toBeUndefined()
    const response = envelope(4, 'mcp.response', 'bot', { correlationId: 'e1', payload: { result: {} } })
    expect(await live.take(response)).toEqual(block(1, 'pending').with(4, '    → success (4 chars)'))
  })

  test('after the first one of a turn is followed by nothing', async () => {
    const { live } = await lookingOn([turnOf(1, { completed_at: timeOf(3) })])
    for (const each of [question(1), call(2, 1)]) live.take(each)
    expect(await live.take(answer(3, 1))).toEqual(block(1, 'success'))
    expect(await live.take(answer(4, 1))).toEqual([])
  })

  test('in the same millisecond as another is followed by its own turn', async () => {
    const time = timeOf(9)
    const { live } = await lookingOn([turnOf(1, { completed_at: time }), turnOf(2, { completed_at: time })])
    const answers = [8, 9].map((seq) => live.take({ ...answer(seq, seq - 7), ts: time } as AnyEnvelope))
    const headers = (await Promise.all(answers)).map((lines) => lines?.[1])
    expect(headers.sort()).toEqual(['  ┄ Reasoning (turn 1)', '  ┄ Reasoning (turn 2)'])
  })

  test('of somebody of whom the gateway knows no turns is followed by nothing', async () => {
    const { live } = await lookingOn()
    expect(await live.take(answer(2, 1, 'ben'))).toEqual([])
  })

  test('in a log that is another one is read anew', async () => {
    const { live } = await lookingOn([turnOf(1, { completed_at: timeOf(4) })])
    live.take(envelope(9, 'chat', 'ana'))
    live.restart({ ...place, epoch: 'next' })
    for (const each of [question(1), call(2, 1), result(3, 2)]) live.take(each)
    expect(await live.take(answer(4, 1))).toEqual(block(1, 'success (4 chars)'))
  })
})

describe('a turn with tools that is not answered', () => {
  const run = (seq: number, question: number) =>
    envelope(seq, 'reasoning.start', 'bot', { correlationId: `e${question}`, payload: { message: 'hm' } })
  const callIn = (seq: number, run: number) =>
    envelope(seq, 'mcp.request', 'bot', {
      to: ['tools'],
      context: `e${run}`,
      payload: { method: 'tools/call', params: { name: 'read' } },
    })
  const failure = (seq: number, request: number) =>
    envelope(seq, 'mcp.response', 'tools', {
      correlationId: `e${request}`,
      payload: { error: { code: -1, message: 'broken' } },
    })
  const work = [question(1), run(2, 1), callIn(3, 2), failure(4, 3)]
  const failed: TurnInfo = turnOf(7, { completed_at: timeOf(5) })

  test.for([
    ['reasoning.cancel', 'bot', { reason: 'the tool is broken' }],
    ['reasoning.cancel', 'system:gateway', { reason: 'abandoned' }],
    ['reasoning.conclusion', 'bot', { message: 'I gave up', metadata: { cancelled: true } }],
  ] as const)('is followed by its block: %s of %s', async ([kind, from, payload]) => {
    const { live, asked } = await lookingOn([failed])
    for (const each of work) expect(live.take(each)).toBeUndefined()
    expect(await live.take(envelope(5, kind, from, { context: 'e2', payload }))).toEqual(block(7, 'success'))
    expect(asked).toEqual(['/spaces/demo/turns?thread_id=demo/bot'])
    expect(live.answerer).toBeUndefined()
  })

  test('because the asker takes the question back is followed by its block', async () => {
    const { live } = await lookingOn([failed])
    for (const each of work) live.take(each)
    const back = envelope(5, 'chat.cancel', 'ana', { correlationId: 'e1' })
    expect(await live.take(back)).toEqual(block(7, 'success'))
  })

  test('goes unmentioned when it had none, or concludes and may yet be answered', async () => {
    const { live, asked } = await lookingOn([failed])
    for (const each of [question(1), run(2, 1)]) live.take(each)
    expect(live.take(envelope(3, 'reasoning.cancel', 'bot', { context: 'e2' }))).toBeUndefined()
    const other = await lookingOn([failed])
    for (const each of work) other.live.take(each)
    expect(other.live.take(envelope(5, 'reasoning.conclusion', 'bot', { context: 'e2' }))).toBeUndefined()
    expect([...asked, ...other.asked]).toEqual([])
  })

  test('and is answered after all has its block again only if it used more tools', async () => {
    const turns = [failed]
    const { live } = await lookingOn(turns)
    for (const each of work) live.take(each)
    const cancel = (seq: number, run: number) =>
      envelope(seq, 'reasoning.cancel', 'bot', { context: `e${run}` })
    expect(await live.take(cancel(5, 2))).toEqual(block(7, 'success'))
    turns[0] = turnOf(7, { completed_at: timeOf(6) })
    expect(await live.take(answer(6, 1))).toEqual([])

    const again = await lookingOn(turns)
    turns[0] = failed
    for (const each of work) again.live.take(each)
    expect(await again.live.take(cancel(5, 2))).toEqual(block(7, 'success'))
    for (const each of [run(6, 1), callIn(7, 6), result(8, 7)]) again.live.take(each)
    const [decision] = failed.reasoning?.tool_decisions ?? []
    if (failed.reasoning === null || decision === undefined) throw new Error('it has a tool')
    const reasoning = { ...failed.reasoning, tool_decisions: [decision, decision] }
    turns[0] = turnOf(7, { completed_at: timeOf(9), reasoning })
    const lines = await again.live.take(answer(9, 1))
    expect(lines?.filter((line) => line.includes('→'))).toEqual(['    → success', '    → success (4 chars)'])
  })
})

describe('what is shown', () => {
  /** What a view was told, in order. */
  function feeding(follow: (envelope: AnyEnvelope) => Promise<readonly string[]> | undefined) {
    const shown: string[] = []
    const view = {
      show: ({ id }: AnyEnvelope) => void shown.push(id),
      append: (_: AnyEnvelope, lines: readonly string[]) => void shown.push(...lines),
      tell: (line: string) => void shown.push(line),
    }
    return { shown, feed: new Feed(view, follow) }
  }

  test('has each block behind its answer, however long it takes', async () => {
    let arrive = (_: string[]): void => {}
    const slow = new Promise<string[]>((resolve) => {
      arrive = resolve
    })
    const { shown, feed } = feeding(({ seq }) => (seq === 1 ? slow : undefined))
    for (const seq of [1, 2]) feed.take(envelope(seq, 'chat', 'bot'))
    await Promise.resolve()
    expect(shown).toEqual(['e1'])
    arrive(['why'])
    await feed.settled()
    expect(shown).toEqual(['e1', 'why', 'e2'])
  })

  test('goes on where the gateway fails, and says so', async () => {
    const refusal = { code: 'unavailable', detail: 'come back later' }
    const at = await answering(() => ({ status: 503, body: refusal }))
    const live = new LiveTurns(at, place, plainStyle)
    const { shown, feed } = feeding((each) => live.take(each))
    feed.take(answer(1, 9))
    feed.take(question(2))
    await feed.settled()
    const complaint = '… why its tools were called could not be read: come back later (unavailable)'
    expect(shown).toEqual(['e1', complaint, 'e2'])
  })
})
