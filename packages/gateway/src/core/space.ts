import {
  contextRoot,
  type Envelope,
  freshId,
  GATEWAY,
  Kind,
  PROTOCOL,
  StepBudget,
  stringifyExact,
  WorkMeter,
} from '@meup/protocol'
import { type Encoded, encode, parseEnvelope, readErasure, toDraft } from '../log/entries.js'
import { LogError, logTexts } from '../log/error.js'
import { type Clock, logClock } from '../ports/clock.js'
import { messageFrom, type Sender } from '../ports/connection.js'
import type { DraftEntry, Entry, EnvelopeLog, Row } from '../ports/envelope-log.js'
import type { Logger } from '../ports/logger.js'
import type { AdmissionContext, FrameForm, Origin, Receipt } from './admission/admission-context.js'
import { attempt } from './admission/index.js'
import { readProposed } from './admission/proposed.js'
import type { SpaceConfig } from './config.js'
import { Decisions, verdictFor } from './decisions.js'
import { broadcast, Delivery, Relayed } from './delivery/broadcast.js'
import { LogReads } from './delivery/log-reads.js'
import type { Session } from './delivery/session.js'
import { errorFrame } from './frames.js'
import { GroupCommit, KnownIds, Recovery, Watchers } from './group-commit.js'
import {
  type Addressed,
  type Audience,
  decideAudience,
  HiddenRuns,
  type LoggedAddress,
  mayRead,
  nobody,
  type Reader,
} from './may-read.js'
import { LogUse, Rates, SpaceMetrics } from './metering.js'
import { ParsedRows } from './parsed-rows.js'
import { isRefusal, type Refusal, refuse } from './refusal.js'
import { texts } from './refusal-texts.js'
import { replayFromCheckpoint } from './replay.js'
import { ReasoningGuard } from './safety.js'
import type { SpaceState } from './state/state.js'

const unwritable = 'the log cannot be written'

/** Called around each commit, in the order of the array passed to `Space.listen`. */
export interface SpaceListener {
  /** The batch is in the log, and not sent yet. */
  committed?(): void
  /** The batch was sent to every live session. */
  delivered?(batch: readonly Delivery[]): void
  /** Records of the erasure of these seqs are logged, and their batch was sent. */
  erased?(seqs: readonly number[]): void
  /** An envelope that is not logged was sent to every live session. */
  relayed?(relayed: Relayed): void
  /**
   * The state was rebuilt after a failed commit, or after a change of the gateway that sequences the log, and the log accepts
   * writes again.
   */
  recovered?(): void
}

/** Maximum steps for finding the participants that may decide a proposal of a private run; the others may not read it. */
const maxDecidingSteps = 2 ** 16

/** One space: admits envelopes in one order, commits them to the log, and delivers what was committed. */
export class Space {
  config: SpaceConfig
  readonly log: EnvelopeLog
  /** Never earlier than the last time in the log. */
  readonly clock: Clock
  readonly #followTime: (last: Entry | undefined) => void
  readonly logger: Logger
  readonly rates: Rates
  readonly logUse: LogUse
  readonly ids: KnownIds
  readonly sessions = new Set<Session>()
  readonly metrics = new SpaceMetrics()
  readonly timestamp = timestamper()
  readonly reads = new LogReads(this)
  readonly parsed = new ParsedRows(this)
  readonly safety: ReasoningGuard
  readonly decisions = new Decisions(this)
  state: SpaceState
  /** Last seq that was committed and broadcast. */
  delivered: number
  readonly #hidden: HiddenRuns
  /** Erased seqs, as of the last delivery. */
  readonly #erased: Set<number>
  readonly #withholds = (context: string, from: string): boolean => this.#hidden.withholds(context, from)
  #admitted: number
  /** Why envelopes of participants are refused; the gateway's own are still logged. */
  #closedFor: string | undefined
  #broken = false
  /** Called for a sender whose program is not in the log, before its envelope is admitted. */
  onUnknownProgram: ((sender: Sender) => void) | undefined
  /** The other gateways that have the space open; absent = none. */
  elsewhere: RemoteSequencer | undefined
  #listeners: readonly SpaceListener[] = []
  readonly #commit: GroupCommit
  readonly #recovery: Recovery
  /** Senders to notify if a commit fails, one per admitted and undelivered envelope, in order; `undefined` = none. */
  #origins: (Origin | undefined)[] = []
  readonly #watchers = new Watchers()

