import {
  type Capability,
  Coverage,
  correlations,
  covers,
  type Envelope,
  type GrantAckPayload,
  type GrantPayload,
  type InvitePayload,
  Kind,
  type ParticipantInfo,
  PatternError,
  type RevokePayload,
  WorkError,
  WorkMeter,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import type { ParticipantState } from './participants.js'

/** The capabilities of a participant by origin, and its restrictions. */
export interface GrantedCapabilities extends ParticipantState {
  readonly id: string
  readonly status: ParticipantInfo['status']
  /** Capabilities set by the operator, or by the issuer of the participant's token. */
  readonly configured: readonly Capability[]
  readonly grants: readonly LoggedGrant[]
  /** Capabilities whose origin this reader cannot see. */
  readonly others: readonly Capability[]
}

/**
 * Groups the listed capabilities of participants by origin. `now` in milliseconds since the epoch. If several grants contain
 * the same capabilities, the latest one counts.
 */
export function getGrantedCapabilities(
  participants: readonly (ParticipantInfo & ParticipantState)[],
  log: GrantLog,
  now: number,
): GrantedCapabilities[] {
  const held = new Map(participants.map(({ id, capabilities }) => [id, capabilities]))
  const isPossible = ({ grantor, capabilities }: LoggedGrant): boolean =>
    isBacked(capabilities, held.get(grantor) ?? [])
  const possible = log.list(now).filter(isPossible)
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

/** Whether the grantor holds the given capabilities: a grant ends when the grantor loses them [MEUP-4.14]. */
const isBacked = (given: readonly Capability[], held: readonly Capability[]): boolean =>
  given.every((one) => held.some((each) => covers([each], [one])))

/** Whether a list begins with these capabilities: configured ones come before granted ones. */
const isStart = (start: readonly Capability[], all: readonly Capability[]): boolean =>
  start.length <= all.length && start.every((one, at) => isSame(one, all[at]))

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Removes the capabilities if all of them are present, and returns whether they were. */
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

export interface LoggedGrant extends GrantState {
  readonly ts: string
  /** Time of expiry (RFC 3339); absent = the grant is in force until it is revoked. */
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
  /** The rights of guests; absent = no guests. */
  readonly guest?: { readonly capabilities: readonly Capability[] }
}

/** An invitation as logged: the gateway adds the hash of a new token, unless the participant has a configured token. */
export type LoggedInvite = InvitePayload & { readonly tokenSha256?: string }

/**
 * A revocation as logged. For a revocation by capabilities, the gateway adds the ids of the grants that it ends, so that a
 * replay compares no patterns and gives the same result under other limits [MEUP-4.15].
 */
export type LoggedRevoke = RevokePayload & { readonly revoked?: readonly string[] }

export interface GrantsSnapshot {
  readonly grants: readonly LoggedGrant[]
  readonly configurations: readonly (readonly [seq: string, configuration: Configuration])[]
  readonly invitations: readonly (readonly [participant: string, grant: string])[]
  readonly isWhole: boolean
}

/** Maximum number of configurations that are kept, to explain which right allowed an earlier call. */
const maxConfigurations = 256
const never = Number.POSITIVE_INFINITY

/**
 * Configured capabilities and grants in force, computed from the log only. Capabilities without configuration, such as those of
 * guests, are unknown.
 */
export class GrantLog {
  readonly #grants = new Grants<LoggedGrant>({
    configured: (id) => (this.#isWhole ? this.configured(id) : undefined),
  })
  /** Configurations by the seq of their `system.space` envelope. */
  readonly #configurations = new Bounded<Configuration>(maxConfigurations)
  #configuration: Configuration = { participants: {} }
  /** Id of the grant that came with the invitation of each participant. */
  readonly #invitations = new Map<string, string>()
  /** When the next grant expires, in milliseconds since the epoch. */
  #soonest = never
  #isWhole: boolean | undefined
  /** Increases with each change, so that `apply` notices whether an envelope has changed anything. */
  #revision = 0

  /** Whether the log was read from its first envelope. */
  get isWhole(): boolean {
    return this.#isWhole !== false
  }

  /** Applies the next envelope. Returns whether capabilities have changed. */
  apply(envelope: Envelope): boolean {
    const { kind, seq = 1, ts, payload } = envelope
    const before = this.#revision
    this.#isWhole ??= seq === 1
    this.#advance(Date.parse(ts))
    switch (kind) {
      case Kind.capabilityGrant:
        this.#add(envelope, (payload as GrantPayload).recipient, payload as GrantPayload)
        break
      case Kind.spaceInvite:
        this.#invite(envelope, payload as LoggedInvite)
        break
      case Kind.capabilityRevoke:
        this.#revoke(envelope, payload as LoggedRevoke)
        break
      case Kind.capabilityGrantAck:
        if ((payload as GrantAckPayload).status === 'declined') this.#end(correlations(envelope))
        break
      case Kind.systemSpace:
        if (payload.event === 'configured') this.#configure(payload as unknown as Configuration, seq)
        else if (payload.event === 'pruned') this.#isWhole = false
    }
    return this.#revision !== before
  }

  /** Returns the configured capabilities of a participant; `undefined` = the configuration does not name it. */
  configured(participant: string): readonly Capability[] | undefined {
    return capabilitiesIn(this.#configuration, participant)
  }

  /** Returns the last configuration before this seq; `undefined` = unknown. */
  configurationAt(seq: number): Configuration | undefined {
    const [, found] = this.#configurations.snapshot().findLast(([at]) => Number(at) < seq) ?? []
    return found
  }

  /**
   * Lists the grants in force at a time, in milliseconds since the epoch, in log order; default: at the time of the last
   * envelope.
   */
  list(now = 0): LoggedGrant[] {
    const standing = this.#grants.list().map(({ isGrounded: _, ...grant }) => grant)
    return standing.filter((grant) => endOf(grant) > now)
  }

  snapshot(): GrantsSnapshot {
    return {
      grants: this.#grants.list(),
      configurations: this.#configurations.snapshot(),
      invitations: [...this.#invitations],
      isWhole: this.isWhole,
    }
  }

  /** Restores a snapshot; only before the first `apply`. */
  restore({ grants, configurations, invitations, isWhole }: GrantsSnapshot): void {
    this.#grants.restore(grants)
    this.#configurations.restore(configurations)
    const [, configuration] = configurations.at(-1) ?? []
    if (configuration !== undefined) this.#configuration = configuration
    for (const [participant, grant] of invitations) this.#invitations.set(participant, grant)
    this.#isWhole = isWhole
    this.#soonest = Math.min(never, ...grants.map(endOf))
  }

  /** Ends the grants that have expired by `now`, in the order of expiry, because grants that rest on them end as well. */
  #advance(now: number): void {
    while (this.#soonest <= now) {
      const end = this.#soonest
      this.#fall((grant) => endOf(grant) <= end)
    }
  }

  #add({ id, ts, from: grantor }: Envelope, recipient: string, given: Omit<GrantPayload, 'recipient'>): void {
    const { capabilities, expiresAt, reason } = given
    const terms = { ...(expiresAt !== undefined && { expiresAt }), ...(reason !== undefined && { reason }) }
    const grant = { id, ts, grantor, recipient, capabilities, ...terms }
    this.#grants.add(grant)
    this.#revision++
    this.#soonest = Math.min(this.#soonest, endOf(grant))
  }

  /** A new token ends the earlier grants of its participant. */
  #invite(envelope: Envelope, invitation: LoggedInvite): void {
    const { participantId, tokenSha256 } = invitation
    if (tokenSha256 !== undefined) {
      this.#fall(({ recipient }) => recipient === participantId)
      this.#invitations.set(participantId, envelope.id)
    }
    this.#add(envelope, participantId, invitation)
  }

  /** A revocation by capabilities logged by an earlier gateway has no ids, and ends the matching grants of its sender. */
  #revoke({ from }: Envelope, { recipient, grantId, capabilities = [], revoked }: LoggedRevoke): void {
    const ids = revoked ?? (grantId === undefined ? undefined : [grantId])
    const isCovered = (grant: LoggedGrant): boolean =>
      grant.recipient === recipient && grant.grantor === from && covers(capabilities, grant.capabilities)
    this.#fall((grant) => ids?.includes(grant.id) ?? isCovered(grant))
  }

  /** Ends the grants by and to participants that are no longer configured, and the invitations of newly configured ones. */
  #configure(configuration: Configuration, seq: number): void {
    const before = this.#configuration
    this.#configuration = configuration
    this.#revision++
    this.#configurations.set(String(seq), configuration)
    const named = Object.keys(configuration.participants)
    const replaced = new Set(named.map((id) => this.#invitations.get(id)))
    for (const id of named) this.#invitations.delete(id)
    const left = Object.keys(before.participants).filter((id) => this.configured(id) === undefined)
    const gone = new Set(left)
    const ends = ({ id, recipient, grantor, capabilities }: LoggedGrant): boolean =>
      replaced.has(id) || gone.has(recipient) || (gone.has(grantor) && capabilities.length > 0)
    const changed = named.filter((id) => !isSame(this.configured(id), capabilitiesIn(before, id)))
    this.#fall(ends, changed)
  }

  #end(ids: readonly string[]): void {
    this.#fall(({ id }) => ids.includes(id))
  }

  #fall(ends: (grant: LoggedGrant) => boolean, poorer?: Iterable<string>): void {
    this.#revision += this.#grants.fall(ends, poorer).size
    this.#soonest = Math.min(never, ...this.#grants.list().map(endOf))
  }
}

