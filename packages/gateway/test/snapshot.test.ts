import type { EnvelopeLog } from '@meup/gateway'
import { type Capability, type Envelope, GATEWAY, Kind, StepBudget } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../../../test/support/soak.js'
import { replayFromCheckpoint, replayLog } from '../src/core/replay.js'
import { SpaceState } from '../src/core/state/state.js'
import { silent } from '../src/ports/logger.js'
import { controlMoves } from './control-moves.js'
import { logOf, textOf } from './replayed-log.js'
import { tokenOf, trustMoves } from './trust-moves.js'

type Fields = Pick<Envelope, 'from' | 'kind'> & Partial<Envelope>

const names = ['ana', 'ben', 'cleo', 'guest-1']
const sessions = ['s1', 's2']
const capabilities: Capability[][] = [
  ['*'],
  ['chat', 'reasoning.*'],
  [],
  [{ kind: 'mcp.request', to: ['ana', '!ben'] }],
]

/** Time of the first envelope, and milliseconds between two envelopes. */
const begin = Date.parse('2026-01-02T03:04:05.678Z')
const everyMs = 700
/** An RFC 3339 time, this number of seconds after `begin`. */
const at = (seconds: number): string => new Date(begin + seconds * 1000).toISOString()

const from = fc.constantFrom(...names)
const to = fc.option(fc.subarray(names, { minLength: 1 }), { nil: undefined })
/** Chooses among the candidates that exist when the envelope is created (by remainder). */
const choice = fc.nat(50)

const configured = fc.record({
  participants: fc.subarray(names.slice(0, 3)),
  kind: fc.constantFrom('agent', 'agent', 'agent', 'human'),
  rights: fc.constantFrom(...capabilities),
  guest: fc.option(fc.constantFrom(...capabilities), { nil: undefined }),
  visibility: fc.constantFrom('everyone', 'addressees'),
})
const moves = {
  configured: configured.map(({ participants, kind, rights, guest, visibility }) => ({
    from: GATEWAY,
    kind: Kind.systemSpace,
    payload: {
      event: 'configured',
      participants: Object.fromEntries(participants.map((id) => [id, { kind, capabilities: rights }])),
      ...(guest && { guest: { capabilities: guest } }),
      mcp: { visibility },
    },
  })),
  presence: fc
    .record({
      event: fc.constantFrom('join', 'leave', 'update'),
      id: from,
      rights: fc.constantFrom(...capabilities),
      issuedAt: fc.constantFrom(undefined, undefined, undefined, 1, 2, 3),
      program: fc.constantFrom(
        undefined,
        undefined,
        null,
        { state: 'resting', count: 10 },
        { state: 'running' },
      ),
      session: fc.option(
        fc.record({ id: fc.constantFrom(...sessions), event: fc.constantFrom('begun', 'ended', 'replaced') }),
        { nil: undefined },
      ),
    })
    .map(({ event, id, rights, issuedAt, program, session }) => {
      const isUpdate = event === 'update'
      if (isUpdate && session !== undefined) {
        return { from: GATEWAY, kind: Kind.systemPresence, payload: { event, participant: { id }, session } }
      }
      if (isUpdate && program !== undefined) {
        return { from: GATEWAY, kind: Kind.systemPresence, payload: { event, participant: { id }, program } }
      }
      const vouched = issuedAt && isUpdate && { vouched: { issuedAt, capabilities: rights } }
      const payload = { event, participant: { id, capabilities: rights }, ...vouched }
      return { from: GATEWAY, kind: Kind.systemPresence, payload }
    }),
  start: fc.record(
    { from, to, kind: fc.constant(Kind.reasoningStart), session: fc.constantFrom(...sessions) },
    { requiredKeys: ['from', 'to', 'kind'] },
  ),
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
  ...controlMoves({ names, at }),
  ...trustMoves({ names, capabilities, at }),
}
/** Drawn more often: what later envelopes refer to (chat, grant, start), and what replaces an earlier state (configured, visibility). */
const weights: Partial<Record<string, number>> = { configured: 3, chat: 6, grant: 6, start: 2, visibility: 3 }
const move = fc.oneof(
  ...Object.entries(moves).map(([name, each]) => ({
    weight: weights[name] ?? 1,
    arbitrary: fc.tuple(each as fc.Arbitrary<Fields>, choice, choice),
  })),
)

/** Adds ids, times, contexts and correlations; most of them refer to earlier envelopes. */
function toLog(made: readonly (readonly [Fields, number, number])[]): Envelope[] {
  const paths: (string | undefined)[] = [undefined, 'free', 'free/path']
  const [asked, proposed, said, given] = [['nothing'], ['nothing'], ['nothing'], ['nothing']]
  const answerable: Partial<Record<string, string[]>> = {
    [Kind.mcpResponse]: asked,
    [Kind.mcpRequest]: proposed,
    [Kind.mcpWithdraw]: proposed,
    [Kind.mcpReject]: proposed,
    [Kind.chat]: said,
    [Kind.capabilityGrantAck]: given,
  }
  return made.map(([fields, one, other], index) => {
    const id = `e${index + 1}`
    const isInContext = fields.from !== GATEWAY || fields.kind === Kind.reasoningCancel
    const context = isInContext ? paths[one % paths.length] : undefined
    const candidates = answerable[fields.kind] ?? []
    const answered = candidates[other % candidates.length]
    if (fields.kind === Kind.reasoningStart) paths.push(context === undefined ? id : `${context}/${id}`)
    if (fields.kind === Kind.mcpRequest) asked.push(id)
    if (fields.kind === Kind.mcpProposal) proposed.push(id)
    if (fields.kind === Kind.chat) said.push(id)
    if (fields.kind === Kind.capabilityGrant || fields.kind === Kind.spaceInvite) given.push(id)
    const isOfGrant = fields.kind === Kind.capabilityRevoke && fields.payload?.capabilities === undefined
    const grantId = isOfGrant ? given[other % given.length] : undefined
    const shown = fields.kind === Kind.observeVisibility && { context: paths[other % paths.length] ?? 'e1' }
    return {
      protocol: 'meup/v0.3',
      id,
      ts: new Date(begin + index * everyMs).toISOString(),
      payload: {},
      ...fields,
      ...(context !== undefined && { context }),
      ...(answered !== undefined && { correlationId: answered }),
      ...(grantId !== undefined && { payload: { ...fields.payload, grantId } }),
      ...(shown && { payload: { ...fields.payload, ...shown } }),
    }
  })
}

