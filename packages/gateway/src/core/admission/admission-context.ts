import type { Envelope, InviteAckPayload, OrPropose, WorkMeter } from '@meup/protocol'
import type { Encoded } from '../../log/entries.js'
import type { Sender } from '../../ports/connection.js'
import type { EnvelopeLog } from '../../ports/envelope-log.js'
import type { Logger } from '../../ports/logger.js'
import type { SpaceConfig } from '../config.js'
import type { Decisions, GuardVerdict } from '../decisions.js'
import type { KnownIds } from '../group-commit.js'
import type { Addressed } from '../may-read.js'
import type { LogUse, Rates } from '../metering.js'
import type { Refusal } from '../refusal.js'
import type { ReasoningGuard } from '../safety.js'
import type { SpaceState } from '../state/state.js'
import type { HeldGrant } from '../state/trust/trust.js'

/** The treatment of an envelope over the rate of its class: `refuse` it, let it `wait`, or admit it because it has `paid` by waiting [MEUP-7.9]. */
type OverRate = 'refuse' | 'wait' | 'paid'

/** How a frame was sent, and what happens if it exceeds its rate. Default: a text frame, refused if it exceeds its rate. */
export interface FrameForm {
  /** The frame is binary. Frames have to be text. */
  readonly isBinary?: boolean
  readonly overRate?: OverRate
}

/** An envelope during admission. A step may rely on the fields that earlier steps have filled in. */
export interface AdmissionContext {
  readonly sender: Sender
  readonly frame: Uint8Array
  readonly isBinary: boolean
  readonly overRate: OverRate
  /** Milliseconds since the epoch: the time of acceptance. */
  readonly now: number
  /**
   * The work done so far to decide on the envelope. A step charges here before it does work that grows faster than the envelope
   * [MEUP-7.1].
   */
  readonly meter: WorkMeter
  /** Set by `decodeSubmission`: the id that the sender wrote, if any. */
  writtenId?: string
  /** Set by `decodeSubmission`; `identifySender` completes it except for `seq`. */
  envelope: Envelope
  /** Set by `decodeSubmission` if a call may become a proposal. */
  orPropose?: OrPropose
  /** The payload bytes as sent; after `guard`, masked. */
  payload: Uint8Array
  /** Set by `deduplicate`: the envelope as bytes; after `encodeAccepted`, as it is logged. */
  encoded: Encoded
  /** A step has changed the envelope since `encoded` was built. */
  isRewritten?: true
  /** Set by `address`: the gateway has filled in the recipients. */
  isAddressed?: true
  /** Set by `authorize`: the envelope is valid, so its audience is known, and decides who may read a refusal of it. */
  isUnderstood?: true
  /** Set by `authorize` for a revocation: the grants that it takes back. */
  revoked?: readonly HeldGrant[]
  /** Set by `guard`: decisions to record once the envelope is admitted. */
  verdicts?: readonly GuardVerdict[]
  /** Set by `invite`: the answer that only the inviter gets. */
  invitation?: InviteAckPayload
}

/** The result for a sender whose envelope was not refused. `seq`: of the envelope in the log, once that is committed. */
export interface Receipt {
  readonly id: string
  readonly seq: number
  /** For an invitation: the invited participant and its token. */
  readonly invitation?: InviteAckPayload
  /** The envelope added nothing to the log: a retry, or a request that is answered directly (seq 0). */
  readonly answered?: true
  /** The envelope was relayed and is not logged (seq 0). */
  readonly relayed?: true
  /**
   * Milliseconds after which the caller submits the frame again as `paid`. Its rate is already charged; nothing else has
   * happened (seq 0).
   */
  readonly dueInMs?: number
}

/** An outcome that ends the pipeline early without a refusal. */
type Settled = Receipt &
  ({ readonly answered: true } | { readonly relayed: true } | { readonly dueInMs: number })

/** The sender to notify if the commit of an admitted envelope fails, and the id that the sender wrote; empty if none. */
export interface Origin {
  readonly sender: Sender
  readonly id: string
}

/** The part of a space that admission uses. */
export interface Admission {
  readonly config: SpaceConfig
  /** The state after every admitted envelope, committed or not. */
  readonly state: SpaceState
  readonly rates: Rates
  readonly logUse: LogUse
  readonly ids: KnownIds
  readonly safety: ReasoningGuard
  readonly decisions: Decisions
  readonly logger: Logger
  /** Why nothing is admitted at present. */
  readonly stopped: string | undefined
  readonly log: Pick<EnvelopeLog, 'maxFrameBytes'>
  /** RFC 3339 with milliseconds. */
  timestamp(ms: number): string
  /** Assigns the next seq. From then on the envelope is admitted. */
  admit(envelope: Envelope, encoded: Encoded, origin?: Origin): void
  mayRead(participant: string, envelope: Addressed): boolean
  /** Whether everyone may read the envelope once it is admitted. */
  isPublic(envelope: Envelope): boolean
  /** Relays an envelope that is not logged; `from` need not receive it. */
  relay(envelope: Envelope, encoded: Encoded, from: Sender): void
  /** Resolves once the commit of this seq has succeeded (`true`) or failed (`false`). */
  committed(seq: number): Promise<boolean>
}

/** `undefined` = continue with the next step. */
export type StepOutcome = Refusal | Settled | undefined

export type Step = (admission: AdmissionContext, space: Admission) => StepOutcome

/** A check beyond capabilities; `undefined` = allowed. */
export type Right = (admission: AdmissionContext, space: Admission) => Refusal | undefined

/** Whether the sender needs no capability, because the envelope is about something of its own. */
export type Exemption = (envelope: Envelope, space: Admission) => boolean
