import { type EnvelopeLog, memoryStore } from '@meup/gateway'
import { type Capability, type Envelope, GATEWAY, Kind } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { replay } from '../src/space/replay.js'
import { SpaceState } from '../src/space/state.js'

type Fields = Pick<Envelope, 'from' | 'kind'> & Partial<Envelope>

const names = ['ana', 'ben', 'cleo', 'guest-1']
const capabilities: Capability[][] = [
  ['*'],
  ['chat', 'reasoning.*'],
  [],
  [{ kind: 'mcp.request', to: ['ana', '!ben'] }],
]

const from = fc.constantFrom(...names)
const to = fc.option(fc.subarray(names, { minLength: 1 }), { nil: undefined })
/** Picks one of what is there when the envelope is made. */
const choice = fc.nat(50)

const configured = fc.record({
  participants: fc.subarray(names.slice(0, 3)),
  rights: fc.constantFrom(...capabilities),
  guest: fc.option(fc.constantFrom(...capabilities), { nil: undefined }),
  visibility: fc.constantFrom('everyone', 'addressees'),
})
const moves = {
  configured: configured.map(({ participants, rights, guest, visibility }) => ({
    from: GATEWAY,
    kind: Kind.systemSpace,
    payload: {
      event: 'configured',
      participants: Object.fromEntries(
        participants.map((id) => [id, { kind: 'agent', capabilities: rights }]),
      ),
      ...(guest && { guest: { capabilities: guest } }),
      mcp: { visibility },
    },
  })),
  presence: fc
    .record({
      event: fc.constantFrom('join', 'leave', 'update'),
      id: from,
      rights: fc.constantFrom(...capabilities),
    })
    .map(({ event, id, rights }) => ({
      from: GATEWAY,
      kind: Kind.systemPresence,
      payload: { event, participant: { id, capabilities: rights } },
    })),
  start: fc.record({ from, to, kind: fc.constant(Kind.reasoningStart) }),
  thought: fc.record({
    from,
    to,
    kind: fc.constantFrom('reasoning.thought', 'reasoning.x', 'chat', 'acme.thing'),
  }),
  end: fc.record({
    from: fc.constantFrom(...names, GATEWAY),
    kind: fc.constantFrom(Kind.reasoningConclusion, Kind.reasoningCancel),
  }),
  request: fc.record({
    from,
    to,
    kind: fc.constant(Kind.mcpRequest),
    payload: fc.constantFrom({ method: 'x' }, { method: 'notifications/y' }),
  }),
  response: fc.record({ from, kind: fc.constant(Kind.mcpResponse) }),
}
const move = fc.oneof(
  ...Object.values(moves).map((each) => fc.tuple(each as fc.Arbitrary<Fields>, choice, choice)),
)

/** Fills in contexts and correlations, mostly ones that mean something. */
function toLog(made: readonly (readonly [Fields, number, number])[]): Envelope[] {
  const paths: (string | undefined)[] = [undefined, 'free', 'free/path']
  const asked: string[] = ['nothing']
  return made.map(([fields, one, other], index) => {
    const id = `e${index + 1}`
    const isInContext = fields.from !== GATEWAY || fields.kind === Kind.reasoningCancel
    const context = isInContext ? paths[one % paths.length] : undefined
    const answered = fields.kind === Kind.mcpResponse ? asked[other % asked.length] : undefined
    if (fields.kind === Kind.reasoningStart) paths.push(context === undefined ? id : `${context}/${id}`)
    if (fields.kind === Kind.mcpRequest) asked.push(id)
    return {
      protocol: 'meup/v0.3',
      id,
      ts: '2026-01-02T03:04:05.678Z',
      payload: {},
      ...fields,
      ...(context !== undefined && { context }),
      ...(answered !== undefined && { correlationId: answered }),
    }
  })
}

async function logOf(envelopes: readonly Envelope[]) {
  const log = await memoryStore().open('main')
  await log.append(
    envelopes.map((envelope, index) => {
      const { id, ts, from, kind } = envelope
      const body = Buffer.from(JSON.stringify(envelope))
      return { seq: index + 1, id, ts, from, kind, body, content: body }
    }),
  )
  return log
}