  private constructor(config: SpaceConfig, ports: SpacePorts, state: SpaceState) {
    const { log, logger, isToken } = ports
    const { clock, follow } = logClock(ports.clock, logger, config.name)
    this.config = config
    this.log = log
    this.clock = clock
    this.#followTime = follow
    this.logger = logger
    this.state = state
    this.rates = new Rates(this)
    this.logUse = new LogUse(this)
    this.safety = new ReasoningGuard(config.safety, {
      space: config.name,
      clock,
      logger,
      metrics: this.metrics,
      isToken,
      isPerson: (id) =>
        Object.hasOwn(this.config.participants, id) && this.config.participants[id]?.kind === 'human',
    })
    this.ids = new KnownIds(log)
    this.delivered = log.head
    this.#hidden = new HiddenRuns(state.contexts)
    this.#erased = new Set(state.erasures.seqs)
    this.#admitted = log.head
    this.#commit = new GroupCommit(log, clock, {
      committed: (batch, seconds) => {
        this.metrics.committed(batch, seconds)
        this.#deliver(batch)
      },
      failed: (error, lost) => this.#recover(error, lost),
    })
    this.#recovery = new Recovery(clock, (err, retryMs) =>
      logger.error(
        { space: config.name, err, retryMs },
        'the log still cannot be written; this is tried again',
      ),
    )
  }

  /** Opens the space and replays its log. */
  static async open(config: SpaceConfig, ports: SpacePorts): Promise<Space> {
    const space = new Space(config, ports, await replayFromCheckpoint(ports.log, config.name, ports.logger))
    const { log } = ports
    const [last] = log.head === 0 ? [] : await log.read({ order: 'desc', limit: 1 })
    space.#followTime(last)
    return space
  }

  /** Sets the listeners of commits. Called once, before anything is admitted. */
  listen(listeners: readonly SpaceListener[]): void {
    this.#listeners = listeners
  }

  /** Whether another gateway sequences this space, so that nothing is admitted here. */
  get isFollower(): boolean {
    return this.log.shared?.leads === false
  }

  /** Runs one frame through the pipeline. A refusal is sent to the sender, and its work is charged as well. */
  submit(sender: Sender, frame: Uint8Array, form: FrameForm = {}): Receipt | Refusal {
    const { isBinary = false, overRate = 'refuse' } = form
    const now = this.clock.now()
    this.state.trust.advance(now)
    const envelope: Envelope = { protocol: PROTOCOL, id: '', ts: '', from: '', kind: '', payload: {} }
    const meter = new WorkMeter(this.config.limits.work)
    const nothing = { envelope, payload: frame, encoded: { body: frame, content: frame } }
    const admission: AdmissionContext = { sender, frame, isBinary, overRate, now, meter, ...nothing }
    const { work } = this.state.trust
    const { session, participant } = sender
    if (session !== undefined && !this.state.programs.isLiving(participant, session))
      this.onUnknownProgram?.(sender)
    const outcome = attempt(admission, this)
    if (outcome !== undefined && isRefusal(outcome)) this.#reject(outcome, admission)
    this.rates.charge(sender.rateLimitKey, 'work', meter.spent + this.state.trust.work - work, now)
    return outcome ?? { id: admission.envelope.id, seq: admission.envelope.seq ?? 0 }
  }

  /** Logs an envelope of the gateway. Returns its seq; throws while nothing is admitted. */
  emit({ payload: given, ...fields }: Emitted): number {
    if (this.#broken || this.isFollower)
      throw new Error(this.#broken ? unwritable : 'another gateway sequences this space')
    const now = this.clock.now()
    const [id, ts] = [freshId(now), this.timestamp(now)]
    const [text, parsed] =
      typeof given === 'string' ? [given, JSON.parse(given)] : [stringifyExact(given), given]
    const payload = parsed as Record<string, unknown>
    const envelope: Envelope = { ...fields, protocol: PROTOCOL, id, ts, from: GATEWAY, payload }
    this.admit(envelope, encode(envelope, Buffer.from(text)))
    return this.#admitted
  }

  /** Like `emit`, if no one waits for the result: a failure is logged. `Presence.reconcile` logs what is missing after a recovery. */
  tryEmit(fields: Emitted): void {
    try {
      this.emit(fields)
    } catch (err) {
      this.logger.warn(
        { space: this.config.name, from: GATEWAY, kind: fields.kind, err },
        'could not be logged',
      )
    }
  }

  /** Assigns the next seq to an envelope, applies it to the state and hands it to the log. */
  admit(envelope: Envelope, encoded: Encoded, origin?: Origin): void {
    const seq = ++this.#admitted
    envelope.seq = seq
    const draft = toDraft(envelope, seq, encoded)
    this.ids.admit(draft)
    this.#origins.push(origin)
    this.#fold(envelope, encoded.body)
    if (envelope.kind === Kind.reasoningConclusion) this.metrics.concluded(envelope.payload)
    this.#commit.add(draft)
  }

  /** Relays an envelope that is not logged, here and to the other gateways. */
  relay(envelope: Envelope, encoded: Encoded, from: Sender): void {
    const entry = toDraft(envelope, 0, encoded)
    this.offer(entry, from)
    this.elsewhere?.relay(entry, from)
  }

  /** Sends a relayed entry to every session here that may read it, except `from`, whichever gateway admitted it. */
  offer(entry: Entry, from: Sender | undefined): void {
    const relayed = new Relayed(entry, this.decideAudience(entry), from)
    for (const session of this.sessions) if (session.live) relayed.offer(session)
    for (const listener of this.#listeners) listener.relayed?.(relayed)
  }

  /** Expires grants, invitations and kicks that are due. */
  advance(): void {
    this.state.trust.advance(this.clock.now())
  }

  /** Lower bound of the time of the next expiry to announce, in milliseconds since the epoch; infinity = none. */
  get nextEnd(): number {
    return this.#broken || this.isFollower ? Number.POSITIVE_INFINITY : this.state.nextEnd
  }

  /** The reader with the present rights of a participant. */
  getReader({ participant }: Pick<Reader, 'participant'>): Reader {
    return { participant, ...this.state.participants.readRights(participant) }
  }

  /** The audience of a logged envelope, as of the last delivery. */
  decideAudience(envelope: LoggedAddress): Audience {
    return this.wasErased(envelope.seq) ? nobody : this.#decideAudience(envelope)
  }

  /** Whether everyone may read the envelope once it is admitted. */
  isPublic(envelope: Addressed): boolean {
    return this.#decideAudience(envelope) === undefined
  }

  #decideAudience(envelope: Addressed): Audience {
    return decideAudience(envelope, {
      mcpVisibility: this.config.mcp.visibility,
      withholds: this.#withholds,
      findOrigin: (id) => this.ids.findOrigin(id),
      runAudience: (context) => this.#runAudience(context),
      hasPrivateRuns: this.state.contexts.hasPrivateRuns,
      deciders: (proposal) => this.#deciders(proposal),
    })
  }

  /** The audience in the start of a run is valid forever, even after the state has forgotten the run. */
  #runAudience(context: string): readonly string[] | undefined {
    const root = contextRoot(context)
    const known = this.state.contexts.get(root)
    if (known !== undefined) return this.state.contexts.runAudience(root)
    const start = this.ids.findOrigin(root)
    return start?.kind === Kind.reasoningStart && start.to ? [...start.to, start.from] : undefined
  }

  #deciders(proposal: string): readonly string[] {
    const entry = this.ids.findEntry(proposal)
    if (entry === undefined || entry.body.length === 0) return []
    const request = readProposed(entry)
    const { participants } = this.state
    const budget = new StepBudget(maxDecidingSteps)
    return [...participants.ids()].filter((id) => participants.allows(id, request, budget))
  }

  /** Whether a participant may read an admitted envelope. */
  mayRead(participant: string, envelope: Addressed): boolean {
    return mayRead(this.getReader({ participant }), this.#decideAudience(envelope))
  }

  /** Changes whenever the audience of logged envelopes may have changed. */
  get audienceVersion(): string {
    const { contexts, trust } = this.state
    // Participants that may decide a proposal of a private run may read it, so the audience depends on their capabilities.
    const rights = contexts.hasPrivateRuns ? trust.revision : ''
    return `${this.config.mcp.visibility} ${rights} ${this.#hidden.version} ${this.#erased.size} ${this.log.oldest}`
  }

  /** Whether a delivered record says that this seq was erased [MEUP-10.10]. */
  wasErased(seq: number): boolean {
    return this.#erased.size > 0 && this.#erased.has(seq)
  }

  /** A row that was erased before it arrived here has no body. No one may read it, even if its record is delivered later. */
  createDelivery(entry: Entry): Delivery {
    return new Delivery(entry, entry.body.length === 0 ? nobody : this.decideAudience(entry))
  }

  /** Resolves once the commit of this seq has succeeded (`true`) or failed (`false`). */
  committed(seq: number): Promise<boolean> {
    return seq <= this.delivered ? Promise.resolve(true) : this.#watchers.wait(seq)
  }

  /** Resolves once every admitted envelope is committed or has failed, to whether all are committed. */
  async settled(): Promise<boolean> {
    const last = this.#admitted
    await this.#commit.idle()
    return last <= this.delivered
  }

  /** From now on only envelopes of the gateway are admitted. */
  refuse(why: string): void {
    this.#closedFor = why
  }

  /** Stops the timers, and the recovery of a failed log. */
  close(): void {
    this.decisions.close()
    this.#recovery.close()
  }

  /** Why nothing is admitted at present; `undefined` = envelopes are admitted. */
  get stopped(): string | undefined {
    return (
      this.#closedFor ??
      (this.#broken ? unwritable : undefined) ??
      (this.#commit.isBehind ? 'the log has fallen behind' : undefined)
    )
  }

  /** Back-pressure of the log: resolves when senders may be read again. */
  whenWritable(): Promise<void> | undefined {
    return this.#commit.whenWritable()
  }

  /** Admitted envelopes that are not in a batch yet. */
  get waiting(): { readonly envelopes: number; readonly bytes: number } {
    return this.#commit.waiting
  }

  #reject(refusal: Refusal, admission: AdmissionContext): void {
    const { sender, writtenId: id = '', now } = admission
    this.metrics.refused.add(refusal.code)
    const attempt = { id, kind: admission.envelope.kind }
    sender.reply(messageFrom(errorFrame(sender.participant, this.timestamp(now), refusal, attempt)))
    const verdict = verdictFor(refusal)
    if (verdict === undefined) return
    const { meter, envelope, payload, isUnderstood = false } = admission
    const isPublic = isUnderstood && this.isPublic(envelope)
    this.decisions.record({ sender, meter, envelope, payload, isPublic }, verdict)
  }

  #deliver(batch: readonly Entry[]): void {
    this.ids.settle(batch)
    this.#origins.splice(0, batch.length)
    this.delivered = batch.at(-1)?.seq ?? this.delivered
    this.#watchers.delivered(this.delivered)
    for (const listener of this.#listeners) listener.committed?.()
    const erased: number[] = []
    const deliveries = batch.map((entry) => {
      this.#hidden.advance(entry.seq)
      const erasure = readErasure(entry)
      if (erasure !== undefined) {
        this.#erased.add(erasure.seq)
        erased.push(erasure.seq)
      }
      const delivery = this.createDelivery(entry)
      if (delivery.audience?.isWithheld) this.metrics.withheldThoughts++
      return delivery
    })
    broadcast(deliveries, this.sessions)
    for (const listener of this.#listeners) listener.delivered?.(deliveries)
    if (erased.length > 0) for (const listener of this.#listeners) listener.erased?.(erased)
  }

  #fold(envelope: Envelope, body: Uint8Array): void {
    this.state.apply(envelope, body)
    this.#hidden.note(envelope, this.state.contexts)
  }

  /**
   * A failed commit refuses every pending envelope [MEUP-4.10]. The state is rebuilt from the log at once for readers; nothing
   * is admitted until the log can be written again.
   */
  #recover(error: unknown, lost: readonly DraftEntry[]): void {
    this.logger.error({ space: this.config.name, err: error, lost: lost.length }, 'the log refused a commit')
    this.metrics.failedCommits++
    this.ids.settle(lost)
    this.#restore()
    const origins = this.#origins.splice(0)
    for (const draft of lost) this.#refuseLost(draft, origins[draft.seq - this.delivered - 1])
  }

  /** Applies and delivers rows that another gateway appended, in order. */
  follow(rows: readonly Row[]): void {
    const fresh = rows.filter(({ seq }) => seq > this.delivered)
    if (this.#broken || fresh.length === 0) return
    if (fresh[0]?.seq === this.delivered + 1) this.#receive(fresh)
    else this.takeUp()
  }

  #receive(rows: readonly Row[]): void {
    for (const row of rows) this.#fold(parseEnvelope(row), row.body)
    this.#followTime(rows.at(-1))
    this.#deliver(rows)
    this.#admitted = this.delivered
  }

  /** Determines again which gateway sequences the space, and continues at the end of its log. */
  takeUp(): void {
    // If a batch is pending, its commit reveals whether the log can be written.
    if (!this.#broken && this.#admitted === this.delivered) this.#restore()
  }

  #restore(): void {
    this.#broken = true
    this.#hidden.forget()
    this.#watchers.rejectAll()
    let state: SpaceState | undefined
    this.#recovery.begin(async () => {
      state ??= await replayFromCheckpoint(this.log, this.config.name, this.logger, this.delivered)
      this.state = state
      await this.log.recover()
      await this.#catchUp()
      this.#broken = false
      this.logger.info({ space: this.config.name, head: this.delivered }, 'the log can be written again')
      for (const listener of this.#listeners) listener.recovered?.()
    })
  }

  #refuseLost({ kind }: Entry, origin: Origin | undefined): void {
    if (origin === undefined) return
    const { sender, id } = origin
    const refusal = refuse('unavailable', texts.stopped, { reason: unwritable })
    this.metrics.refused.add(refusal.code)
    const ts = this.timestamp(this.clock.now())
    sender.reply(messageFrom(errorFrame(sender.participant, ts, refusal, { id, kind })))
  }

  /** Delivers rows that were stored although their commit seemed to fail. */
  async #catchUp(): Promise<void> {
    const { head } = this.log
    if (head < this.delivered)
      throw new LogError('corrupt', logTexts.shortLog, { head, acknowledged: this.delivered })
    while (this.delivered < this.log.head)
      this.#receive(await this.log.read({ after: this.delivered, limit: 1000 }))
    this.#admitted = this.delivered
  }
}