const endOf = ({ expiresAt = '' }: LoggedGrant): number => Date.parse(expiresAt) || never

const capabilitiesIn = ({ participants }: Configuration, id: string): readonly Capability[] | undefined =>
  Object.hasOwn(participants, id) ? participants[id]?.capabilities : undefined

/** A grant: capabilities that one participant has given another [MEUP-4.14]. */
export interface GrantState {
  /** Id of the grant or invitation. */
  readonly id: string
  readonly grantor: string
  readonly recipient: string
  readonly capabilities: readonly Capability[]
  /**
   * `true` if the configured capabilities of the grantor alone cover the grant, which needs no other proof until those
   * capabilities change [MEUP-4.14].
   */
  readonly isGrounded?: true
}

/** The configured capabilities, to which every grant must trace back. */
interface Ground {
  /**
   * Returns the configured capabilities of a participant; `undefined` = unknown: then no grant of the participant is ended for
   * lack of cover.
   */
  configured(participant: string): readonly Capability[] | undefined
}

/**
 * Units of work to prove the grants of one participant after it lost capabilities. Grants that are not proved within them fall,
 * which bounds the cost of a revocation. A constant, because a replay must decide the same [MEUP-4.16].
 */
const provingWork = 5_000
/** Units of work for checking, when a grant is added, whether configured capabilities alone cover it. */
const groundingWork = 1_000

