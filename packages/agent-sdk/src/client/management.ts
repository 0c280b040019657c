import { type AnyEnvelope, type Capability, GATEWAY, Kind } from '@meup/protocol'
import type { Replies } from './requests.js'
import type { Seat } from './types.js'
import type { WaitOptions } from './wait.js'

/** Capabilities that somebody was given; it stands until it is revoked or expires, or its grantor loses them. */
export interface Grant {
  readonly id: string
  readonly recipient: string
  readonly capabilities: readonly Capability[]
  /** RFC 3339. */
  readonly expiresAt?: string
}

export interface GrantOptions {
  /** RFC 3339; without it the grant stands until it is revoked. */
  readonly expiresAt?: string
  readonly reason?: string
}

/** One grant, or every standing grant to somebody that these capabilities cover. */
export type Revocable =
  | Pick<Grant, 'id' | 'recipient'>
  | { readonly id?: never; readonly recipient: string; readonly capabilities: readonly Capability[] }

export async function grant(
  seat: Pick<Seat, 'send'>,
  recipient: string,
  capabilities: readonly Capability[],
  { expiresAt, reason }: GrantOptions,
): Promise<Grant> {
  const term = expiresAt === undefined ? {} : { expiresAt }
  const payload = { recipient, capabilities, ...term, ...(reason !== undefined && { reason }) }
  const { id } = await seat.send({ kind: Kind.capabilityGrant, payload })
  return { id, recipient, capabilities, ...term }
}

export function revoke(
  seat: Pick<Seat, 'send'>,
  what: Revocable,
  reason: string | undefined,
): Promise<AnyEnvelope> {
  const { recipient } = what
  const which = what.id === undefined ? { capabilities: what.capabilities } : { grantId: what.id }
  const payload = { recipient, ...which, ...(reason !== undefined && { reason }) }
  return seat.send({ kind: Kind.capabilityRevoke, payload })
}

/** What a new participant needs to enter. */
export interface Invitation {
  readonly participantId: string
  /** `created`, or `readmitted` where the operator's token of somebody who was kicked is good again. */
  readonly status: string
  /** Told this once; no log has it. Absent where it has a token already. */
  readonly token?: string
  /** Path of the space at the gateway. */
  readonly url: string
}

export interface KickOptions {
  readonly reason?: string
  /** RFC 3339: until when its token opens nothing; default: until it is invited again. */
  readonly untilTs?: string
}

export interface PauseOptions {
  readonly reason?: string
  /** After so many seconds the pause ends by itself. */
  readonly timeoutSeconds?: number
}

/** How an agent is doing, as it says itself. */
export interface Status {
  /** What it is at, in a word: the SDK's agents say `idle`, `working` or `paused`. */
  readonly status?: string
  readonly tokens?: number
  readonly maxTokens?: number
  readonly messagesInContext?: number
  /** How long its turns take at present, in milliseconds. */
  readonly latencyMs?: number
  readonly [other: string]: unknown
}

export interface StatusOptions extends WaitOptions {
  /** Which fields are wanted; default: all. */
  readonly fields?: readonly string[]
}

type Sender = Pick<Seat, 'send'>

/** The answer goes to the inviter's connections alone and is in no log: where the line breaks, the token is lost. */
export async function invite(
  replies: Replies,
  participantId: string,
  capabilities: readonly Capability[],
  { signal, timeoutMs, ...terms }: GrantOptions & WaitOptions,
): Promise<Invitation> {
  const draft = { kind: Kind.spaceInvite, payload: { participantId, capabilities, ...terms } }
  const waiting = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) }
  const { payload } = await replies.ask(draft, { kind: Kind.spaceInviteAck, from: GATEWAY }, waiting)
  const { status, token, url } = payload
  return { participantId, status, ...(token !== '' && { token }), url }
}

export const kick = (seat: Sender, participantId: string, options: KickOptions): Promise<AnyEnvelope> =>
  seat.send({ kind: Kind.spaceKick, payload: { participantId, ...options } })

export const pause = (seat: Sender, to: readonly string[], options: PauseOptions): Promise<AnyEnvelope> =>
  seat.send({ kind: Kind.participantPause, to, payload: options })

export const resume = (seat: Sender, to: readonly string[], reason?: string): Promise<AnyEnvelope> =>
  seat.send({ kind: Kind.participantResume, to, payload: { ...(reason !== undefined && { reason }) } })

export async function requestStatus(
  replies: Replies,
  of: string,
  { fields, ...waiting }: StatusOptions,
): Promise<Status> {
  const payload = fields === undefined ? {} : { fields }
  const draft = { kind: Kind.participantRequestStatus, to: [of], payload }
  const answer = await replies.ask(draft, { kind: Kind.participantStatus, from: of }, waiting)
  return answer.payload
}
