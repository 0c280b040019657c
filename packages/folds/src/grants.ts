import {
  type AnyEnvelope,
  type Capability,
  correlations,
  covers,
  type EnvelopeOf,
  Kind,
  type ParticipantInfo,
} from '@meup/protocol'
import type { ParticipantState } from './space/participants.js'

/** The capabilities of a participant by their origin, and what keeps it from using them. */
export interface GrantedCapabilities extends ParticipantState {
  readonly id: string
  readonly status: ParticipantInfo['status']
  /** Set by the operator, or by the issuer of its token. */
  readonly configured: readonly Capability[]
  readonly grants: readonly LoggedGrant[]
  /** Capabilities whose origin this reader cannot see in the log. */
  readonly others: readonly Capability[]
}

/**
 * Sorts the capabilities of participants, as the gateway lists them, by origin. `now` in milliseconds since the epoch. If
 * several grants give the same capabilities, the latest one counts.
 */
export function getGrantedCapabilities(
  participants: readonly (ParticipantInfo & ParticipantState)[],
  log: GrantLog,
  now: number,
): GrantedCapabilities[] {
  const held = new Map(participants.map(({ id, capabilities }) => [id, capabilities]))
  const isPossible = ({ grantor, capabilities, expiresAt }: LoggedGrant): boolean =>
    (expiresAt === undefined || Date.parse(expiresAt) > now) &&
    isBacked(capabilities, held.get(grantor) ?? [])
  const possible = log.list().filter(isPossible)
  return participants.map(({ id, status, capabilities, paused, kicked, program }) => {
    const state = {
      status,
      ...(paused && { paused }),
      ...(kicked && { kicked }),
      ...(program && { program }),
    }
    const known = log.configured(id)
    const isKnown = known !== undefined && isStart(known, capabilities)
    const rest = capabilities.slice(isKnown ? known.length : 0)
    const latestFirst = possible.filter(({ recipient }) => recipient === id).reverse()
    const grants = latestFirst.filter((grant) => removeAll(grant.capabilities, rest)).reverse()
    if (isKnown) return { id, ...state, configured: known, grants, others: rest }
    const [configured, others] = log.isWhole ? [rest, []] : [[], rest]
    return { id, ...state, configured, grants, others }
  })
}

/** A grant ends when its grantor no longer holds the capabilities [MEUP-4.14]. */
const isBacked = (given: readonly Capability[], held: readonly Capability[]): boolean =>
  given.every((one) => held.some((each) => covers([each], [one])))

/** Configured capabilities come before granted ones. */
const isStart = (start: readonly Capability[], all: readonly Capability[]): boolean =>
  start.length <= all.length && start.every((one, at) => isSame(one, all[at]))

const isSame = (one: Capability, other: Capability | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** Removes the capabilities if all of them are there, and returns whether they were. */
function removeAll(wanted: readonly Capability[], from: Capability[]): boolean {
  const left = [...from]
  for (const one of wanted) {
    const at = left.findLastIndex((each) => isSame(one, each))
    if (at === -1) return false
    left.splice(at, 1)
  }
  from.splice(0, from.length, ...left)
  return true
}

/** A grant in the log. */
export interface LoggedGrant {
  readonly id: string
  readonly ts: string
  readonly grantor: string
  readonly recipient: string
  readonly capabilities: readonly Capability[]
  /** RFC 3339; absent = until it is revoked. */
  readonly expiresAt?: string
  readonly reason?: string
}

/** The kinds that `GrantLog` needs. */
export const grantKinds: readonly string[] = [
  Kind.capabilityGrant,
  Kind.capabilityRevoke,
  Kind.capabilityGrantAck,
  Kind.spaceInvite,
  Kind.systemSpace,
]

/** The capabilities in the payload of a `system.space` `configured`. */
export interface Configuration {
  readonly participants: Readonly<Record<string, { readonly capabilities: readonly Capability[] }>>
  /** Absent = there are no guests. */
  readonly guest?: { readonly capabilities: readonly Capability[] }
}

/**
 * The configured capabilities, and the grants that no envelope has ended. A grant also ends with the grant that it depends on;
 * only the gateway knows which ones are in force.
 */
export class GrantLog {
  readonly #grants = new Map<string, LoggedGrant>()
  #participants: Configuration['participants'] = {}
  #isWhole = true

  /** `false`: the log begins later than the space. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  apply(envelope: AnyEnvelope): void {
    switch (envelope.kind) {
      case Kind.capabilityGrant:
        this.#add(envelope, envelope.payload.recipient)
        break
      case Kind.spaceInvite:
        this.#invite(envelope)
        break
      case Kind.capabilityRevoke:
        this.#revoke(envelope)
        break
      case Kind.capabilityGrantAck:
        if (envelope.payload.status === 'declined') this.#end(correlations(envelope))
        break
      case Kind.systemSpace:
        this.#configure(envelope.payload as typeof envelope.payload & Configuration)
        break
    }
  }

  /** `undefined` = the configuration does not name this participant. */
  configured(participant: string): readonly Capability[] | undefined {
    return Object.hasOwn(this.#participants, participant)
      ? this.#participants[participant]?.capabilities
      : undefined
  }

  /** In log order. */
  list(): LoggedGrant[] {
    return [...this.#grants.values()]
  }

  #add(envelope: EnvelopeOf<typeof Kind.capabilityGrant | typeof Kind.spaceInvite>, recipient: string): void {
    const { id, ts, from: grantor, payload } = envelope
    const { capabilities, expiresAt, reason } = payload
    const terms = { ...(expiresAt !== undefined && { expiresAt }), ...(reason !== undefined && { reason }) }
    this.#grants.set(id, { id, ts, grantor, recipient, capabilities, ...terms })
  }

  /** A new token ends the earlier grants of its participant. */
  #invite(envelope: EnvelopeOf<typeof Kind.spaceInvite>): void {
    const { participantId } = envelope.payload
    if (Object.hasOwn(envelope.payload, 'tokenSha256'))
      this.#end(this.#findIds(({ recipient }) => recipient === participantId))
    this.#add(envelope, participantId)
  }

  /** A revocation by capabilities ends at least the grants of its sender; whether others too depends on the configuration. */
  #revoke({ from, payload }: EnvelopeOf<typeof Kind.capabilityRevoke>): void {
    const { recipient, grantId, capabilities = [] } = payload
    if (grantId !== undefined) this.#end([grantId])
    else {
      const isMeant = (grant: LoggedGrant): boolean =>
        grant.recipient === recipient && grant.grantor === from && covers(capabilities, grant.capabilities)
      this.#end(this.#findIds(isMeant))
    }
  }

  #configure(payload: { event: string } & Configuration): void {
    if (payload.event === 'configured') this.#participants = payload.participants
    else if (payload.event === 'pruned') this.#isWhole = false
  }

  #findIds(isMeant: (grant: LoggedGrant) => boolean): string[] {
    return this.list().flatMap((grant) => (isMeant(grant) ? [grant.id] : []))
  }

  #end(ids: readonly string[]): void {
    for (const id of ids) this.#grants.delete(id)
  }
}
