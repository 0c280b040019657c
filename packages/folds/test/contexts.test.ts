import { contextTree, createContextFold } from '@meup/folds'
import { answerFor, type Envelope, GATEWAY } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, cancel, chat, conclusion, type Fields, propose, start, thought, toLog } from './support/log.js'

function view(log: readonly Fields[]) {
  const fold = createContextFold()
  const changes = toLog(log).map((envelope) => fold.apply(envelope))
  return { fold, changes, late: changes.map(({ isLate }) => isLate) }
}
const shape = (log: readonly Fields[]) => {
  type Shape = [string, string, Shape[]]
  const toShape = (nodes: ReturnType<typeof contextTree>): Shape[] =>
    nodes.map(({ context, state, children }) => [context, state, toShape(children)])
  return toShape(contextTree(view(log).fold.all()))
}

const nested: Fields[] = [
  start('agent', 'Analyzing request', { id: 'msg-301', correlationId: 'msg-300' }),
  start('agent', 'Deep dive into security', { id: 'msg-302', context: 'msg-301' }),
  thought('agent', 'Checking permissions...', { context: 'msg-301/msg-302' }),
  conclusion('agent', 'Security check passed', { context: 'msg-301/msg-302' }),
  thought('agent', 'Security is fine, checking performance...', { context: 'msg-301' }),
]

describe('a context', () => {
  verifies('O01', 'expires while its owner is away, as long as it is open', () => {
    const space = (payload: object): Fields => ({
      kind: 'system.space',
      from: GATEWAY,
      payload: { ...payload },
    })
    const presence = (event: string, id: string): Fields => ({
      kind: 'system.presence',
      from: GATEWAY,
      payload: { event, participant: { id } },
    })
    const fold = createContextFold()
    const log = toLog([
      start('agent', 'Looking', { id: 'run' }),
      start('agent', 'Deeper', { id: 'in', context: 'run' }),
      start('other', 'Also', { id: 'its' }),
      presence('leave', 'agent'),
      presence('join', 'agent'),
      space({ event: 'configured', reasoning: { abandonAfterMs: 5000 } }),
      presence('leave', 'agent'),
      cancel(GATEWAY, 'run', 'abandoned'),
      presence('leave', 'agent'),
    ])
    const changes = log.map((envelope) =>
      fold.apply(envelope).contexts.map(({ context, expiresAt }) => [context, expiresAt]),
    )
    expect(changes.slice(3)).toEqual([
      [
        ['run', '2026-02-21T10:01:03.000Z'],
        ['run/in', '2026-02-21T10:01:03.000Z'],
      ],
      [
        ['run', null],
        ['run/in', null],
      ],
      [],
      [
        ['run', '2026-02-21T10:00:11.000Z'],
        ['run/in', '2026-02-21T10:00:11.000Z'],
      ],
      [
        ['run', null],
        ['run/in', null],
      ],
      [],
    ])
    const copy = createContextFold()
    copy.restore(fold.snapshot())
    expect(copy.get('its')).toMatchObject({ state: 'open', expiresAt: null, reasoningVisible: true })
  })

  test('tells who, what, when and how much', () => {
    const log = [
      ...nested,
      thought('helper', 'And memory?', { context: 'msg-301' }),
      call('agent', 'profile', {}, { context: 'msg-301/free' }),
      conclusion('agent', 'All well', { context: 'msg-301' }),
    ]
    expect(view(log).fold.get('msg-301')).toMatchObject({
      owner: 'agent',
      opening: { text: 'Analyzing request', source: { id: 'msg-301', seq: 1 } },
      ending: { text: 'All well', source: { seq: 8 } },
      contributors: ['agent', 'helper'],
      counts: { envelopes: 7, thoughts: 3, calls: 1, late: 0 },
      startedAt: '2026-02-21T10:00:00.000Z',
      endedAt: '2026-02-21T10:00:07.000Z',
      duration: 7000,
    })
    expect(view(log).fold.get('msg-301/free')).toMatchObject({
      state: 'free',
      owner: null,
      endedAt: null,
      duration: null,
    })
  })

  test('that is closed shows what comes later as late', () => {
    const log = [
      ...nested,
      thought('agent', 'late', { context: 'msg-301/msg-302' }),
      thought('agent', 'late', { context: 'msg-301/msg-302/deeper' }),
      thought('agent', 'in time', { context: 'msg-301/other' }),
    ]
    const { fold, late } = view(log)
    expect(late).toEqual([false, false, false, false, false, true, true, false])
    expect(fold.get('msg-301/msg-302')?.counts).toMatchObject({ thoughts: 3, late: 2 })
  })

  test('of a free path has the texts of starts and conclusions in it', () => {
    const log = [
      start('agent', 'Goal', { id: 's1', context: 'reason-123' }),
      conclusion('agent', 'Done', { context: 'reason-123' }),
    ]
    expect(view(log).fold.get('reason-123')).toMatchObject({
      opening: { text: 'Goal' },
      ending: { text: 'Done' },
    })
  })

  test('of free paths is a tree as well', () => {
    const log = [
      chat('agent', 'a', { context: 'reason-789/permissions/result' }),
      chat('agent', 'b', { context: 'reason-789/other' }),
    ]
    expect(shape(log)).toEqual([
      [
        'reason-789',
        'free',
        [
          ['reason-789/permissions', 'free', [['reason-789/permissions/result', 'free', []]]],
          ['reason-789/other', 'free', []],
        ],
      ],
    ])
    const withoutRoot = view(log)
      .fold.all()
      .filter(({ context }) => context !== 'reason-789')
    expect(contextTree(withoutRoot).map(({ context }) => context)).toEqual([
      'reason-789/permissions',
      'reason-789/other',
    ])
  })

  test('has the text of richer payloads, and none where it was withheld', () => {
    const goal = {
      ...start('agent', '', { id: 'a' }),
      payload: { goal: 'Evaluate', metadata: { confidence: 0.7 } },
    }
    const withheld = start('agent', '', { id: 'b', payload: { metadata: { withheld: true } } })
    const { fold } = view([goal, withheld])
    expect(fold.get('a')).toMatchObject({ opening: { text: 'Evaluate' }, metadata: { confidence: 0.7 } })
    expect(fold.get('b')?.opening?.text).toBeNull()
  })

  test('builds on earlier messages; a dangling reference is unresolved', () => {
    const log = [
      chat('user', 'data', { id: 'msg-380' }),
      start('agent', 'On it', { id: 'msg-401', payload: { references: ['msg-380', 'msg-390', 7] } }),
      chat('user', 'too late', { id: 'msg-390' }),
    ]
    const resolved = [
      { id: 'msg-380', isResolved: true },
      { id: 'msg-390', isResolved: false },
    ]
    expect(view(log).fold.get('msg-401')?.references).toEqual(resolved)
    const knowing = createContextFold({ isKnown: (id) => id === 'msg-390' })
    for (const envelope of toLog(log)) knowing.apply(envelope)
    expect(knowing.get('msg-401')?.references.map(({ isResolved }) => isResolved)).toEqual([false, true])
  })

  test('that began at the same time as others stands behind those before it', () => {
    const ids = ['c', 'a', 'b']
    const at = { ts: '2026-02-21T10:00:00.000Z' }
    const log = [
      start('agent', '', { id: 'later', ts: '2026-02-21T11:00:00.000Z' }),
      ...ids.map((id) => start('agent', '', { id, ...at })),
    ]
    const { fold } = view(log)
    const reversed = [...fold.all()].reverse()
    expect(contextTree(reversed).map(({ context }) => context)).toEqual(['c', 'a', 'b', 'later'])
  })

  verifies('M30', 'is linked to the proposals that are based on it, and to those made in it', () => {
    const log = [
      ...nested,
      propose('agent', 'create_issue', {}, { id: 'p1', correlationId: 'msg-301' }),
      propose('agent', 'deploy', {}, { id: 'p2', context: 'msg-301' }),
      thought('agent', 'free', { context: 'reason-123' }),
      propose('agent', 'create_issue', {}, { id: 'p3', correlationId: 'reason-123' }),
    ]
    const { fold } = view(log)
    expect(fold.get('msg-301')?.proposals).toEqual(['p1', 'p2'])
    expect(fold.get('reason-123')?.proposals).toEqual(['p3'])
  })
})