const lengths = new WeakMap<readonly Capability[], number>()

/** The length of a list as JSON, in characters. */
export function measureCapabilities(capabilities: readonly Capability[]): number {
  const length = lengths.get(capabilities) ?? JSON.stringify(capabilities).length
  lengths.set(capabilities, length)
  return length
}

function notGrounded<Each extends GrantState>({ isGrounded, ...grant }: Each): Each {
  return grant as Each
}

/**
 * Whether the held capabilities provably cover the given ones; also `false` if the proof takes too much work, or this version
 * cannot parse a pattern.
 */
function prove(
  coverage: Coverage,
  held: readonly (readonly Capability[])[],
  given: readonly Capability[],
  meter: WorkMeter,
): boolean {
  try {
    return coverage.firstGap(held, given, meter) === -1
  } catch (error) {
    if (error instanceof WorkError || error instanceof PatternError) return false
    throw error
  }
}

/** The grants in force, in log order. Decides which grants end because others do, on which they rest. */
export class Grants<Each extends GrantState> {
  readonly #ground: Ground
  readonly #standing = new Map<string, Each>()
  /** Total units of work spent on proofs. */
  work = 0

  constructor(ground: Ground) {
    this.#ground = ground
  }

  get size(): number {
    return this.#standing.size
  }

