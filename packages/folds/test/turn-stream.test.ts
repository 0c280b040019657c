import { type AskedQuestion, type Guard, type TurnEvent, TurnStream } from '@meup/folds'
import { GATEWAY } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import {
  call,
  cancel,
  chat,
  conclusion,
  type Fields,
  failure,
  propose,
  refused,
  reject,
  result,
  start,
  thought,
  toLog,
  withdraw,
} from './support/log.js'
import { answer, inRun, opening, question, search } from './support/search-story.js'

const asked = { id: 'q', from: 'user', agent: 'agent' }
const { agent: _, ...everyone } = asked
const back: Fields = { kind: 'chat.cancel', from: 'user', correlationId: 'q', payload: {} }
const proposal = propose('agent', 'pay', { amount: 5 }, { ...inRun, id: 'p', rationale: 'it is due' })
const approval = call('boss', 'pay', { amount: 5 }, { id: 'a', correlationId: 'p' })
const delta = (index: number, text: string, from = 'agent', correlationId = 'q'): Fields => ({
  kind: 'chat.delta',
  from,
  correlationId,
  payload: { index, text },
})

/** Writes an event as one short line. */
function short(event: TurnEvent): string {
  switch (event.type) {
    case 'begun':
    case 'thought':
      return `${event.type} ${event.envelope.from}: ${event.text}`
    case 'call':
    case 'proposal':
      return `${event.type} ${event.id} ${event.call.toolName}`
    case 'result':
      return `result ${event.id} ${event.call.outcome}`
    case 'decision': {
      const { by = '', reason = '' } = { by: '', reason: '', ...event }
      return `${event.state} ${event.id} ${by} ${reason}`.replaceAll(/ +/g, ' ').trim()
    }
    case 'delta':
    case 'answer':
      return `${event.type} ${event.message}${event.isNew ? ' new' : ''}: ${event.text}`
    case 'handedOver':
      return event.text
    case 'ended':
      return event.givenUp === null ? event.state : `${event.state}: ${event.givenUp}`
  }
}

interface Options {
  readonly question?: AskedQuestion
  readonly guard?: Guard
  readonly written?: readonly string[]
  readonly maxMessages?: number
  /** Seq of the first envelope; default: 1. */
  readonly first?: number
}

function follow(log: readonly Fields[], { question: of = asked, first = 1, ...options }: Options = {}) {
  const stream = new TurnStream(of, options)
  const events = toLog(log, first).flatMap((envelope) => stream.apply(envelope))
  return { stream, events, shown: events.map(short) }
}

const show = (log: readonly Fields[], options: Options = {}): string[] => follow(log, options).shown

const aside = (from: string, message: string, to: string, more: Partial<Fields> = {}): Fields =>
  chat(from, message, { correlationId: 'q', ...more, payload: { mentions: [to], ...more.payload } })
const handOver = (from: string, to: string, id: string, correlationId: string | string[] = 'q'): Fields =>
  aside(from, 'yours', to, { id, correlationId, payload: { handOver: true } })

describe('a question that others help with:', () => {
  test('what the agent asks another one, by name or in private, is no answer', () => {
    const asking = [
      aside('agent', 'is it so?', 'ben', { id: 'a' }),
      chat('agent', 'and so?', { to: ['ben'], correlationId: 'q' }),
    ]
    const said = chat('ben', 'it is', { correlationId: 'a' })
    expect(show([question, opening, ...asking, said, answer])).toEqual([
      'begun agent: Looking',
      'answer 1 new: The latest updates include...',
      'completed',
    ])
  })

  test('what names its asker is one', () => {
    const said = chat('agent', 'it is so', { correlationId: 'q', payload: { mentions: ['user'] } })
    expect(show([question, said])).toEqual(['answer 1 new: it is so', 'completed'])
  })

  test('who gets it is followed, and answers it', () => {
    const log = [
      question,
      opening,
      handOver('agent', 'ben', 'h'),
      conclusion('agent', 'not mine', inRun),
      start('ben', 'Mine', { id: 'r2', correlationId: 'h' }),
      thought('ben', 'easy', { context: 'r2' }),
      delta(0, 'It is', 'ben', 'h'),
      chat('ben', 'It is so', { correlationId: ['h', 'q'] }),
    ]
    const { stream, shown } = follow(log)
    expect(shown).toEqual([
      'begun agent: Looking',
      'agent has handed this over to ben',
      'thought agent: not mine',
      'begun ben: Mine',
      'thought ben: easy',
      'delta 1 new: It is',
      'answer 1:  so',
      'completed',
    ])
    expect(stream.end).toEqual({ state: 'completed', givenUp: null })
  })

  test('to and fro, until somebody answers', () => {
    const log = [
      question,
      handOver('agent', 'ben', 'h1'),
      handOver('ben', 'agent', 'h2', ['h1', 'q']),
      handOver('agent', 'ben', 'h3', ['h2', 'q']),
      chat('ben', 'well', { correlationId: ['h3', 'q'] }),
    ]
    expect(show(log)).toEqual([
      'agent has handed this over to ben',
      'ben has handed this over to agent',
      'agent has handed this over to ben',
      'answer 1 new: well',
      'completed',
    ])
  })

  test('nobody else hands it over', () => {
    const log = [
      question,
      opening,
      handOver('eve', 'mal', 'h'),
      chat('mal', 'trust me', { correlationId: ['h', 'q'] }),
    ]
    expect(show([...log, answer])).toEqual([
      'begun agent: Looking',
      'answer 1 new: The latest updates include...',
      'completed',
    ])
  })
})

