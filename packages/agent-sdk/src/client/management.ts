/**
 * Options and results of the methods of `BaseClient` that manage participants, such as `grant`, `kick` and `pause`. The methods
 * are in `base-client.ts`; `sendGrant` is here because `proposals.ts` uses it, too.
 */

import { type Capability, Kind, omitUndefined } from '@meup/protocol'
import type { ClientContext } from './types.js'
import type { WaitOptions } from './wait.js'

/** Granted capabilities. A grant ends when it is revoked or expires, or when its grantor loses the capabilities. */
export interface Grant {
  readonly id: string
  readonly recipient: string
  readonly capabilities: readonly Capability[]
  /** Time when the grant expires, RFC 3339; absent = it does not expire. */
  readonly expiresAt?: string
}

export interface GrantOptions {
  /** Time when the grant expires, RFC 3339; default: it does not expire. */
  readonly expiresAt?: string
  readonly reason?: string
}

/** One grant, or all grants of a participant that these capabilities cover. */
export type Revocable =
  | Pick<Grant, 'id' | 'recipient'>
  | { readonly id?: never; readonly recipient: string; readonly capabilities: readonly Capability[] }

export async function sendGrant(
  client: Pick<ClientContext, 'send'>,
  recipient: string,
  capabilities: readonly Capability[],
  { expiresAt, reason }: GrantOptions,
): Promise<Grant> {
  const term = expiresAt === undefined ? {} : { expiresAt }
  const payload = { recipient, capabilities, ...term, ...omitUndefined({ reason }) }
  const { id } = await client.send({ kind: Kind.capabilityGrant, payload })
  return { id, recipient, capabilities, ...term }
}

/** A new participant, with the data that it needs to connect. */
export interface Invitation {
  readonly participantId: string
  /** `created`, or `readmitted`: a kicked participant, whose configured token is valid again. */
  readonly status: string
  /** Absent if the participant already has a token. It is sent once and never logged. */
  readonly token?: string
  /** Path of the space on the gateway. */
  readonly url: string
}

export interface KickOptions {
  readonly reason?: string
  /** Time, as RFC 3339, when the token becomes valid again; default: at the next invitation. */
  readonly untilTs?: string
}

export interface PauseOptions {
  readonly reason?: string
  /** Seconds after which the pause ends automatically. */
  readonly timeoutSeconds?: number
}

/** The status that an agent reports. */
export interface Status {
  /** Agents of this SDK report `idle`, `working` or `paused`. */
  readonly status?: string
  readonly tokens?: number
  readonly maxTokens?: number
  readonly messagesInContext?: number
  /** The average duration of recent turns, in milliseconds. */
  readonly latencyMs?: number
  readonly [other: string]: unknown
}

export interface StatusOptions extends WaitOptions {
  /** Names of the fields to report; default: all. */
  readonly fields?: readonly string[]
}