/** The fields of an envelope of the gateway. */
interface Emitted
  extends Pick<Envelope, 'kind'>,
    Partial<Pick<Envelope, 'context' | 'to' | 'correlationId'>> {
  /** An object, or JSON text if parsing would change a value in it. */
  readonly payload: object | string
}

interface SpacePorts {
  readonly log: EnvelopeLog
  readonly clock: Clock
  readonly logger: Logger
  /** Whether the text is an authentication token of this gateway, and so has to be masked. */
  isToken(candidate: string): boolean
}

/** Formats milliseconds as RFC 3339 with milliseconds; cached per millisecond. */
function timestamper(): (ms: number) => string {
  const instant = { ms: -1, text: '' }
  return (ms) => {
    if (instant.ms !== ms) {
      instant.ms = ms
      instant.text = new Date(ms).toISOString()
    }
    return instant.text
  }
}

/** Submits one frame, here or to the gateway that sequences the space. */
export async function accept(
  space: Space,
  sender: Sender,
  frame: Uint8Array,
  form?: FrameForm,
): Promise<Receipt | Refusal> {
  const { elsewhere } = space
  if (!space.isFollower || space.stopped !== undefined || !elsewhere?.isFor(frame)) {
    return space.submit(sender, frame, form)
  }
  return elsewhere.submit(sender, frame, form)
}

