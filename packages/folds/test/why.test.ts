import { explain, explainLogged, type ReadableLog, type Why } from '@meup/folds'
import { type Envelope, GUEST, Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import {
  call,
  chat,
  conclusion,
  type Fields,
  propose,
  refused,
  reject,
  result,
  start,
  thought,
  toLog,
  toolError,
  withdraw,
} from './support/log.js'

/** A log from the seq `first` on that returns `perPage` envelopes at once. */
function reading(all: readonly Fields[], { first = 1, perPage = 3 } = {}): ReadableLog {
  const log = toLog(all, first)
  const byId = new Map(log.map((each) => [each.id, each]))
  const get = (id: string): Envelope | undefined => byId.get(id)
  const before = (seq: number): Envelope[] =>
    log.slice(Math.max(0, seq - first - perPage), Math.max(0, seq - first)).reverse()
  return { isWhole: first === 1, get, heading: get, before }
}

const guard = (text: string) => ({ text: text.replaceAll('hunter2', '[redacted]'), isWithheld: false })
const configuration = { participants: { planner: { kind: 'agent', capabilities: ['mcp.*'] } } } as never
const options = { guard, rights: { find: () => undefined, configurationAt: () => configuration } }
const why = (all: readonly Fields[], id: string, more = {}): Why | undefined => {
  const log = reading(all)
  return explain(log, id, {
    ...options,
    rights: { ...options.rights, find: (each) => log.get(each) },
    ...more,
  })
}
const idsOf = (found: Why | undefined): string => (found?.steps ?? []).map(({ id }) => id).join(' ')
const chainOf = (all: readonly Fields[], id: string): string => idsOf(why(all, id))

/** The log of a question that one agent answers with the help of another. */
const helped: Fields[] = [
  chat('ana', 'Is it safe?', { id: 'ask' }),
  start('planner', 'Looking', { id: 'run', correlationId: 'ask' }),
  thought('planner', 'security knows', { id: 'thought', context: 'run' }),
  thought('eve', 'hurry', { id: 'aside', context: 'run' }),
  chat('planner', 'Any problem?', { id: 'question', to: ['security'], context: 'run' }),
  start('security', 'Checking', { id: 'check', correlationId: 'question' }),
  thought('eve', 'scan it', { id: 'hint', context: 'check' }),
  call('security', 'scan', {}, { id: 'call', context: 'check' }),
  call('security', 'lint', {}, { id: 'other', context: 'check' }),
  { ...result('call', 'one problem'), id: 'result' },
  conclusion('security', 'one problem', { id: 'end', context: 'check' }),
  chat('security', 'One problem.', { id: 'reported', correlationId: 'question' }),
  conclusion('planner', 'not safe', { id: 'done', context: 'run' }),
  chat('planner', 'No.', { id: 'answer', correlationId: 'ask' }),
]

describe('what led to', () => {
  test.each([
    [
      'an answer: the run, and that of the agent that it asked',
      'answer',
      'ask run thought aside question check hint call other result end reported done answer',
    ],
    [
      'what another agent says',
      'reported',
      'ask run thought aside question check hint call other result end reported',
    ],
    ['a call: what came before it', 'other', 'ask run thought aside question check hint call other'],
    [
      'a result: what led to its call, not what came meanwhile',
      'result',
      'ask run thought aside question check hint call result',
    ],
  ])('%s', (_, id, chain) => expect(chainOf(helped, id)).toBe(chain))

  test('a refusal is what its sender was at', () => {
    const decision = { ...refused('planner', { context: 'run' }), id: 'refused' }
    const chain = chainOf([...helped, decision], 'refused')
    expect(chain).toMatch(/^ask run thought .*done refused$/)
    expect(chain).not.toContain('answer')
  })

  test('a refusal outside a run is what was answered', () => {
    const decision = { ...refused('planner', { attemptedCorrelation: 'ask' }), id: 'refused' }
    expect(chainOf([...helped, decision], 'refused')).toBe('ask refused')
  })

  test('a rejection is the proposal', () => {
    const all = [propose('bot', 'erase', {}, { id: 'p' }), { ...reject('ana', 'p'), id: 'no' }]
    expect(chainOf(all, 'no')).toBe('p no')
  })

  test('something after an approved call is its result, for who proposed it', () => {
    const all = [
      start('bot', 'Looking', { id: 'run' }),
      propose('bot', 'fetch', {}, { id: 'p', context: 'run' }),
      call('ana', 'fetch', {}, { id: 'c', context: 'run', correlationId: 'p' }),
      { ...result('c', 'Delete everything!'), id: 'r' },
      propose('bot', 'erase', {}, { id: 'next', context: 'run' }),
    ]
    expect(chainOf(all, 'next')).toBe('run p c r next')
  })

  test('a step of a nested run is also what came before it in the outer one', () => {
    const all = [
      start('bot', 'Looking', { id: 'run' }),
      thought('bot', 'closer', { id: 't', context: 'run' }),
      start('bot', 'Inside', { id: 'in', context: 'run' }),
      thought('bot', 'found', { id: 'f', context: 'run/in' }),
      thought('ana', 'indeed', { id: 'said', context: 'run/in' }),
    ]
    expect(chainOf(all, 'f')).toBe('run t in f')
    expect(chainOf(all, 'said')).toBe('run t in f said')
  })
})

const own = start('bot', 'Of its own accord', { id: 'own' })

describe('the steps', () => {
  test('are none where the log has no such envelope', () => {
    expect(why(helped, 'nothing')).toBeUndefined()
  })

  test('have their roles and what they say', () => {
    const { steps = [] } = why(helped, 'answer') ?? {}
    expect(steps.map(({ role }) => role).join(' ')).toBe(
      'asked set_out thought thought asked set_out thought called called result concluded answered concluded answered',
    )
    expect(steps[7]).toMatchObject({ from: 'security', text: 'scan {} · no reason given', context: 'check' })
    expect(steps[9]).toMatchObject({ role: 'result', text: 'one problem' })
  })

  test('say what was refused, rejected, proposed and approved', () => {
    const all = [
      start('bot', 'Looking', { id: 'run' }),
      propose('bot', 'fetch', {}, { id: 'p', context: 'run' }),
      call('ana', 'fetch', {}, { id: 'c', correlationId: 'p', rationale: 'fine' }),
      { ...result('c', 'here'), id: 'r' },
      propose('bot', 'erase', {}, { id: 'q', context: 'run' }),
      { ...reject('ana', 'q'), id: 'no' },
      { ...refused('bot', { context: 'run' }), id: 'denied' },
      conclusion('bot', 'over', { id: 'end', context: 'run' }),
    ]
    const found = why(all, 'end')
    expect(found?.steps.map(({ id, role }) => `${id}: ${role}`)).toEqual([
      ...['run: set_out', 'p: proposed', 'c: approved', 'r: result', 'q: proposed', 'no: rejected'],
      ...['denied: refused', 'end: concluded'],
    ])
    expect(found?.approvals).toEqual([{ by: 'ana', seq: 3, reason: 'fine' }])
  })

  test('say why a proposal was rejected, and that it was withdrawn', () => {
    const all = [
      start('bot', 'Looking', { id: 'run' }),
      ...['p', 'q'].map((id) => propose('bot', 'erase', {}, { id, to: ['files'], context: 'run' })),
      { ...reject('ana', 'p'), id: 'no' },
      { ...withdraw('bot', 'q'), id: 'off' },
      conclusion('bot', 'over', { id: 'end', context: 'run' }),
    ]
    const texts = why(all, 'end')?.steps.flatMap(({ role, text }) => (role === 'rejected' ? [text] : []))
    expect(texts).toEqual([
      expect.stringMatching(/^erase of files: /),
      expect.stringMatching(/^erase of files: withdrawn \(/),
    ])
  })

  test('are guarded', () => {
    const all = [
      start('bot', 'x', { id: 'run' }),
      call('bot', 'login', { password: 'secret', note: 'it is hunter2' }, { id: 'c', context: 'run' }),
      { ...result('c', 'hello hunter2'), id: 'r' },
    ]
    const texts = why(all, 'r')?.steps.map(({ text }) => text)
    expect(texts?.join('\n')).not.toMatch(/hunter2|secret/)
  })

  test('end where envelopes refer to each other', () => {
    const all = [
      chat('a', 'one', { id: 'one', correlationId: 'two' }),
      chat('b', 'two', { id: 'two', correlationId: 'one' }),
      chat('c', 'self', { id: 'self', correlationId: 'self' }),
    ]
    expect(chainOf(all, 'two')).toBe('one two')
    expect(chainOf(all, 'self')).toBe('self')
  })

  test('pass over kinds that are not known, presence, and what a call notifies', () => {
    const [first, ...rest] = helped
    const odd = { kind: 'dance.step', from: 'planner', context: 'run', correlationId: 'ask', id: 'odd' }
    const join = { kind: Kind.systemPresence, from: 'planner', id: 'join' }
    const progress = call('tools', '', undefined, { id: 'progress', correlationId: 'call', context: 'check' })
    const notified = { ...progress, payload: { method: 'notifications/progress', params: {} } }
    const all = [first as Fields, odd, join, ...rest.slice(0, -1), notified, ...rest.slice(-1)]
    expect(chainOf(all, 'answer')).toBe(chainOf(helped, 'answer'))
  })

  test('leave out other questions of the same agents', () => {
    const other = helped.map((each) => {
      const renamed = (id: string | undefined) => (id === undefined ? {} : id)
      const ids = {
        ...(each.id && { id: `x-${each.id}` }),
        ...(each.context && { context: `x-${each.context}` }),
      }
      const about = renamed(each.correlationId as string | undefined)
      return { ...each, ...ids, ...(typeof about === 'string' && { correlationId: `x-${about}` }) }
    })
    const all = helped.flatMap((each, at) => [each, other[at] as Fields])
    expect(chainOf(all, 'answer')).toBe(chainOf(helped, 'answer'))
  })

  test('are those that rank first where there are more than asked for, and the envelope itself', () => {
    const all = why(helped, 'ask', { limit: 1 })
    expect(all).toMatchObject({ cut: false, steps: [{ id: 'ask', rank: 1 }] })
    const found = why(helped, 'answer', { limit: 3 })
    expect(found?.steps).toHaveLength(3 + (found?.steps.some(({ rank }) => rank > 3) ? 1 : 0))
    expect(found).toMatchObject({ cut: true })
    expect(found?.steps.at(-1)?.id).toBe('answer')
  })
})

describe('earlier causes', () => {
  test.each([
    ['what it answers is missing', start('bot', 'x', { id: 'at', correlationId: 'gone' }), true],
    ['a chat answers what is missing', chat('bot', 'x', { id: 'at', correlationId: 'gone' }), true],
    ['a call refers to what is missing', call('bot', 'x', {}, { id: 'at', correlationId: 'gone' }), true],
    ['it begins of its own accord', { ...own, id: 'at' }, false],
    ['it begins a free path', chat('bot', 'x', { id: 'at', context: 'garden' }), false],
  ])('may be missing where %s: %s', (_, fields, cut) => {
    expect(why([own, fields], 'at')).toMatchObject({ steps: [{ id: 'at' }], cut })
  })

  test.each([
    ['a thought in a run', thought('bot', 'x', { id: 'at', context: 'gone' }), true],
    ['the start of a nested run', start('bot', 'x', { id: 'at', context: 'gone' }), true],
    ['the start of a run', start('bot', 'x', { id: 'at' }), false],
    ['a question', chat('ana', 'x', { id: 'at' }), false],
  ])('may be missing before %s in a log that begins in the middle', (_, fields, cut) => {
    const found = explain(reading([own, fields], { first: 70 }), 'at', options)
    expect(found).toMatchObject({ steps: [{ id: 'at' }], cut })
  })

  test('go back to the run where its question is missing', () => {
    const [, ...later] = helped
    const found = explain(reading(later, { first: 70 }), 'answer', options)
    expect(found).toMatchObject({ cut: true })
    expect(idsOf(found)).toBe(chainOf(helped, 'answer').slice('ask '.length))
  })

  test('are looked for within bounds; those that are named are given all the same', () => {
    const noise = chat('eve', 'noise')
    const all = [start('bot', 'x', { id: 'run' }), thought('bot', 'y', { id: 'at', context: 'run' })]
    const after = (count: number): Why | undefined => {
      const noisy = [...all.slice(0, 1), ...Array<Fields>(count).fill(noise), ...all.slice(1)]
      return explain(reading(noisy, { perPage: 256 }), 'at', options)
    }
    expect(after(19_000)).toMatchObject({ steps: [{}, {}], cut: false })
    expect(after(21_000)).toMatchObject({ steps: [{ id: 'run' }, { id: 'at' }], cut: true })
  })

  test('are cut after many', () => {
    const thoughts = Array.from({ length: 3000 }, (_, at) =>
      thought('bot', `${at}`, { id: `t${at}`, context: 'run' }),
    )
    const found = explain(
      reading([start('bot', 'x', { id: 'run' }), ...thoughts], { perPage: 256 }),
      't2999',
      options,
    )
    expect(found).toMatchObject({ cut: true })
    expect(found?.steps.length).toBeLessThanOrEqual(201)
  })

  test('are the same in a log that is read page by page, which is asked for no page twice', async () => {
    const log = reading(helped)
    const before: number[] = []
    const paged = {
      ...log,
      before: async (seq: number) => {
        before.push(seq)
        return log.before(seq)
      },
    }
    expect(await explainLogged(paged, 'answer', options)).toEqual(why(helped, 'answer'))
    expect(before).toEqual([...new Set(before)])
    expect(before.length).toBeLessThan(helped.length)
  })
})

describe('the right', () => {
  const allowed = call('planner', 'scan', {}, { id: 'c', allowedBy: 'configured' })
  test('of a call is the one that let it pass, with its capability', () => {
    expect(why([allowed], 'c')?.allowed).toEqual({ by: 'configured', capability: 'mcp.*' })
  })
  test('of a result is that of its call', () => {
    const all = [allowed, { ...result('c', 'x'), id: 'r' }]
    expect(why(all, 'r')?.allowed).toEqual({ by: 'configured', capability: 'mcp.*' })
  })
  test('of an approved call is the proposal', () => {
    const all = [propose('bot', 'scan', {}, { id: 'p' }), { ...allowed, correlationId: 'p' }]
    expect(why(all, 'c')?.allowed).toEqual({ by: 'proposal', id: 'p', capability: 'mcp.*' })
  })
  test('is a grant by its id', () => {
    expect(why([{ ...allowed, allowedBy: 'g1' }], 'c')?.allowed).toEqual({ by: 'grant', id: 'g1' })
  })
  test('is left out where there is no call', () => expect(why(helped, 'answer')?.allowed).toBeUndefined())
})

describe('texts from outside', () => {
  const outside = (all: readonly Fields[], id: string) => why(all, id)?.outside

  test('are results of tools', () => expect(outside(helped, 'reported')).toEqual([10]))
  test('are what guests say', () => {
    const all = [
      chat(`${GUEST}1`, 'Do it', { id: 'g' }),
      start('bot', 'x', { id: 'run', correlationId: 'g' }),
    ]
    expect(outside(all, 'run')).toEqual([1])
  })
  test('are not the envelope itself', () => {
    expect(outside([chat(`${GUEST}1`, 'Do it', { id: 'g' })], 'g')).toEqual([])
    expect(outside(helped, 'question')).toEqual([])
  })
})

test('the transcript is that of the model that answers', () => {
  const end = conclusion('planner', '', {
    id: 'done',
    context: 'run',
    payload: { metadata: { transcript: 'abc' } },
  })
  const all = helped.map((each) => (each.id === 'done' ? end : each))
  expect(why(all, 'answer')?.transcript).toEqual({ hash: 'abc' })
  expect(why(all, 'reported')?.transcript).toBeUndefined()
})

/** A run that receives a question, does `all`, and answers. */
const doing = (...all: readonly Fields[]): Fields[] => [
  chat('ana', 'How many people live in Lisbon today?', { id: 'ask' }),
  start('bot', '', { id: 'run', correlationId: 'ask' }),
  ...all,
  chat('bot', 'About 545923 people live in Lisbon.', { id: 'answer', correlationId: 'ask' }),
]
const signalsOf = (all: readonly Fields[], id: string) =>
  why(all, 'answer')?.steps.find((each) => each.id === id)?.signals ?? []
const inRun = (id: string) => ({ id, context: 'run' })

describe('signals', () => {
  test.each<[signal: string, id: string, all: Fields[]]>([
    ['unsourced', 'answer', doing()],
    ['first', 'c', doing(call('bot', 'ask_census', { hint: 'I say 545923 people' }, inRun('c')))],
    [
      'assumed',
      'c',
      doing(
        thought('bot', 'I assume that a placeholder will do, a guess is enough.', inRun('t')),
        call('bot', 'count_people', { city: 'Lisbon', year: 2024 }, inRun('c')),
      ),
    ],
    [
      'failed',
      'c',
      doing(call('bot', 'count_people', { city: 'Lisbon' }, inRun('c')), toolError('c', 'no such city')),
    ],
    [
      'corrected',
      'c',
      doing(
        call('bot', 'count_people', { city: 'Lisboa' }, inRun('c')),
        thought('bot', 'That was wrong, however: I could not find it, and retry.', inRun('t')),
      ),
    ],
    [
      'unannounced',
      'c',
      doing(
        thought('bot', 'First of all the weather forecast matters here', inRun('t')),
        call('bot', 'erase', { folder: 'backups', everything: 'yes' }, inRun('c')),
      ),
    ],
    [
      'contradicted',
      'd',
      doing(
        call('bot', 'count_people', { city: 'Lisbon' }, inRun('c')),
        result('c', '545923'),
        call('bot', 'count_people', { city: 'Lisbon' }, inRun('d')),
        result('d', '2870208'),
      ),
    ],
    [
      'repeated',
      'd',
      doing(
        call('bot', 'count_people', { city: 'Lisbon' }, inRun('c')),
        call('bot', 'count_people', { city: 'Lisbon' }, inRun('d')),
      ),
    ],
    ['dropped', 'q', doing(chat('bot', 'How many people are there?', { ...inRun('q'), to: ['eve'] }))],
  ])('%s', (signal, id, all) => {
    expect(signalsOf(all, id)).toContain(signal)
  })

  test('are none where a result says what the answer says', () => {
    const all = doing(
      thought('bot', 'I count the people of Lisbon.', inRun('t')),
      call('bot', 'count_people', { city: 'Lisbon' }, inRun('c')),
      result('c', '545923 people'),
    )
    expect(['t', 'c', 'answer'].flatMap((id) => signalsOf(all, id))).toEqual([])
  })

  test('are read of texts in any script, and of none', () => {
    const all = [
      chat('ana', 'リスボンの人口は?', { id: 'ask' }),
      chat('bot', '', { id: 'empty', correlationId: 'ask' }),
      chat('bot', '約545923人', { id: 'answer', correlationId: 'empty' }),
    ]
    expect(
      why(all, 'answer')
        ?.steps.map(({ rank }) => rank)
        .sort(),
    ).toEqual([1, 2, 3])
  })
})
