import type { Envelope, ErrorCode, InviteAckPayload, OrPropose, WorkMeter } from '@meup/protocol'
import type { Encoded } from '../../log/entries.js'
import type { Sender } from '../../ports/connection.js'
import type { EnvelopeLog } from '../../ports/envelope-log.js'
import type { Logger } from '../../ports/logger.js'
import type { SpaceConfig } from '../config.js'
import type { Decisions, Verdict } from '../decisions.js'
import type { KnownIds } from '../group-commit.js'
import type { Addressed } from '../may-read.js'
import type { LogUse, Rates } from '../metering.js'
import type { Guard } from '../safety.js'
import type { SpaceState } from '../state/state.js'
import type { Grant } from '../state/trust/trust.js'

/** The treatment of an envelope over the rate of its class: `refuse` it, let it `wait`, or admit it because it has `paid` by waiting [MEUP-7.9]. */
type OverRate = 'refuse' | 'wait' | 'paid'

/** How a frame comes: by default as text, and over its rate it is refused. */
export interface FrameForm {
  /** It came as binary, where text was due. */
  readonly isBinary?: boolean
  readonly overRate?: OverRate
}

/** An envelope on its way in. A step may rely on what the steps before it have filled in. */
export interface AdmissionContext {
  readonly sender: Sender
  /** The frame as it was received. */
  readonly frame: Uint8Array
  readonly isBinary: boolean
  readonly overRate: OverRate
  /** Milliseconds since the epoch: the time of acceptance. */
  readonly now: number
  /** What deciding on it has cost so far: whatever costs more than its size is charged here before it is done [MEUP-7.1]. */
  readonly meter: WorkMeter
  /** From `decode` on: the id that its sender wrote, if it wrote one. */
  writtenId?: string
  /** From `decode` on; complete but for `seq` after `identify`. */
  envelope: Envelope
  /** From `decode` on, where a call may be proposed instead. */
  orPropose?: OrPropose
  /** The payload's bytes as they were sent; from `guard` on, as they may be seen. */
  payload: Uint8Array
  /** From `deduplicate` on: the envelope as bytes; from `encodeAccepted` on, as it is logged. */
  encoded: Encoded
  /** A step has changed what `encoded` was built of. */
  isRewritten?: true
  /** From `address` on: the gateway has filled in whom it is for. */
  isAddressed?: true
  /** From `authorize` on: it is what its sender meant, so that a refusal says so. */
  isUnderstood?: true
  /** From `authorize` on, where it is a revocation: what it takes back. */
  revoked?: readonly Grant[]
  /** From `guard` on: what is to be recorded about it, once it is admitted. */
  verdicts?: readonly Verdict[]
  /** From `invite` on, where it is an invitation: what its sender alone is told. */
  invitation?: InviteAckPayload
}

export interface Refusal {
  readonly code: ErrorCode
  /** What is wrong and what to do about it. */
  readonly message: string
  /** JSON pointer to the bad field. */
  readonly path?: string
  readonly retryAfterMs?: number
  readonly details?: Readonly<Record<string, unknown>>
}

/** Where the log has an envelope, or will have it. */
export interface Receipt {
  readonly id: string
  readonly seq: number
  /** Of what has just been accepted: who is invited, and the token for it. */
  readonly invitation?: InviteAckPayload
  /** Nothing was added to the log: it is there already, or nothing for it (seq 0). */
  readonly answered?: true
  /** It was sent on, and is not for the log (seq 0). */
  readonly relayed?: true
  /** Milliseconds after which the caller submits the frame again as `paid`. Its rate is charged already; nothing else was done (seq 0). */
  readonly dueInMs?: number
}

/** The envelope was dealt with and goes no further. */
type Settled = Receipt &
  ({ readonly answered: true } | { readonly relayed: true } | { readonly dueInMs: number })

/** Who is told if what was admitted is lost, and the id that it wrote; empty where it wrote none. */
export interface Origin {
  readonly sender: Sender
  readonly id: string
}

/** What the steps need of a space. */
export interface Admission {
  readonly config: SpaceConfig
  /** As everything admitted before has made it, committed or not. */
  readonly state: SpaceState
  readonly rates: Rates
  readonly logUse: LogUse
  readonly ids: KnownIds
  readonly safety: Guard
  readonly decisions: Decisions
  readonly logger: Logger
  /** Why nothing is admitted at present. */
  readonly stopped: string | undefined
  readonly log: Pick<EnvelopeLog, 'maxFrameBytes'>
  /** RFC 3339 with milliseconds. */
  timestamp(ms: number): string
  /** Gives an envelope its place; from then on it is admitted. */
  admit(envelope: Envelope, encoded: Encoded, origin?: Origin): void
  mayRead(participant: string, envelope: Addressed): boolean
  /** Whether everyone may read an envelope, if it is admitted. */
  isPublic(envelope: Envelope): boolean
  /** Sends on what is not logged; `from` need not get it back. */
  relay(envelope: Envelope, encoded: Encoded, from: Sender): void
  /** Resolves to whether the log has this seq, as soon as that is certain. */
  committed(seq: number): Promise<boolean>
}

/** `undefined` = go on with the next step. */
export type Outcome = Refusal | Settled | undefined

export type Step = (admission: AdmissionContext, space: Admission) => Outcome

/** Only a refusal carries a message. */
export const isRefusal = (outcome: object): outcome is Refusal => 'message' in outcome

export const refuse = (code: ErrorCode, message: string, retryAfterMs?: number): Refusal => ({
  code,
  message,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})

/** Of the state, which is in memory. */
const rowWork = 1 / 16
/** By their id, in the log: at worst on the disk. */
const lookupWork = 20

/** Charges for rows of the state that are walked through; `what` are they? */
export const chargeRows = (meter: WorkMeter, rows: number, what: string): void =>
  meter.charge(rows * rowWork, what)

export const chargeLookups = (meter: WorkMeter, ids: number): void =>
  meter.charge(ids * lookupWork, 'ids to look up')

/** What a participant with the capability for an envelope may still not do; `undefined` = it may. */
export type Right = (admission: AdmissionContext, space: Admission) => Refusal | undefined

/** Whether somebody may send an envelope without a capability for it, because it is about what is its own. */
export type Exemption = (envelope: Envelope, space: Admission) => boolean

/** `path`: JSON pointer to the field that is in the way. */
export const forbidden = (message: string, path?: string): Refusal => ({
  code: 'forbidden',
  message,
  ...(path !== undefined && { path }),
})

export const setByGateway = (path: string): Refusal => ({
  code: 'invalid_payload',
  path,
  message: `${path} is set by the gateway. Leave it out.`,
})

/** `invalid_payload` for a time that is no time, or that has come; none at all is fine. `now` in milliseconds. */
export function notInFuture(path: string, time: string | undefined, now: number): Refusal | undefined {
  if (time === undefined || Date.parse(time) > now) return undefined
  const message = `${path} is no time in the future. It is ${new Date(now).toISOString()} here.`
  return { code: 'invalid_payload', path, message }
}