describe('a turn is shown as it goes:', () => {
  test('a run, thoughts, calls with their results, an approved proposal, the answer, the end', () => {
    const log = [
      question,
      opening,
      thought('agent', ' first look ', inRun),
      search,
      result('c1', 'found'),
      proposal,
      approval,
      failure('a', 'no money', 'tools'),
      conclusion('agent', 'so be it', inRun),
      delta(0, 'The latest'),
      answer,
    ]
    expect(show(log)).toEqual([
      'begun agent: Looking',
      'thought agent: first look',
      'call c1 memory_search',
      'result c1 success',
      'proposal p pay',
      'approved p boss',
      'result p error',
      'thought agent: so be it',
      'delta 1 new: The latest',
      'answer 1:  updates include...',
      'completed',
    ])
  })

  test('each event has its agent and its envelope', () => {
    const { events } = follow([question, opening, search, result('c1', 'found'), answer])
    expect(events.map(({ agent, envelope }) => [agent, envelope.seq])).toEqual([
      ['agent', 2],
      ['agent', 3],
      ['agent', 4],
      ['agent', 5],
      ['agent', 5],
    ])
  })

  test('what others think in the run, with who it is', () => {
    const log = [question, opening, thought('ben', 'I would wait', inRun), start('ben', 'Mine', inRun)]
    expect(show(log)).toEqual(['begun agent: Looking', 'thought ben: I would wait', 'thought ben: Mine'])
  })

  test('thoughts that are withheld, and reasons of a cancellation, are no text', () => {
    const withheld = { ...inRun, payload: { metadata: { withheld: true } } }
    const log = [question, opening, thought('agent', 'a secret', withheld), cancel('agent', 'r', 'too late')]
    expect(show(log)).toEqual([
      'begun agent: Looking',
      'thought agent: ',
      'thought agent: ',
      'cancelled: agent has given up: too late',
    ])
  })

  test('nothing of what the agent did before, or does about something else', () => {
    const job = [start('agent', 'My own work', { id: 'job' }), thought('agent', 'mine', { context: 'job' })]
    const other = [
      chat('user', 'And this?', { id: 'q2' }),
      start('agent', 'That', { id: 'r2', correlationId: 'q2' }),
      chat('agent', 'That is it', { correlationId: 'q2' }),
    ]
    expect(show([...job, question, ...other, answer])).toEqual([
      'answer 1 new: The latest updates include...',
      'completed',
    ])
  })

  test('nothing of kinds that it does not know; other reasoning is a thought', () => {
    const odd = { kind: 'odd.kind', from: 'agent', ...inRun, correlationId: 'q' }
    const doubt = { kind: 'reasoning.doubt', from: 'agent', ...inRun, payload: { message: 'is it so?' } }
    expect(show([question, odd, opening, odd, doubt])).toEqual([
      'begun agent: Looking',
      'thought agent: is it so?',
    ])
  })

  test('envelopes that refer to themselves and to each other belong to no turn', () => {
    const loop = [
      chat('agent', 'one', { id: 'l1', correlationId: 'l2' }),
      chat('agent', 'two', { id: 'l2', correlationId: ['l1', 'l2'] }),
      start('agent', 'Round', { id: 'l3', correlationId: 'l3' }),
      call('agent', 'spin', {}, { id: 'l4', correlationId: ['l4', 'l3'], context: 'l3' }),
      result('l4', 'and round'),
    ]
    expect(show([question, ...loop])).toEqual([])
    const round = start('agent', 'Looking', { id: 'r', correlationId: ['r', 'q'] })
    expect(show([question, round, ...loop, answer])).toEqual([
      'begun agent: Looking',
      'answer 1 new: The latest updates include...',
      'completed',
    ])
  })

  test('a log that begins after the question', () => {
    const log = [opening, search, result('c1', 'found'), answer]
    expect(show(log, { first: 100 })).toEqual(show([question, ...log]))
  })

  test('a log that begins in the run has the answer', () => {
    expect(show([thought('agent', 'lost', inRun), result('c1', 'found'), answer], { first: 100 })).toEqual([
      'answer 1 new: The latest updates include...',
      'completed',
    ])
  })
})

