import { plainStyle, type TurnInfo } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { ConversationFeed } from '../src/join/join.js'
import { LiveTurns } from '../src/join/live-turns.js'
import type { Following } from '../src/render/agent-lines.js'
import { answering } from './support/answering.js'
import { createTurn, envelope, parseTimestamp } from './support/turns.js'

const call = (seq: number, question: number, from = 'bot') =>
  envelope(seq, 'mcp.request', from, {
    to: ['tools'],
    correlationId: `e${question}`,
    payload: { method: 'tools/call', params: { name: 'read' } },
  })
const answer = (seq: number, question: number, from = 'bot') =>
  envelope(seq, 'chat', from, { correlationId: `e${question}`, payload: { message: 'because' } })

interface Known {
  readonly turns?: readonly TurnInfo[]
  /** Agents with open runs on entering. */
  readonly atWork?: readonly string[]
  /** Further responses of the gateway, by path. */
  readonly answers?: Readonly<Record<string, unknown>>
}

/** A gateway with these turns of `bot`, and a `LiveTurns` that reads them. */
async function lookingOn(
  { turns = [], atWork = [], answers = {} }: Known = {},
  previews = false,
  isWhole = true,
) {
  const asked: string[] = []
  const at = await answering(({ pathname, searchParams }) => {
    const path = pathname.replace('/spaces/demo/', '')
    asked.push([path, searchParams.get('thread_id') ?? []].flat().join(' '))
    if (path in answers) return { body: answers[path] }
    if (searchParams.get('thread_id') === 'demo/bot') return { body: { turns, has_more: false } }
    return { status: 404, body: { code: 'not_found', detail: 'nobody has such a thread' } }
  })
  const following = new LiveTurns({ at, style: plainStyle, atWork, previews, isWhole: () => isWhole })
  /** Lines that are printed below an envelope: the preview of a tool result, and the reasoning of a turn that has ended. */
  const onEnvelope = (each: AnyEnvelope): Promise<string[]> | undefined =>
    following.onEnvelope(each)?.then(({ preview, block }) => [...preview, ...block])
  const live = {
    onEnvelope,
    get answerer() {
      return following.answerer
    },
  }
  return { live, asked }
}

const block = (number: number, outcome = 'success') => [
  '',
  `  ┄ Reasoning (turn ${number})`,
  '  ┄ read  "to know"',
  '    params: {}',
  `    → ${outcome}`,
]

describe('an answer', () => {
  test('is followed by the turn that it ended, whether or not one saw it begin', async () => {
    const sized = createTurn(7, { completed_at: parseTimestamp(4) })
    const [decision] = sized.reasoning?.tool_decisions ?? []
    Object.assign(decision ?? {}, { size: { count: 4, unit: 'chars' } })
    const { live, asked } = await lookingOn({ turns: [createTurn(6), sized, createTurn(8)] })
    expect(live.onEnvelope(call(2, 1))).toBeUndefined()
    expect(await live.onEnvelope(answer(4, 1))).toEqual(block(7, 'success (4 chars)'))
    expect(asked).toEqual(['turns demo/bot'])
    expect(live.answerer).toBe('bot')
  })

  test('whose calls were shown as they were made is followed by one line', async () => {
    const turns = [createTurn(7, { completed_at: parseTimestamp(4) })]
    const { live } = await lookingOn({ turns }, false, false)
    expect(await live.onEnvelope(answer(4, 1))).toEqual([
      '  ┄ Reasoning (turn 7): 1 tool · /reasoning 7 @bot',
    ])
  })

  test('without tools is followed by nothing', async () => {
    const { live } = await lookingOn({
      turns: [createTurn(1, { completed_at: parseTimestamp(2), reasoning: null })],
    })
    expect(await live.onEnvelope(answer(2, 1))).toEqual([])
  })

  test('that is a response ends a turn, too, of those who call tools themselves', async () => {
    const response = envelope(4, 'mcp.response', 'bot', { correlationId: 'e1', payload: { result: {} } })
    const turns = [createTurn(1, { completed_at: parseTimestamp(4) })]
    const seen = await lookingOn({ turns })
    seen.live.onEnvelope(call(2, 1))
    expect(await seen.live.onEnvelope(response)).toEqual(block(1))
    const known = await lookingOn({ turns, atWork: ['bot'] })
    expect(await known.live.onEnvelope(response)).toEqual(block(1))
    const tool = await lookingOn({ turns })
    expect([tool.live.onEnvelope(response), tool.asked]).toEqual([undefined, []])
  })

  test('after the first one of a turn is followed by nothing', async () => {
    const { live } = await lookingOn({ turns: [createTurn(1, { completed_at: parseTimestamp(3) })] })
    expect(await live.onEnvelope(answer(3, 1))).toEqual(block(1))
    expect(await live.onEnvelope(answer(4, 1))).toEqual([])
  })

  test('in the same millisecond as another is followed by its own turn', async () => {
    const time = parseTimestamp(9)
    const { live } = await lookingOn({
      turns: [createTurn(1, { completed_at: time }), createTurn(2, { completed_at: time })],
    })
    const answers = [8, 9].map((seq) => live.onEnvelope({ ...answer(seq, seq - 7), ts: time } as AnyEnvelope))
    const headers = (await Promise.all(answers)).map((lines) => lines?.[1])
    expect(headers.sort()).toEqual(['  ┄ Reasoning (turn 1)', '  ┄ Reasoning (turn 2)'])
  })

  test('in a flood is followed by nothing while many others are waited for, and read after it', async () => {
    const { live, asked } = await lookingOn({ turns: [createTurn(1, { completed_at: parseTimestamp(99) })] })
    const all = Array.from({ length: 30 }, (_, i) => live.onEnvelope(answer(i + 2, 1)))
    expect(all.filter((each) => each === undefined)).toHaveLength(10)
    await Promise.all(all)
    expect(asked).toHaveLength(20)
    expect(await live.onEnvelope(answer(99, 1))).toEqual(block(1))
  })

  test('of somebody of whom the gateway knows no turns is followed by nothing', async () => {
    const { live } = await lookingOn()
    expect(await live.onEnvelope(answer(2, 1, 'ben'))).toEqual([])
  })
})