/**
 * The other gateways that have the space open. A follower forwards frames to the one that sequences the space; that one relays
 * to the followers.
 */
export interface RemoteSequencer {
  /**
   * Whether the frame has to be forwarded. Frames that concern only their own connection, such as subscriptions, are handled
   * locally.
   */
  isFor(frame: Uint8Array): boolean
  /** Answers the sender like `Space.submit`. */
  submit(sender: Sender, frame: Uint8Array, form?: FrameForm): Promise<Receipt | Refusal>
  /** Sends an entry that was relayed here to the other gateways, which send it to their sessions; at most once each. */
  relay(entry: Entry, from: Sender): void
  /** Logs an envelope of the gateway. Resolves to its seq; rejects if it was not accepted. */
  emit(fields: object): Promise<number>
  /** Reports the end of a program; `isBye`: it closed its last connection here, and ends with its last one anywhere. */
  endProgram(participant: string, session: string, isBye: boolean): void
  /** Announces changed presence or program states to the other gateways. */
  present(): void
}

/** The state of a space for its operator. */
export interface SpaceReport {
  readonly space: string
  /** Why nothing is admitted at present; `undefined` = envelopes are admitted. */
  readonly stopped: string | undefined
  /** Last seq that was delivered. */
  readonly head: number
  readonly connections: number
  /** Bytes that clients have not read yet. */
  readonly unsentBytes: number
  /** Admitted envelopes that are not in a batch yet. */
  readonly waiting: { readonly envelopes: number; readonly bytes: number }
  /** Delivered envelopes that are not in the turn index yet. */
  readonly unindexed: number
  /** Erased envelopes whose bytes still have to be removed. */
  readonly unerased: number
  /** Number of connected participants. */
  readonly present: number
  readonly openContexts: number
  readonly openProposals: number
  readonly metrics: SpaceMetrics
}

/** `indexed`: last seq in the turn index. */
export function createReport(
  { config, stopped, delivered, sessions, waiting, metrics, state, clock }: Space,
  { indexed, unerased }: { readonly indexed: number; readonly unerased: number },
): SpaceReport {
  let unsentBytes = 0
  for (const { connection } of sessions) unsentBytes += connection.pending
  return {
    space: config.name,
    stopped,
    head: delivered,
    connections: sessions.size,
    unsentBytes,
    waiting,
    unindexed: delivered - indexed,
    unerased,
    present: state.participants.present().length,
    openContexts: state.contexts.open().length,
    openProposals: state.calls.proposals(clock.now()).length,
    metrics,
  }
}