const noBytes = new Uint8Array()

const textOf = (state: SpaceState): string => Buffer.from(state.toSnapshot()).toString()

/** What the gateway asks a state. */
const answersOf = ({ participants, contexts, requests, configured }: SpaceState, ids: readonly string[]) => ({
  participants: participants.list(),
  present: participants.present(),
  allowed: names.map((id) => participants.allows(id, { kind: 'chat', to: [], payload: {} })),
  contexts: names.map((participant) => contexts.report({ participant, readsTargeted: false })),
  open: contexts.open(),
  left: names.map((owner) => contexts.leftOpenBy(owner)),
  requests: ids.map((id) => names.map((name) => requests.refusal(id, name))),
  configured,
})

describe('a state from a snapshot', () => {
  test('and the rest of the log is the state of the whole log, wherever it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(move, { minLength: 2, maxLength: 60 }),
        choice,
        choice,
        async (made, a, b) => {
          const envelopes = toLog(made)
          const whole = await replay(await logOf(envelopes))
          const log = await logOf(envelopes)
          const cuts = [a, b].map((cut) => 1 + (cut % (envelopes.length - 1))).sort((x, y) => x - y)
          for (const cut of new Set(cuts)) await log.prune(cut, (await replay(log, cut)).toSnapshot())
          const resumed = await replay(log)
          expect(textOf(resumed)).toBe(textOf(whole))
          const ids = envelopes.map(({ id }) => id)
          expect(answersOf(resumed, ids)).toEqual(answersOf(whole, ids))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('goes on forgetting where the whole log would', async () => {
    const many = 10_400
    const made = Array.from({ length: many }, (_, i): Envelope[] => {
      const common = {
        protocol: 'meup/v0.3' as const,
        ts: '2026-01-02T03:04:05.678Z',
        from: 'ana',
        payload: {},
      }
      return [
        { ...common, id: `run${i}`, kind: Kind.reasoningStart },
        { ...common, id: `ask${i}`, kind: Kind.mcpRequest, to: ['ben'] },
        { ...common, id: `end${i}`, kind: Kind.reasoningConclusion, context: `run${i}` },
      ]
    }).flat()
    const log = await logOf(made)
    const whole = await replay(log)
    await log.prune(30_500, (await replay(log, 30_500)).toSnapshot())
    const resumed = await replay(log)
    expect(textOf(resumed)).toBe(textOf(whole))
    expect(resumed.contexts.get('run0')).toBeUndefined()
    expect(resumed.contexts.get(`run${many - 1}`)).toMatchObject({ state: 'concluded' })
    expect(resumed.requests.refusal('ask0', 'ben')).toBe('unknown')
    expect(resumed.requests.refusal(`ask${many - 1}`, 'ben')).toBeUndefined()
  })

  test('shares nothing with the state that it was taken from', () => {
    const state = new SpaceState()
    const common = {
      protocol: 'meup/v0.3' as const,
      ts: '2026-01-02T03:04:05.678Z',
      from: 'ana',
      payload: {},
    }
    state.apply({ ...common, id: 'run', kind: Kind.reasoningStart }, noBytes)
    const copy = SpaceState.from(state.toSnapshot())
    state.apply({ ...common, id: 'end', kind: Kind.reasoningConclusion, context: 'run' }, noBytes)
    expect(state.contexts.get('run')?.state).toBe('concluded')
    expect(copy.contexts.get('run')?.state).toBe('open')
  })

  test('of a format that is not known is refused, with advice', () => {
    const newer = JSON.stringify({ ...JSON.parse(textOf(new SpaceState())), version: 1000 })
    expect(() => SpaceState.from(Buffer.from(newer))).toThrow(/format 1000.*newer gateway/)
  })
})

test('a log with a hole is not replayed', async () => {
  const log = await logOf(toLog(Array(5).fill([{ from: 'ana', kind: 'chat' }, 0, 0])))
  const holey: EnvelopeLog = { ...log, read: async (query) => (await log.read(query)).slice(1) }
  await expect(replay(holey)).rejects.toThrow(/row 1 of the log is missing/)
})
