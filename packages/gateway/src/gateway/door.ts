import type { ErrorCode } from '@meup/protocol'
import { nanoid } from 'nanoid'
import type { Authenticator } from '../ports/authenticator.js'
import type { Visitor } from '../space/session.js'
import type { Space } from '../space/space.js'

/** What a client asks for when it connects [MEUP-5.2]. */
export interface Resume {
  readonly after?: number
  readonly epoch?: string
  readonly tail?: number
}

/** Why somebody is not let in: an HTTP status before the 101. */
export interface Denial {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  readonly retryAfterMs?: number
}

export const isDenial = (answer: object): answer is Denial => 'status' in answer

export const deny = (code: ErrorCode, status: number, message: string): Denial => ({ code, status, message })

/** What a request says before anybody asks who sent it. */
export interface Approach {
  readonly query: URLSearchParams
  /** Browsers say where a page came from; everything else does not. */
  readonly origin: string | undefined
  readonly host: string | undefined
}

/** Refuses a token in the URL, and a page from elsewhere; loopback is no exception [MEUP-5.9, 5.10]. */
export function inspect({ query, origin, host }: Approach, origins: readonly string[]): Denial | undefined {
  if (query.has('token') || query.has('access_token')) {
    return deny('invalid_request', 400, 'a token in the URL is refused: it ends up in logs; use a header')
  }
  if (origin === undefined || origins.includes(origin)) return undefined
  if (URL.canParse(origin) && new URL(origin).host === host) return undefined
  return deny('forbidden', 403, `the origin ${origin} is not allowed; add it to gateway.origins`)
}

/** Tells who asks, by token or as a guest. */
export async function identify(
  space: Space,
  token: string | undefined,
  remote: string,
  authenticator: Authenticator,
): Promise<Visitor | Denial> {
  if (token === undefined) {
    if (space.config.guest === undefined) {
      return deny('unauthorized', 401, 'a token is required; send it as Authorization: Bearer <token>')
    }
    return {
      participant: `guest-${nanoid()}`,
      payer: `guest ${remote}`,
      get capabilities() {
        return space.config.guest?.capabilities ?? []
      },
      isWelcome: () => space.config.guest !== undefined,
    }
  }
  const identity = await authenticator.authenticate(space.config.name, token)
  if (identity === undefined || !space.state.participants.has(identity.participant)) {
    return deny(
      'unauthorized',
      401,
      'the token opens nothing in this space; ask the operator for a valid one',
    )
  }
  const { participant } = identity
  return {
    participant,
    payer: participant,
    get capabilities() {
      return space.state.participants.capabilities(participant)
    },
    isWelcome: () => (identity.isCurrent?.() ?? true) && space.state.participants.has(participant),
  }
}

/** Why a visitor may not open one more connection. Costs it a `control` token [MEUP-5.5, 5.13]. */
export function turnAway({ participant, payer }: Visitor, space: Space): Denial | undefined {
  const most = space.config.limits.connectionsPerParticipant
  const connections = [...space.sessions].filter((session) => session.participant === participant)
  if (connections.length >= most) {
    return deny('rate_limited', 429, `${participant} has ${most} connections already; close one first`)
  }
  const retryAfterMs = space.rates.take(payer, 'control', 1, space.clock.now())
  if (retryAfterMs === 0) return undefined
  return { ...deny('rate_limited', 429, `too many joins; try again in ${retryAfterMs} ms`), retryAfterMs }
}

/** The token of an `Authorization: Bearer` header. */
export const bearerOf = (header: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
