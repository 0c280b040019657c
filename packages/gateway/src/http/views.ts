import { stringifyExact } from '@meup/protocol'
import type { Context } from 'hono'
import type { LogReader } from '../core/delivery/log-reads.js'
import type { Reader } from '../core/may-read.js'
import { isRefusal, type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import type { Space } from '../core/space.js'
import type { Caller } from '../host/gateway.js'
import type { TurnIndex } from '../index/turn-index.js'
import type { ParsedQuery } from './parameters.js'
import { type HttpOptions, readConnectRequest } from './route.js'

/** Milliseconds that a request waits until the index has caught up with the log. */
const indexTimeoutMs = 2000

/**
 * Reads turns or steps once the index has everything delivered by the time of the request, so that a client finds its
 * acknowledged envelopes.
 */
export async function readView<Answer>(
  { space, turns: { indexer } }: Caller,
  { logger }: HttpOptions,
  read: (index: TurnIndex, head: number) => Promise<Answer>,
): Promise<Answer | Refusal> {
  const head = space.delivered
  let cancel = (): void => {}
  const late = new Promise<undefined>((resolve) => {
    cancel = space.clock.after(indexTimeoutMs, () => resolve(undefined))
  })
  let index: TurnIndex | undefined
  try {
    index = await Promise.race([indexer.reach(head), late])
    if (index !== undefined) return await read(index, head)
    const values = { seq: indexer.seq, head }
    return refuse('unavailable', texts.unindexedTurns, values, { retryAfterMs: indexTimeoutMs })
  } catch (error) {
    const reason = indexer.failed(error, index)
    if (reason === undefined) throw error
    logger.warn({ err: error, space: space.config.name }, 'turns could not be read')
    return refuse('unavailable', texts.unreadableTurns, { reason: reason.replace(/\.$/, '') })
  } finally {
    cancel()
  }
}

/** Charges the caller for the size of a view, which is a response computed from the log or the state [MEUP-7.8]. */
export function chargeView(
  { space, rateLimitKey }: Pick<Caller, 'space' | 'rateLimitKey'>,
  characters: number,
): void {
  space.rates.chargeView(rateLimitKey, characters, space.clock.now())
}

/** Responds with a view as JSON, and charges for it. */
export function shown(
  visitor: Caller,
  view: object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const text = stringifyExact(view)
  chargeView(visitor, text.length)
  return new Response(text, { headers: { 'content-type': 'application/json', ...headers } })
}

/** Link header for the next page of the same query. */
export function linkToNext({ url }: Context['req'], name: 'after' | 'before', next: number): string {
  const { searchParams } = new URL(url)
  searchParams.set(name, `${next}`)
  return `<?${searchParams}>; rel="next"`
}

/** Responds with a page of a view. `next`: the `before` of the next page, if there may be one. */
export function respondPage(
  visitor: Caller,
  { req }: Context,
  page: object,
  next: number | undefined,
): Response {
  const answer = { ...page, has_more: next !== undefined }
  if (next === undefined) return shown(visitor, answer)
  return shown(visitor, { ...answer, next }, { link: linkToNext(req, 'before', next) })
}

/** Authenticates a request, and counts it toward its caller. */
export async function authenticateRequest(context: Context, options: HttpOptions): Promise<Caller | Refusal> {
  const visitor = await options.gateway.identify(readConnectRequest(context, options))
  if (isRefusal(visitor)) return visitor
  return options.traffic.know(context, visitor) ?? visitor
}

/**
 * Authenticates a request for a large response. Waits until few other responses for the caller are being created, and until its
 * debts are paid [MEUP-7.8].
 */
export async function authenticateReader(context: Context, options: HttpOptions): Promise<Caller | Refusal> {
  const visitor = await authenticateRequest(context, options)
  if (isRefusal(visitor)) return visitor
  if (!(await options.traffic.turn(context))) return gone
  if (!(await visitor.space.reads.waitForBudget(createReader(visitor, context, options)))) return gone
  // The visitor's token may have been revoked while it waited.
  return visitor.isWelcome() ? visitor : notWelcome
}

/** A reader for a visitor, which is gone when the client disconnects. */
export function createReader(
  { space, participant, rateLimitKey }: Caller,
  context: Context,
  { traffic }: HttpOptions,
): Reader & LogReader {
  return { ...space.getReader({ participant }), rateLimitKey, isGone: () => !traffic.isUnderWay(context) }
}

export const gone = refuse('unavailable', texts.disconnected)

export const notWelcome = refuse('unauthorized', texts.endedAccess)

/** Known names that an error message lists for a mistyped name. */
const maxNames = 20

/** Refuses a thread (`space/agent`) of another space, and the number of a turn without a thread. */
export function checkThread(
  { thread_id: thread, turn }: Partial<ParsedQuery<'thread_id' | 'turn'>>,
  { config }: Space,
): Refusal | undefined {
  if (thread === undefined) {
    if (turn === undefined) return undefined
    return refuse('invalid_request', texts.missingThread, { name: 'turn', space: config.name })
  }
  if (thread.startsWith(`${config.name}/`)) return undefined
  return refuse('invalid_request', texts.otherThread, { thread, space: config.name })
}

/**
 * Refuses a thread whose agent the space does not know. Call it only for a thread without turns, because an agent that has left
 * may still have turns.
 */
export function checkThreadExists(thread: string, { config, state }: Space): Refusal | undefined {
  if (state.participants.has(thread.slice(config.name.length + 1))) return undefined
  const ids = state.participants.list().map(({ id }) => id)
  const known = ids.slice(0, maxNames).join(', ') + (ids.length > maxNames ? ', …' : '')
  return refuse('not_found', texts.unknownThread, { thread, space: config.name, agents: known })
}

/** The agent of a thread, whose name is `space/agent`. */
export const getAgent = (thread: string): string => thread.slice(thread.indexOf('/') + 1)