describe('of several agents', () => {
  const other = start('other', 'I look too', { id: 'o', correlationId: 'q' })
  const late = chat('other', 'Late', { correlationId: 'q' })
  const log = [question, opening, other, search, delta(0, 'It', 'other'), answer, result('c1', 'x'), late]

  test('each has a turn, where everyone is asked', () => {
    const { events, stream } = follow(log, { question: everyone })
    const shown = (agent: string) => events.filter((each) => each.agent === agent).map(short)
    expect(shown('other')).toEqual([
      'begun other: I look too',
      'delta 1 new: It',
      'answer 2 new: Late',
      'completed',
    ])
    expect(shown('agent')).toEqual([
      'begun agent: Looking',
      'call c1 memory_search',
      'answer 1 new: The latest updates include...',
      'completed',
      'result c1 success',
    ])
    expect(stream.end).toBeUndefined()
  })

  test('only the one that is asked is followed', () => {
    expect(show(log, { question: { ...asked, agent: 'other' } })).toEqual([
      'begun other: I look too',
      'delta 1 new: It',
      'answer 2 new: Late',
      'completed',
    ])
  })

  test('the asker is none', () => {
    const own = [chat('user', 'Anyone?', { correlationId: 'q' }), delta(0, 'x', 'user')]
    expect(show([question, ...own], { question: everyone })).toEqual([])
  })

  test('all end when the question is taken back', () => {
    expect(show([question, opening, other, back], { question: everyone }).slice(2)).toEqual([
      'takenBack',
      'takenBack',
    ])
  })

  test('at most 64 are followed', () => {
    const many = Array.from({ length: 1000 }, (_, n) => start(`a${n}`, 'I', { correlationId: 'q' }))
    expect(
      show([question, ...many, back], { question: everyone }).filter((each) => each === 'takenBack'),
    ).toHaveLength(64)
  })
})