const noBytes = new Uint8Array()

/** Results of all queries by which the gateway reads a state. */
const answersOf = (state: SpaceState, ids: readonly string[]) => ({
  ...membership(state, ids),
  ...control(state, ids),
  ...given(state, ids),
})

const membership = (
  { participants, programs, contexts, calls, configured }: SpaceState,
  ids: readonly string[],
) => ({
  participants: participants.list(),
  present: participants.present(),
  allowed: names.map((id) =>
    participants.allows(id, { kind: 'chat', to: [], payload: {} }, new StepBudget()),
  ),
  contexts: names.map((participant) =>
    contexts.report({ participant, readsTargeted: false, readsRefusals: false }),
  ),
  open: contexts.open(),
  left: names.map((owner) => contexts.of(owner)),
  living: [...programs.living()],
  replaced: names.flatMap((id) => sessions.map((session) => programs.isReplaced(id, session))),
  contested: names.map((id) => programs.countReplaced(id, begin)),
  waiting: names.map((id) => calls.waitingFor(id)),
  hidden: ids.map((id) => contexts.getRun(`${id}/below`)),
  requests: ids.map((id) => {
    const { from, to, answeredBy } = calls.request(id) ?? {}
    return { from, to, answeredBy }
  }),
  configured,
})

const times = [0, 5000, 20_000, 60_000].map((after) => begin + after)

const control = ({ pauses, calls, hops }: SpaceState, ids: readonly string[]) => ({
  pauses: times.map((now) => names.map((name) => pauses.get(name, now))),
  proposals: times.map((now) =>
    ids.map((id) => {
      const { from, method, session, data, expiresAt, usesLeft, rejectedBy } = calls.proposal(id, now) ?? {}
      return { from, method, session, data, expiresAt, usesLeft, rejectedBy }
    }),
  ),
  hops: names.flatMap((from) => [
    hops.of({ from, to: names, payload: {} }),
    ...ids.map((correlationId) => hops.of({ from, correlationId, payload: {} })),
  ]),
})

const given = ({ trust, participants }: SpaceState, ids: readonly string[]) => ({
  grants: ids.map((id) => trust.grants.get(id)),
  invited: names.map((name) => trust.invitations.get(name)),
  tokens: names.map((name) => trust.invitations.find(tokenOf(name))),
  kicks: names.map((name) => trust.kicks.get(name)),
  own: names.map((name) => [participants.configured(name), participants.granted(name)]),
  targeted: names.map((name) => participants.readRights(name)),
  untold: trust.untold(),
  soonest: trust.soonest,
})

describe('a state from a snapshot', () => {
  test('and the rest of the log is the state of the whole log, wherever it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(move, { minLength: 2, maxLength: 60, size: 'max' }),
        choice,
        choice,
        async (made, a, b) => {
          const envelopes = toLog(made)
          const whole = await replayLog(await logOf(envelopes))
          const log = await logOf(envelopes)
          const cuts = [a, b].map((cut) => 1 + (cut % (envelopes.length - 1))).sort((x, y) => x - y)
          for (const cut of new Set(cuts)) await log.prune(cut, (await replayLog(log, cut)).toSnapshot())
          const resumed = await replayLog(log)
          expect(textOf(resumed)).toBe(textOf(whole))
          const ids = envelopes.map(({ id }) => id)
          expect(answersOf(resumed, ids)).toEqual(answersOf(whole, ids))
          const other = await logOf(envelopes)
          const through = 1 + (b % envelopes.length)
          const bytes = (await replayLog(other, through)).toSnapshot()
          await other.keep({ through, format: SpaceState.format, bytes })
          const taken = await replayFromCheckpoint(other, 'main', silent)
          expect(textOf(taken)).toBe(textOf(whole))
          expect(answersOf(taken, ids)).toEqual(answersOf(whole, ids))
        },
      ),
      { numRuns: isSoak ? 3000 : 25 },
    )
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
    expect(() => SpaceState.from(Buffer.from(newer))).toThrow(
      expect.objectContaining({ code: 'format', details: expect.objectContaining({ format: 1000 }) }),
    )
  })
})

test('a log with a hole is not replayed', async () => {
  const log = await logOf(toLog(Array(5).fill([{ from: 'ana', kind: 'chat' }, 0, 0])))
  const holey: EnvelopeLog = { ...log, read: async (query) => (await log.read(query)).slice(1) }
  await expect(replayLog(holey)).rejects.toThrow(/row 1 of the log is missing/)
})