  get(id: string): Each | undefined {
    return this.#standing.get(id)
  }

  /** Counts the grants in force by this grantor. */
  count(grantor: string): number {
    let count = 0
    for (const grant of this.#standing.values()) if (grant.grantor === grantor) count++
    return count
  }

  /** Measures the grants in force to others than `recipient`, in characters of JSON: those by this grantor, and all. */
  textBeside(recipient: string | undefined, grantor: string): { readonly own: number; readonly all: number } {
    let [own, all] = [0, 0]
    for (const grant of this.#standing.values()) {
      if (grant.recipient === recipient) continue
      const length = measureCapabilities(grant.capabilities)
      all += length
      if (grant.grantor === grantor) own += length
    }
    return { own, all }
  }

  /** Lists the grants in force for a recipient. */
  to(recipient: string): Each[] {
    return [...this.#standing.values()].filter((grant) => grant.recipient === recipient)
  }

  list(): Each[] {
    return [...this.#standing.values()]
  }

  add(grant: Each): void {
    this.#standing.set(grant.id, this.#isGrounded(grant) ? { ...grant, isGrounded: true } : grant)
  }

  /** Restores the result of `list`. */
  restore(grants: readonly Each[]): void {
    for (const grant of grants) this.#standing.set(grant.id, grant)
  }

  #isGrounded({ grantor, capabilities }: Each): boolean {
    const own = this.#ground.configured(grantor)
    if (own === undefined) return false
    const meter = new WorkMeter(groundingWork)
    const isProven = prove(new Coverage(), [own], capabilities, meter)
    this.work += meter.spent
    return isProven
  }

  /**
   * Ends the grants for which `ends` is true, and all grants that are not covered without them. `poorer`: participants that
   * have lost other capabilities. Returns the recipients of the ended grants. One walk in log order is enough, because a grant
   * rests only on what its grantor was given before it: two grants cannot hold each other up, and a grant that the walk has
   * passed cannot fall later.
   */
  fall(ends: (grant: Each) => boolean, poorer: Iterable<string> = []): Set<string> {
    const losers = new Set<string>()
    const changed = new Set(poorer)
    const doubtful = new Set(changed)
    const given = new Map<string, (readonly Capability[])[]>()
    const coverage = new Coverage()
    const meters = new Map<string, WorkMeter>()
    const isBacked = ({ grantor, capabilities, isGrounded }: Each): boolean => {
      if (isGrounded && !changed.has(grantor)) return true
      const own = this.#ground.configured(grantor)
      if (own === undefined) return true
      const held = [own, ...(given.get(grantor) ?? [])]
      const meter = meters.get(grantor) ?? new WorkMeter(provingWork)
      meters.set(grantor, meter)
      return meter.left > 0 && prove(coverage, held, capabilities, meter)
    }
    for (const grant of this.#standing.values()) {
      const { id, recipient, capabilities } = grant
      if (ends(grant) || (doubtful.has(grant.grantor) && !isBacked(grant))) {
        this.#standing.delete(id)
        losers.add(recipient)
        doubtful.add(recipient)
      } else {
        if (changed.has(grant.grantor) && grant.isGrounded) this.#standing.set(id, notGrounded(grant))
        const earlier = given.get(recipient)
        if (earlier === undefined) given.set(recipient, [capabilities])
        else earlier.push(capabilities)
      }
    }
    for (const { spent } of meters.values()) this.work += spent
    return losers
  }
}