describe('the answer for a context', () => {
  const trigger = chat('user', 'Should we deploy?', { id: 'msg-200' })
  const sides = ['security-agent', 'perf-agent']
  const log: Fields[] = [
    trigger,
    ...sides.map((agent, index) => start(agent, '', { id: `msg-20${index + 1}`, correlationId: 'msg-200' })),
    ...sides.map((agent, index) => conclusion(agent, '', { context: `msg-20${index + 1}` })),
    ...sides.map((agent, index) => chat(agent, 'No.', { id: `msg-21${index}`, correlationId: 'msg-200' })),
    chat('perf-agent', 'Really.', { correlationId: 'msg-200' }),
  ]

  test('is the one that the protocol finds in the whole log', () => {
    const { fold } = view(log)
    const envelopes: Envelope[] = toLog(log)
    for (const context of ['msg-201', 'msg-202', 'msg-202/deeper', 'msg-200', 'nothing']) {
      expect(fold.answerFor(context)?.id).toBe(answerFor(context, envelopes)?.id)
    }
    expect(fold.answerFor('msg-202')?.id).toBe('msg-211')
  })

  test('may answer the run itself, or a free path by its name', () => {
    const byStart = [...nested, chat('agent', 'Fine.', { id: 'a', correlationId: 'msg-301' })]
    expect(view(byStart).fold.answerFor('msg-301/msg-302')?.id).toBe('a')
    const byPath = [
      thought('agent', '…', { context: 'reason-123' }),
      chat('agent', 'I recommend NOT deploying', { id: 'a', correlationId: 'reason-123' }),
    ]
    expect(view(byPath).fold.answerFor('reason-123')?.id).toBe('a')
  })
})

test('a welcome tells those who come later what is open', () => {
  const fold = createContextFold()
  const { seq: _, ...welcome } = toLog([
    {
      kind: 'system.welcome',
      from: 'system:gateway',
      payload: {
        contexts: [
          {
            context: 'r',
            owner: 'agent',
            state: 'open',
            reasoningVisible: false,
            startedAt: '2026-02-21T09:00:00.000Z',
          },
        ],
      },
    },
  ])[0] as Envelope
  expect(fold.apply(welcome).contexts).toMatchObject([
    { context: 'r', owner: 'agent', state: 'open', reasoningVisible: false },
  ])
  for (const envelope of toLog([conclusion('agent', 'Done', { context: 'r' })])) fold.apply(envelope)
  expect(fold.get('r')).toMatchObject({ state: 'concluded', duration: 3_600_000 })
  expect(fold.seq).toBe(1)
})
