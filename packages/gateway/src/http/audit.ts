import { type DecisionPayload, type Envelope, Kind } from '@meup/protocol'
import type { Context } from 'hono'
import { isDenial } from '../gateway/door.js'
import { readHistory } from '../outbox/history.js'
import type { Entry } from '../ports/envelope-log.js'
import { type HttpOptions, knockOf } from './options.js'
import { readParameters } from './parameters.js'
import { denied } from './problem.js'

export const auditParameters = ['before', 'limit', 'from', 'since', 'until'] as const

interface AuditFilter {
  readonly from?: readonly string[]
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
}

/** `GET /spaces/{space}/audit`: what the gateway decided about what participants sent, newest first [MEUP-11.6]. */
export async function getAudit(context: Context, options: HttpOptions): Promise<Response> {
  const url = new URL(context.req.url)
  const asked = readParameters(url.searchParams, auditParameters)
  if (isDenial(asked)) return denied(asked)
  const visitor = await options.gateway.identify(knockOf(context, options))
  if (isDenial(visitor)) return denied(visitor)

  const { before = Number.POSITIVE_INFINITY, limit = 100 } = asked
  const { space } = visitor
  const { messages, next } = await readHistory(space.readerOf(visitor), space, {
    after: 0,
    before,
    limit,
    order: 'desc',
    filter: { kinds: [Kind.systemDecision] },
    reasoning: 'full',
    includes: (entry) => includes(entry, asked),
  })
  const decisions = messages.map(({ text }) => decisionOf(JSON.parse(decoder.decode(text)) as Envelope))
  const answer = { steps: [], decisions, has_more: next !== undefined }
  if (next === undefined) return context.json(answer)
  url.searchParams.set('before', `${next}`)
  return context.json({ ...answer, next }, 200, { link: `<?${url.searchParams}>; rel="next"` })
}

const decoder = new TextDecoder()

/** `from` is whose envelopes they were. */
function includes({ to = [], ts }: Entry, { from, since, until }: AuditFilter): boolean {
  const at = Date.parse(ts)
  return (
    (from === undefined || to.some((participant) => from.includes(participant))) &&
    (since === undefined || at >= since) &&
    (until === undefined || at < until)
  )
}

function decisionOf({ id, seq, ts, to, payload }: Envelope): Record<string, unknown> {
  const { decision, reasonCode, message, attemptedKind, attemptedTool, attemptedId, context, count } =
    payload as DecisionPayload
  return {
    id,
    seq,
    ts,
    participant: to?.[0],
    decision,
    reason_code: reasonCode,
    message,
    attempted_kind: attemptedKind,
    attempted_tool: attemptedTool,
    attempted_id: attemptedId,
    context,
    count,
  }
}
