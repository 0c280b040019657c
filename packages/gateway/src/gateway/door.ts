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

/** Tells who asks, by token or as a guest. */
export async function identify(
  { config, state }: Space,
  token: string | undefined,
  remote: string,
  authenticator: Authenticator,
): Promise<Visitor | Denial> {
  if (token === undefined) {
    if (config.guest === undefined) {
      return deny('unauthorized', 401, 'a token is required; send it as Authorization: Bearer <token>')
    }
    return {
      participant: `guest-${nanoid()}`,
      payer: `guest ${remote}`,
      capabilities: config.guest.capabilities,
    }
  }
  const identity = await authenticator.authenticate(config.name, token)
  if (identity === undefined || !state.participants.has(identity.participant)) {
    return deny(
      'unauthorized',
      401,
      'the token opens nothing in this space; ask the operator for a valid one',
    )
  }
  const { participant } = identity
  return { participant, payer: participant, capabilities: state.participants.capabilities(participant) }
}

/** The token of an `Authorization: Bearer` header. */
export const bearerOf = (header: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
