import { GUEST, imitatedBy, Kind, omitUndefined, resolveSelf } from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import { nanoid } from 'nanoid'
import { replacedRefusal } from '../core/admission/identity.js'
import type { Visitor } from '../core/delivery/session.js'
import { type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import type { Space } from '../core/space.js'
import { explainKick } from '../core/state/trust/trust.js'
import type { Authenticator, Identity } from '../ports/authenticator.js'
import type { Logger } from '../ports/logger.js'

/** The position from which a client resumes [MEUP-5.2]. */
export interface Resume {
  readonly after?: number
  readonly epoch?: string
  readonly tail?: number
  /**
   * Number of events that the client has received after the envelope at `after`, with the same seq: one per batch of calls that
   * the envelope ended. Absent = all of them.
   */
  readonly received?: number
}

/**
 * Why a position is invalid: a seq belongs to one log, and without an epoch it could be mistaken for that seq of another log
 * [MEUP-5.2].
 */
export function checkResume({
  after = 0,
  epoch,
}: {
  readonly after?: number | undefined
  readonly epoch?: string | undefined
}): Refusal | undefined {
  if (after === 0 || epoch !== undefined) return undefined
  return refuse('invalid_request', texts.missingEpoch)
}

/** The part of a request that is checked before authentication. */
interface RequestOrigin {
  readonly query: URLSearchParams
  /** The `Origin` header, which only browsers send. */
  readonly origin: string | undefined
  readonly host: string | undefined
}

/** Refuses a token in the URL, and a page of another origin, even on loopback [MEUP-5.9, 5.10]. */
export function inspect(
  { query, origin, host }: RequestOrigin,
  origins: readonly string[],
): Refusal | undefined {
  if (query.has('token') || query.has('access_token')) return refuse('invalid_request', texts.tokenInUrl)
  if (origin === undefined || origins.includes(origin) || isOwn(origin, host)) return undefined
  return refuse('forbidden', texts.unknownOrigin, { origin })
}

/** Whether the page has the host of the request. The schemes may differ behind a TLS proxy. */
function isOwn(origin: string, host = ''): boolean {
  const isPlain = /^https?:\/\/[^/?#@]+$/i.test(origin) && URL.canParse(origin)
  return isPlain && new URL(origin).host === host.toLowerCase()
}

interface Credentials {
  readonly token?: string
  readonly remote: string
  /** The program that the connection belongs to [MEUP-2.14]. */
  readonly session?: string
}

/** Authenticates a token, or admits a guest if the space allows guests. */
export async function identify(
  space: Space,
  { token, remote, session }: Credentials,
  authenticator: Authenticator,
): Promise<Visitor | Refusal> {
  const program = session === undefined ? {} : { session }
  if (token === undefined) {
    if (space.config.guest === undefined) return refuse('unauthorized', texts.missingToken)
    return {
      participant: `${GUEST}${nanoid()}`,
      ...program,
      rateLimitKey: `guest ${remote}`,
      get capabilities() {
        return space.config.guest?.capabilities ?? []
      },
      isWelcome: () => space.config.guest !== undefined,
    }
  }
  const known = await authenticator.authenticate(space.config.name, token)
  space.advance()
  const identity = known ?? invited(space, token)
  const { stopped } = space
  const imitated = identity && imitatedMember(identity, space)
  if (imitated !== undefined) return refuse('forbidden', texts.imitatingToken, { other: imitated })
  if (identity !== undefined && stopped === undefined) await recordMembership(identity, space)
  if (identity === undefined || !space.state.participants.has(identity.participant)) {
    return identity?.membership && stopped !== undefined
      ? refuse('unavailable', texts.stopped, { reason: stopped })
      : refuse('unauthorized', texts.invalidToken, { space: space.config.name })
  }
  const { participant, expiresAt } = identity
  const kick = space.state.trust.kicks.get(participant)
  if (kick !== undefined) return refuse('forbidden', explainKick(kick))
  return {
    participant,
    ...program,
    rateLimitKey: participant,
    get capabilities() {
      return space.state.participants.capabilities(participant)
    },
    ...omitUndefined({ expiresAt }),
    isWelcome: () =>
      (identity.isCurrent?.() ?? true) &&
      (expiresAt === undefined || space.clock.now() < expiresAt) &&
      space.state.participants.has(participant),
  }
}

/**
 * Whether a token admits its holder to a space, as far as can be known without entering it; without a token, whether guests may
 * enter.
 */
export async function opens(
  space: Space,
  token: string | undefined,
  authenticator: Authenticator,
): Promise<boolean> {
  if (token === undefined) return space.config.guest !== undefined
  const known = await authenticator.authenticate(space.config.name, token)
  const identity = known ?? invited(space, token)
  if (identity === undefined) return false
  const { participant, membership } = identity
  const { participants, trust } = space.state
  if (imitatedMember(identity, space) !== undefined) return false
  return (
    (participants.has(participant) || membership !== undefined) && trust.kicks.get(participant) === undefined
  )
}

/**
 * The participant whose name the holder of an issuer's token would imitate. Only checked for holders that the space does not
 * know yet.
 */
function imitatedMember({ participant, membership }: Identity, space: Space): string | undefined {
  const { participants } = space.state
  if (membership === undefined || participants.has(participant)) return undefined
  return imitatedBy(participant, participants.ids())
}

/** The identity that the token of an open invitation gives its holder. */
function invited(space: Space, token: string): Identity | undefined {
  const invitation = space.state.trust.invitations.find(token)
  if (invitation === undefined) return undefined
  const { participant, id } = invitation
  return { participant, isCurrent: () => space.state.trust.invitations.get(participant)?.id === id }
}

/** Maximum number of connections of all guests of one address together. */
const maxGuestConnections = 32
/** Milliseconds after which to retry when all connections are in use. */
const retryConnectionMs = 1000

/** Why a visitor has reached its limit of connections; `undefined` = it has not [MEUP-5.11, 5.13]. */
export function checkConnectionLimit(
  { participant, rateLimitKey }: Pick<Visitor, 'participant' | 'rateLimitKey'>,
  space: Space,
): string | undefined {
  const maximum =
    rateLimitKey === participant ? space.config.limits.connectionsPerParticipant : maxGuestConnections
  let connections = 0
  for (const session of space.sessions) if (session.rateLimitKey === rateLimitKey) connections++
  return connections < maximum
    ? undefined
    : fillIn(texts.manyConnections, { account: rateLimitKey, connections: maximum })
}

/** Why a visitor may not open another connection. Counts against the rate of class `control` [MEUP-5.5, 5.13, 5.19]. */
export function checkConnection(visitor: Visitor, space: Space): Refusal | undefined {
  const { participant, session } = visitor
  if (session !== undefined && space.state.programs.isReplaced(participant, session))
    return replacedRefusal(participant)
  const reason = checkConnectionLimit(visitor, space)
  if (reason !== undefined) return refuse('rate_limited', reason, {}, { retryAfterMs: retryConnectionMs })
  return consumeControlToken(visitor, space, 'joins')
}

/** Counts a request against the rate of class `control` of a visitor; returns a refusal if it exceeds that. */
export function consumeControlToken(
  { rateLimitKey }: Pick<Visitor, 'rateLimitKey'>,
  space: Space,
  what: string,
): Refusal | undefined {
  const retryAfterMs = space.rates.take(rateLimitKey, 'control', 1, space.clock.now())
  if (retryAfterMs === 0) return undefined
  return refuse('rate_limited', texts.tooMany, { what, ms: retryAfterMs }, { retryAfterMs })
}

/** The token of an `Authorization: Bearer` header. */
export const readBearerToken = (header: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]

/**
 * Logs a participant that joined with an issuer's token, and capability changes from newer tokens [MEUP-5.15]. Skips configured
 * and kicked participants. Rejects if the log takes nothing.
 */
async function recordMembership({ participant: id, membership }: Identity, space: Space): Promise<void> {
  const { participants, trust } = space.state
  const isConfigured = participants.isNamed(id) && !trust.members.has(id)
  if (membership === undefined || isConfigured || trust.kicks.get(id) !== undefined) return
  const { issuedAt, capabilities: given = space.config.defaults.capabilities } = membership
  const capabilities = resolveSelf(given, id, space.config.participants)
  const known = trust.members.issuedAt(id)
  const isNewer =
    known !== undefined && issuedAt > known && !isSame(capabilities, participants.configured(id))
  if (known !== undefined && !isNewer) return
  const participant = { id, capabilities: [...capabilities, ...participants.granted(id)] }
  const payload = { event: 'update', participant, vouched: { issuedAt, capabilities } }
  const said = { kind: Kind.systemPresence, payload }
  if (space.isFollower && space.elsewhere) await space.committed(await space.elsewhere.emit(said))
  else space.emit(said)
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Maximum failed authentications per address, and the milliseconds for which they count, from the first one on. */
const [allowed, windowMs] = [10, 60_000]
/** Addresses with counts of their own; all others share one count. */
const maxAddresses = 10_000
const others = 'others'

/** Counts failed authentications by address. A valid token is never limited by this. */
export class FailedLogins {
  /** Failed authentications since the gateway started. */
  count = 0
  readonly #logger: Logger
  /** Failures and the end of their window by address; the oldest first. */
  readonly #windows = new Map<string, { failures: number; readonly until: number }>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Counts one failure. Returns the response: the refusal, or 429 after too many failures of the address. */
  add(address: string, refusal: Refusal): Refusal {
    this.count++
    const now = Date.now()
    for (const [known, { until }] of this.#windows) {
      if (until > now) break
      this.#windows.delete(known)
    }
    const isOwn = this.#windows.has(address) || this.#windows.size < maxAddresses
    const remote = isOwn ? address : others
    const window = this.#windows.get(remote) ?? { failures: 0, until: now + windowMs }
    this.#windows.set(remote, window)
    window.failures++
    if (window.failures <= allowed) return refusal
    const retryAfterMs = window.until - now
    if (window.failures === allowed + 1) {
      this.#logger.warn({ remote, retryAfterMs }, 'an address fails to authenticate again and again')
    }
    const seconds = Math.ceil(retryAfterMs / 1000)
    const values = { message: refusal.message, failures: allowed, seconds }
    return refuse('rate_limited', texts.failedLogins, values, { retryAfterMs })
  }
}