describe('a call that gets no result has a decision:', () => {
  const until = '2026-02-21T10:00:03.500Z'
  const expiring = { ...proposal, payload: { ...proposal.payload, expiresAt: until } }
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 'c1', reason: 'too slow' } }
  test.for<[what: string, log: readonly Fields[], decision: string]>([
    ['rejected, by whom and why', [proposal, reject('boss', 'p')], 'rejected p boss unsafe'],
    ['withdrawn by its proposer', [proposal, withdraw('agent', 'p')], 'withdrawn p no longer needed'],
    [
      'closed by a kick',
      [proposal, { kind: 'space.kick', from: 'boss', payload: { participantId: 'agent' } }],
      'withdrawn p kicked',
    ],
    ['expired', [expiring, thought('agent', 'hm', inRun), thought('agent', 'well', inRun)], 'expired p'],
    [
      'refused by the gateway',
      [refused('agent', { context: 'r', attemptedId: 'c1', attemptedTool: 'shell' })],
      'refused e3 no capability of agent allows this envelope',
    ],
    [
      'cancelled by its agent',
      [search, { kind: 'mcp.request', from: 'agent', to: ['tools'], payload: cancelled }],
      'cancelled c1 cancelled: too slow',
    ],
    [
      'cancelled with the question',
      [search, { ...back, payload: { reason: 'enough' } }],
      'cancelled c1 cancelled: enough',
    ],
    ['abandoned with its run', [search, cancel(GATEWAY, 'r', 'abandoned')], 'abandoned c1'],
  ])('%s', ([, log, decision]) => {
    const { shown, stream } = follow([question, opening, ...log])
    expect(shown).toContain(decision)
    expect(stream.open).toEqual([])
  })

  test('a decision about another one is none', () => {
    const log = [expiring, { ...proposal, id: 'p2' }, reject('boss', 'p2')]
    expect(show([question, opening, ...log]).slice(3)).toEqual(['expired p', 'rejected p2 boss unsafe'])
  })

  test('the first one counts', () => {
    const log = [proposal, reject('boss', 'p'), reject('eve', 'p'), withdraw('agent', 'p')]
    expect(show([question, opening, ...log]).slice(2)).toEqual(['rejected p boss unsafe'])
  })

  test('until one is there, a proposal waits; the approval of somebody else is shown too', () => {
    const { stream } = follow([question, opening, search, proposal])
    const waiting = () => stream.open.map(({ id, isWaiting }) => [id, isWaiting])
    expect(waiting()).toEqual([
      ['c1', false],
      ['p', true],
    ])
    const [approved, response] = toLog([approval, result('a', 'paid')], 5)
    expect(approved && stream.apply(approved).map(short)).toEqual(['approved p boss'])
    expect(waiting()).toEqual([
      ['c1', false],
      ['p', false],
    ])
    expect(response && stream.apply(response).map(short)).toEqual(['result p success'])
  })

  test('a call that is about another one does not approve it', () => {
    const second = call('agent', 'shell', {}, { ...inRun, id: 'c2', correlationId: 'c1' })
    expect(show([question, opening, search, second]).slice(1)).toEqual([
      'call c1 memory_search',
      'call c2 shell',
    ])
  })

  test('a call that is made again under the id of a refused one is another call', () => {
    const log = [
      refused('agent', { context: 'r', attemptedId: 'c1', attemptedTool: 'memory_search' }),
      search,
      result('c1', 'found'),
    ]
    expect(show([question, opening, ...log]).slice(1)).toEqual([
      'call e3 memory_search',
      'refused e3 no capability of agent allows this envelope',
      'call c1 memory_search',
      'result c1 success',
    ])
  })

  test('names of tools and reasons are guarded', () => {
    const guard: Guard = (text) => ({ text: text.replaceAll('hush', '…'), isWithheld: text === 'hush' })
    const log = [propose('agent', 'pay hush', {}, { ...inRun, id: 'p' }), reject('boss', 'p', 'hush')]
    expect(show([question, opening, ...log], { guard }).slice(1)).toEqual([
      'proposal p pay …',
      'rejected p boss [withheld]',
    ])
  })

  test('of 5000 calls the latest 1,000 are known to be open', () => {
    const many = Array.from({ length: 5000 }, (_, n) => call('agent', 'wait', {}, { ...inRun, id: `c${n}` }))
    const { shown, stream } = follow([question, opening, ...many])
    expect([shown.length, stream.open.length]).toEqual([5001, 1000])
  })
})

describe('an answer as it is written', () => {
  test.for<
    [what: string, deltas: readonly (readonly [number, string])[], text: string, shown: readonly string[]]
  >([
    [
      'is completed',
      [
        [0, 'Two'],
        [1, ' coins'],
      ],
      'Two coins, please',
      ['delta 1 new: Two', 'delta 1:  coins', 'answer 1: , please'],
    ],
    ['is there already', [[0, 'Two ']], 'Two', ['delta 1 new: Two ', 'answer 1: ']],
    [
      'starts over with the same',
      [
        [0, 'Two'],
        [0, 'T'],
        [1, 'wo c'],
      ],
      'Two c',
      ['delta 1 new: Two', 'delta 1:  c', 'answer 1: '],
    ],
    [
      'starts over without the white space before it',
      [
        [0, '\n\nTwo c'],
        [0, 'Two'],
        [1, ' coins'],
      ],
      'Two coins',
      ['delta 1 new: \n\nTwo c', 'delta 1: oins', 'answer 1: '],
    ],
    [
      'starts over',
      [
        [0, 'I look'],
        [0, 'Two'],
      ],
      'Two',
      ['delta 1 new: I look', 'delta 2 new: Two', 'answer 2: '],
    ],
    ['turns out to be something else', [[0, 'I look']], 'Two', ['delta 1 new: I look', 'answer 2 new: Two']],
    [
      'misses a part',
      [
        [0, 'Two'],
        [2, 'please'],
      ],
      'Two coins, please',
      ['delta 1 new: Two', 'answer 1:  coins, please'],
    ],
    ['misses its beginning', [[1, ' coins']], 'Two coins', ['answer 1 new: Two coins']],
    ['is empty', [[0, '']], '', ['answer 1 new: ']],
  ])('%s', ([, deltas, text, shown]) => {
    const written = deltas.map(([index, part]) => delta(index, part))
    const log = [question, ...written, chat('agent', text, { correlationId: 'q' })]
    expect(show(log)).toEqual([...shown, 'completed'])
  })

  test('that becomes a thought is not shown again', () => {
    const log = [question, opening, delta(0, 'I will look'), thought('agent', ' I will look', inRun)]
    expect(show(log).slice(1)).toEqual(['delta 1 new: I will look', 'thought agent: '])
  })

  test('that starts over again and again waits until it is there', () => {
    const log = [question, ...Array.from({ length: 20 }, (_, n) => delta(0, `${n}.`)), delta(1, '9'), answer]
    const shown = show(log, { maxMessages: 3 })
    expect(shown.slice(0, -1)).toEqual([
      'delta 1 new: 0.',
      'delta 2 new: 1.',
      'delta 3 new: 2.',
      'answer 4 new: The latest updates include...',
    ])
  })

  test('goes on from the messages that a reader has', () => {
    const log = [question, opening, delta(0, 'The latest upd'), answer]
    expect(show(log, { written: ['I look', 'The latest'] }).slice(1)).toEqual([
      'delta 2:  upd',
      'answer 2: ates include...',
      'completed',
    ])
  })

  test('is from the agent alone, about the question, and not after the end', () => {
    const others = [delta(0, 'x', 'eve'), delta(0, 'x', 'agent', 'q2'), delta(0, 'x', 'user')]
    expect(
      show([question, ...others, answer, { ...delta(0, 'more'), ts: '2026-02-21T10:00:00.000Z' }]),
    ).toEqual(['answer 1 new: The latest updates include...', 'completed'])
  })
})