describe('a turn with tools that is not answered', () => {
  const turns = [createTurn(7, { completed_at: parseTimestamp(5) })]
  const back = envelope(5, 'chat.cancel', 'ana', { correlationId: 'e1' })
  const notification = envelope(5, 'mcp.request', 'ana', {
    to: ['bot'],
    payload: { method: 'notifications/cancelled', params: { requestId: 'e1' } },
  })
  const started = { envelopes: [envelope(2, 'reasoning.start', 'bot'), envelope(4, 'chat', 'ana')] }

  test.for<[string, AnyEnvelope, Known['answers']?]>([
    ['its cancel', envelope(5, 'reasoning.cancel', 'bot', { context: 'e2', payload: { reason: 'broken' } })],
    [
      'that of the gateway',
      envelope(5, 'reasoning.cancel', 'system:gateway', { context: 'e2', payload: { reason: 'abandoned' } }),
      { 'contexts/e2': { context: 'e2', owner: 'bot' } },
    ],
    [
      'a conclusion that says so',
      envelope(5, 'reasoning.conclusion', 'bot', {
        context: 'e2',
        payload: { metadata: { cancelled: true } },
      }),
    ],
    ['the asker, who takes the question back', back, { envelopes: started }],
    ['the asker, who takes the request back', notification],
  ])('is followed by its block, though one did not see it begin: %s', async ([, ending, answers = {}]) => {
    const { live, asked } = await lookingOn({ turns, answers })
    expect(await live.onEnvelope(ending)).toEqual(block(7))
    expect(asked).toEqual([...Object.keys(answers), 'turns demo/bot'])
    expect(live.answerer).toBeUndefined()
  })

  test('goes unmentioned where its run concludes: it may yet be answered', async () => {
    const { live, asked } = await lookingOn({ turns })
    expect(live.onEnvelope(envelope(5, 'reasoning.conclusion', 'bot', { context: 'e2' }))).toBeUndefined()
    expect(asked).toEqual([])
  })

  test('goes unmentioned where one may not read whose run it was', async () => {
    const { live } = await lookingOn({ turns })
    const abandoned = { context: 'e2', payload: { reason: 'abandoned' } }
    expect(await live.onEnvelope(envelope(5, 'reasoning.cancel', 'system:gateway', abandoned))).toEqual([])
  })

  test('and is answered after all has its block again only if it used more tools', async () => {
    const known = [...turns]
    const { live } = await lookingOn({ turns: known })
    const cancel = envelope(5, 'reasoning.cancel', 'bot', { context: 'e2' })
    expect(await live.onEnvelope(cancel)).toEqual(block(7))
    known[0] = createTurn(7, { completed_at: parseTimestamp(6) })
    expect(await live.onEnvelope(answer(6, 1))).toEqual([])
    const { reasoning } = createTurn(7)
    const [decision] = reasoning?.tool_decisions ?? []
    if (reasoning === null || decision === undefined) throw new Error('it has a tool')
    const more = { ...reasoning, tool_decisions: [decision, decision] }
    known[0] = createTurn(7, { completed_at: parseTimestamp(9), reasoning: more })
    const lines = await live.onEnvelope(answer(9, 1))
    expect(lines?.filter((line) => line.includes('→'))).toHaveLength(2)
  })
})

