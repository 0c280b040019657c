import { type Envelope, GATEWAY } from '@meup/protocol'
import fc from 'fast-check'
import type { Fields } from './log.js'

const names = ['ana', 'ben', 'user', 'tools']
/** A number that picks one of the contexts or ids known at that point of the log, modulo their count. */
const choice = fc.nat(30)
const name = fc.constantFrom(...names)
const text = fc.constantFrom(
  '',
  ' ',
  'so be it',
  '1. a\n2. b',
  '[計画] x [エラー] y',
  'it failed',
  'plan:\n- a',
)
const tool = fc.constantFrom('search', 'shell', 'deploy')

interface Move {
  readonly kind: string
  readonly from: string
  readonly payload: Envelope['payload']
  readonly to?: string[]
  readonly rationale?: string
  readonly parallelGroup?: number
}

const say = (...kinds: string[]) =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    from: name,
    payload: fc.record({
      message: text,
      metadata: fc.constantFrom({}, { withheld: true }, { cancelled: true }),
      phase: fc.constantFrom(undefined, undefined, 'plan', 'error'),
      reason: fc.constantFrom('abandoned', 'enough'),
      references: fc.constantFrom([], ['e1', 'x']),
    }),
  })

const ask = fc.record(
  {
    kind: fc.constantFrom('mcp.request', 'mcp.request', 'mcp.request', 'mcp.proposal'),
    from: name,
    to: fc.subarray(names, { minLength: 1 }),
    rationale: text,
    parallelGroup: fc.nat(2),
    payload: fc.record({
      method: fc.constantFrom('tools/call', 'tools/call', 'resources/read', 'notifications/progress'),
      params: fc.record({ name: tool, arguments: fc.constantFrom({}, { token: 'abc' }, { a: [1, 2] }) }),
      expiresAt: fc.constantFrom(undefined, '2026-02-21T10:00:20.000Z'),
      uses: fc.constantFrom(1, 2),
      id: fc.constantFrom(undefined, 1, 2),
    }),
  },
  { requiredKeys: ['kind', 'from', 'payload'] },
)

const reply = fc.record({
  kind: fc.constantFrom('mcp.response', 'mcp.response', 'mcp.response', 'mcp.reject', 'mcp.withdraw'),
  from: name,
  payload: fc.constantFrom(
    { result: { content: [{ type: 'text', text: 'ok' }] } },
    { result: { content: [], isError: true } },
    { error: { code: 1, message: 'no' } },
    { reason: 'no' },
  ),
})

const fromGateway = fc.record({
  kind: fc.constant('system.decision'),
  from: fc.constant(GATEWAY),
  to: name.map((id) => [id]),
  payload: fc.record({
    decision: fc.constantFrom('denied', 'limited', 'review'),
    reasonCode: fc.constant('forbidden'),
    message: fc.constant('no'),
    attemptedKind: fc.constantFrom('mcp.request', 'reasoning.thought'),
    attemptedTool: tool,
    count: fc.constant(1),
  }),
})

const takeBack = fc.constant({ method: 'notifications/cancelled' })
const cancellation = fc.record({ kind: fc.constant('mcp.request'), from: name, payload: takeBack })

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: say('chat', 'chat', 'chat.cancel', 'chat.acknowledge') },
  {
    weight: 5,
    arbitrary: say('reasoning.start', 'reasoning.thought', 'reasoning.thought', 'reasoning.hypothesis'),
  },
  { weight: 2, arbitrary: say('reasoning.conclusion', 'reasoning.cancel') },
  { weight: 6, arbitrary: ask },
  { weight: 6, arbitrary: reply },
  { weight: 1, arbitrary: fromGateway },
  { weight: 1, arbitrary: cancellation },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('observe.visibility'), from: name, payload: fc.constant({}) }),
  },
)

/** Adds contexts, correlations and ids that mostly refer to earlier envelopes. */
function connect(moves: readonly (readonly [Move, number, number])[]): Fields[] {
  const paths: (string | undefined)[] = [undefined, 'free', 'free/path', 'other']
  const ids: string[] = []
  return moves.map(([{ payload, ...fields }, one, other], index) => {
    const id = `e${index + 1}`
    const context = paths[one % paths.length]
    const recent = ids.slice(-8)
    const correlationId = other % 4 === 0 ? undefined : recent[other % (recent.length || 1)]
    if (fields.kind === 'reasoning.start') paths.push(context === undefined ? id : `${context}/${id}`)
    ids.push(id)
    const isGateway = fields.from === GATEWAY
    const place = {
      ...payload,
      ...(context !== undefined && { context }),
      ...(other % 3 === 0 && correlationId !== undefined && { attemptedCorrelation: correlationId }),
      ...(one % 3 === 0 && { attemptedId: `e${index + 2}` }),
    }
    const requestId = one % 3 === 0 ? 1 + (other % 2) : (correlationId ?? 'nothing')
    const cancelled = { ...payload, params: { requestId } }
    const another = recent[one % (recent.length || 1)]
    const answers = one % 5 === 0 && another !== undefined && another !== correlationId
    return {
      ...fields,
      id,
      payload: payload.method === 'notifications/cancelled' ? cancelled : isGateway ? place : payload,
      ...(context !== undefined && !isGateway && { context }),
      ...(correlationId !== undefined && {
        correlationId: answers ? [correlationId, another] : correlationId,
      }),
    }
  })
}

/** Random logs with most kinds of envelopes, in any order, even a senseless one. */
export const randomLog = (maxLength: number): fc.Arbitrary<Fields[]> =>
  fc.array(fc.tuple(move, choice, choice), { minLength: 1, maxLength }).map(connect)