describe('a turn ends', () => {
  const again = start('agent', 'Once more', { id: 'r2', correlationId: 'q' })

  test.for<[from: string, reason: string | undefined, end: string]>([
    ['agent', 'no model', 'cancelled: agent has given up: no model'],
    ['agent', undefined, 'cancelled: agent has given up'],
    [GATEWAY, 'abandoned', 'abandoned: agent stopped: it left and did not come back'],
    [GATEWAY, 'program-ended', 'abandoned: agent stopped: its program ended'],
  ])('when %s gives it up: %s', ([from, reason, end]) => {
    const { shown, stream } = follow([question, opening, cancel(from, 'r', reason)])
    expect([shown.at(-1), stream.end?.givenUp]).toEqual([end, end.slice(end.indexOf(': ') + 2)])
  })

  test('and goes on with a new run, or with an answer', () => {
    const log = [question, opening, cancel('agent', 'r', 'stuck')]
    const { shown, stream } = follow([...log, again])
    expect([shown.at(-1), stream.end]).toEqual(['begun agent: Once more', undefined])
    expect(show([...log, again, answer]).at(-1)).toBe('completed')
    expect(show([...log, answer]).slice(-2)).toEqual([
      'answer 1 new: The latest updates include...',
      'completed',
    ])
  })

  test('each time that it is given up', () => {
    const log = [question, opening, cancel('agent', 'r', 'stuck'), again, cancel('agent', 'r2', 'for good')]
    expect(show(log).filter((each) => each.includes('given up'))).toEqual([
      'cancelled: agent has given up: stuck',
      'cancelled: agent has given up: for good',
    ])
  })

  test('not while another run of it is open, or when its run is done', () => {
    expect(follow([question, opening, again, cancel('agent', 'r', 'stuck')]).stream.end).toBeUndefined()
    expect(follow([question, opening, conclusion('agent', '', inRun)]).stream.end).toBeUndefined()
  })

  test.for<[what: string, log: readonly Fields[]]>([
    ['before it has begun', [question]],
    ['before the log', []],
    ['while it goes on', [question, opening]],
    ['after its agent has given up', [question, opening, cancel('agent', 'r', 'stuck')]],
  ])('when its question is taken back %s', ([, log]) => {
    const { shown, stream } = follow([...log, back, back])
    expect([shown.at(-1), stream.end]).toEqual(['takenBack', { state: 'takenBack', givenUp: null }])
    expect(shown.filter((each) => each === 'takenBack')).toHaveLength(1)
    expect(follow([...log, back, again, answer]).stream.end?.state).toBe('takenBack')
  })

  test('not when others want to take the question back, or after the answer', () => {
    const others = { ...back, from: 'eve' }
    expect(follow([question, opening, others]).stream.end).toBeUndefined()
    expect(show([question, others, answer, back]).at(-1)).toBe('completed')
  })
})