describe('what a tool gave back', () => {
  const step = { seq: 4, turn_number: 1, phase: 'execute', content: 'read -> [redacted:badge]' }
  const inRun = { ...call(3, 1), context: 'run' } as AnyEnvelope
  const result = envelope(4, 'mcp.response', 'tools', { correlationId: 'e3', payload: { result: {} } })

  test('is what the gateway shows of it', async () => {
    const { live, asked } = await lookingOn({ answers: { audit: { steps: [step] } } }, true)
    live.onEnvelope(inRun)
    expect(await live.onEnvelope(result)).toEqual(['    ▸ [redacted:badge]'])
    expect(asked).toEqual(['audit'])
  })

  test('is not told of other steps, of work that nobody asked for, and where nobody wants it', async () => {
    for (const other of [
      { ...step, seq: 3 },
      { ...step, turn_number: null },
    ]) {
      const { live } = await lookingOn({ answers: { audit: { steps: [other] } } }, true)
      live.onEnvelope(inRun)
      expect(await live.onEnvelope(result)).toEqual([])
    }
    const quiet = await lookingOn()
    quiet.live.onEnvelope(inRun)
    expect(quiet.live.onEnvelope(result)).toBeUndefined()
    const alone = await lookingOn({}, true)
    alone.live.onEnvelope(call(3, 1))
    expect(alone.live.onEnvelope(result)).toBeUndefined()
  })

  test('is left out while many others are asked for', async () => {
    const { live, asked } = await lookingOn({ answers: { audit: { steps: [step] } } }, true)
    live.onEnvelope(inRun)
    const all = Array.from({ length: 30 }, () => live.onEnvelope(result))
    expect(all.filter((each) => each === undefined)).toHaveLength(10)
    await Promise.all(all)
    expect(asked).toHaveLength(20)
    expect(await live.onEnvelope(result)).toHaveLength(1)
  })
})

describe('what is shown', () => {
  /** A feed that prints to a fake view. `shown`: ids of printed envelopes and the lines below them, in order. */
  function feeding(follow: (envelope: AnyEnvelope) => Promise<Following> | undefined) {
    const shown: string[] = []
    const view = {
      show: ({ id }: AnyEnvelope) => void shown.push(id),
      append: (_: AnyEnvelope, { preview, block }: Following) => void shown.push(...preview, ...block),
      notify: (line: string) => void shown.push(line),
    }
    return { shown, feed: new ConversationFeed(view, follow) }
  }

  test('has each block behind its answer, however long it takes', async () => {
    let arrive = (_: Following): void => {}
    const slow = new Promise<Following>((resolve) => {
      arrive = resolve
    })
    const { shown, feed } = feeding(({ seq }) => (seq === 1 ? slow : undefined))
    for (const seq of [1, 2]) feed.onEnvelope(envelope(seq, 'chat', 'bot'))
    await Promise.resolve()
    expect(shown).toEqual(['e1'])
    arrive({ preview: [], block: ['why'] })
    await feed.settled()
    expect(shown).toEqual(['e1', 'why', 'e2'])
  })

  test('has what is being written at once, whatever is waited for', async () => {
    const { shown, feed } = feeding(({ seq }) => (seq === 1 ? new Promise(() => {}) : undefined))
    for (const seq of [1, 2]) feed.onEnvelope(envelope(seq, 'chat', 'bot'))
    feed.onEnvelope(envelope(3, 'chat.delta', 'bot'))
    await Promise.resolve()
    expect(shown).toEqual(['e3', 'e1'])
  })

  test('goes on where the gateway fails, and says so', async () => {
    const refusal = { code: 'unavailable', detail: 'come back later' }
    const at = await answering(() => ({ status: 503, body: refusal }))
    const live = new LiveTurns({ at, style: plainStyle, atWork: [], previews: false, isWhole: () => true })
    const { shown, feed } = feeding((each) => live.onEnvelope(each))
    feed.onEnvelope(answer(1, 9))
    feed.onEnvelope(envelope(2, 'chat', 'ana'))
    await feed.settled()
    const complaint = '… why its tools were called could not be read: come back later (unavailable)'
    expect(shown).toEqual(['e1', complaint, 'e2'])
  })
})
