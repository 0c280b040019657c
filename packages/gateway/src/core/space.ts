import {
  checkWithin,
  contextRoot,
  type Envelope,
  freshId,
  GATEWAY,
  Kind,
  PROTOCOL,
  stringifyExact,
  WorkMeter,
} from '@meup/protocol'
import { type Encoded, encode, parseEnvelope, readErasure, toDraft } from '../log/entries.js'
import { type Clock, logClock } from '../ports/clock.js'
import { messageFrom, type Sender } from '../ports/connection.js'
import type { Draft, Entry, EnvelopeLog, Row } from '../ports/envelope-log.js'
import type { Logger } from '../ports/logger.js'
import {
  type AdmissionContext,
  type FrameForm,
  isRefusal,
  type Origin,
  type Receipt,
  type Refusal,
} from './admission/context.js'
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
import { resume } from './replay.js'
import { Guard } from './safety.js'
import type { SpaceState } from './state/state.js'

const unwritable = 'the log cannot be written'

/** Is called around each commit. Listeners are called in the order of the array that `Space.listen` was given. */
export interface SpaceListener {
  /** The batch is in the log and was not sent yet. */
  committed?(): void
  /** The batch was sent to every live session. */
  delivered?(batch: readonly Delivery[]): void
  /** The log has records that these were erased; whose batch was sent. */
  erased?(seqs: readonly number[]): void
  /** An envelope that is not logged was sent to every live session. */
  relayed?(relayed: Relayed): void
  /** The state was rebuilt after a failed commit or a change of leader, and the log accepts writes again. */
  recovered?(): void
}

/** Steps for finding out who may decide a proposal of a private run; beyond them it is nobody's. */
const maxDecidingSteps = 2 ** 16

/** One space: admits envelopes in one order, has the log commit them, and delivers what was committed. */
export class Space {
  config: SpaceConfig
  readonly log: EnvelopeLog
  /** Never before the last time in the log. */
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
  readonly safety: Guard
  readonly decisions = new Decisions(this)
  state: SpaceState
  /** Last seq that was committed and broadcast. */
  delivered: number
  readonly #hidden: HiddenRuns
  /** Seqs of what was erased, as of what was delivered last. */
  readonly #erased: Set<number>
  readonly #withholds = (context: string, from: string): boolean => this.#hidden.withholds(context, from)
  #admitted: number
  /** Why participants' envelopes are refused; the gateway's own are still logged. */
  #closedFor: string | undefined
  #broken = false
  /** Is told of senders whose program the log does not know, before their envelope is decided on. */
  onUnknownProgram: ((sender: Sender) => void) | undefined
  /** Where several gateways have the space open: takes frames to the others. */
  elsewhere: RemoteSequencer | undefined
  #listeners: readonly SpaceListener[] = []
  readonly #commit: GroupCommit
  readonly #recovery: Recovery
  /** Who is told if a commit fails: of what is admitted and not delivered, in its order; `undefined` = nobody. */
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
    this.safety = new Guard(config.safety, {
      space: config.name,
      clock,
      logger,
      metrics: this.metrics,
      isToken,
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

  /** Takes up the log where it ends. */
  static async open(config: SpaceConfig, ports: SpacePorts): Promise<Space> {
    const space = new Space(config, ports, await resume(ports.log, config.name, ports.logger))
    const { log } = ports
    const [last] = log.head === 0 ? [] : await log.read({ order: 'desc', limit: 1 })
    space.#followTime(last)
    return space
  }

  /** Sets who is called around each commit, in this order. Called once, before anything is admitted. */
  listen(listeners: readonly SpaceListener[]): void {
    this.#listeners = listeners
  }

  /** Whether another gateway sequences this space: then nothing is admitted here. */
  get isFollower(): boolean {
    return this.log.shared?.leads === false
  }

  /** Takes one frame through the pipeline. A refusal is answered to its sender, and pays for its work as well. */
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

  /** Logs an envelope of the gateway's own. Gives its seq; throws when the log takes nothing. */
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

  /** The same if nobody waits for it: a failure is reported to the operator. `Presence.reconcile` logs what is missing after a recovery. */
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

  /** Gives an envelope the next seq, folds it into the state and hands it to the log. */
  admit(envelope: Envelope, encoded: Encoded, origin?: Origin): void {
    const seq = ++this.#admitted
    envelope.seq = seq
    const draft = toDraft(envelope, seq, encoded)
    this.ids.admit(draft)
    this.#origins.push(origin)
    this.#fold(envelope, encoded.body)
    this.#commit.add(draft)
  }

  /** Sends on an envelope that is not logged, here and at the other gateways. */
  relay(envelope: Envelope, encoded: Encoded, from: Sender): void {
    const entry = toDraft(envelope, 0, encoded)
    this.offer(entry, from)
    this.elsewhere?.relay(entry, from)
  }

  /** Offers it to all here who may read it, but not to `from`, whichever gateway has admitted it. */
  offer(entry: Entry, from: Sender | undefined): void {
    const relayed = new Relayed(entry, this.decideAudience(entry), from)
    for (const session of this.sessions) if (session.live) relayed.offer(session)
    for (const listener of this.#listeners) listener.relayed?.(relayed)
  }

  /** Whatever was to last until now is over. */
  advance(): void {
    this.state.trust.advance(this.clock.now())
  }

  /** When something ends that this gateway is to tell of, or earlier; infinity = nothing does. */
  get nextEnd(): number {
    return this.#broken || this.isFollower ? Number.POSITIVE_INFINITY : this.state.nextEnd
  }

  /** What somebody may read, as of now. */
  getReader({ participant }: Pick<Reader, 'participant'>): Reader {
    return { participant, ...this.state.participants.readRights(participant) }
  }

  /** Who may read an envelope that the log has, as of what was delivered last. */
  decideAudience(envelope: LoggedAddress): Audience {
    return this.wasErased(envelope.seq) ? nobody : this.#decideAudience(envelope)
  }

  /** Whether everyone may read an envelope, if it is admitted. */
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

  /** The start of a run tells for ever, also when the state has forgotten it. */
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
    return checkWithin(maxDecidingSteps, () =>
      [...participants.ids()].filter((id) => participants.allows(id, request)),
    )
  }

  /** Whether a participant may read an admitted envelope. */
  mayRead(participant: string, envelope: Addressed): boolean {
    return mayRead(this.getReader({ participant }), this.#decideAudience(envelope))
  }

  /** Another one whenever envelopes that the log has may be read by others than before. */
  get audienceVersion(): string {
    const { contexts, trust } = this.state
    // Who may decide a proposal of a private run reads it.
    const rights = contexts.hasPrivateRuns ? trust.revision : ''
    return `${this.config.mcp.visibility} ${rights} ${this.#hidden.version} ${this.#erased.size} ${this.log.oldest}`
  }

  /** Whether a delivered record says so [MEUP-10.10]. */
  wasErased(seq: number): boolean {
    return this.#erased.size > 0 && this.#erased.has(seq)
  }

  /** Of what was erased before it came here, the record is still to come. */
  createDelivery(entry: Entry): Delivery {
    return new Delivery(entry, entry.body.length === 0 ? nobody : this.decideAudience(entry))
  }

  /** Resolves to whether the log has this seq, as soon as that is certain. */
  committed(seq: number): Promise<boolean> {
    return seq <= this.delivered ? Promise.resolve(true) : this.#watchers.wait(seq)
  }

  /** Resolves when everything admitted so far is committed, or has failed: to whether it is committed. */
  async settled(): Promise<boolean> {
    const last = this.#admitted
    await this.#commit.idle()
    return last <= this.delivered
  }

  /** From now on nothing is admitted but what the gateway itself has to say. */
  refuse(why: string): void {
    this.#closedFor = why
  }

  /** Stops the timers, and the recovery of a log that cannot be written. */
  close(): void {
    this.decisions.close()
    this.#recovery.close()
  }

  /** Why nothing is admitted at present; `undefined` = all is well. */
  get stopped(): string | undefined {
    return (
      this.#closedFor ??
      (this.#broken ? unwritable : undefined) ??
      (this.#commit.isBehind ? 'the log has fallen behind' : undefined)
    )
  }

  /** Where much waits for the log: resolves when whoever sends should be read on. */
  whenWritable(): Promise<void> | undefined {
    return this.#commit.whenWritable()
  }

  /** What is admitted, and not on its way to the log yet. */
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
   * A commit that fails refuses all that was in flight [MEUP-4.10]. The state is rebuilt from the log at once, for those
   * who read; nothing is admitted until the log can be written again.
   */
  #recover(error: unknown, lost: readonly Draft[]): void {
    this.logger.error({ space: this.config.name, err: error, lost: lost.length }, 'the log refused a commit')
    this.metrics.failedCommits++
    this.ids.settle(lost)
    this.#restore()
    const origins = this.#origins.splice(0)
    for (const draft of lost) this.#refuseLost(draft, origins[draft.seq - this.delivered - 1])
  }

  /** What others have appended to the log, in order: folded and delivered. */
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

  /** Finds out anew who sequences the space, and takes it up where its log ends. */
  takeUp(): void {
    // What is on its way to the log tells by itself whether it can be written.
    if (!this.#broken && this.#admitted === this.delivered) this.#restore()
  }

  #restore(): void {
    this.#broken = true
    this.#hidden.forget()
    this.#watchers.rejectAll()
    let state: SpaceState | undefined
    this.#recovery.begin(async () => {
      state ??= await resume(this.log, this.config.name, this.logger, this.delivered)
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
    const refusal: Refusal = { code: 'unavailable', message: `${unwritable}. Send it again later.` }
    this.metrics.refused.add(refusal.code)
    const ts = this.timestamp(this.clock.now())
    sender.reply(messageFrom(errorFrame(sender.participant, ts, refusal, { id, kind })))
  }

  /** Delivers what was stored though its commit seemed to fail. */
  async #catchUp(): Promise<void> {
    const lost = `The log ends at ${this.log.head}, but ${this.delivered} has been acknowledged. Restore it from a copy.`
    if (this.log.head < this.delivered) throw new Error(lost)
    while (this.delivered < this.log.head)
      this.#receive(await this.log.read({ after: this.delivered, limit: 1000 }))
    this.#admitted = this.delivered
  }
}

/** What the gateway itself says. */
interface Emitted
  extends Pick<Envelope, 'kind'>,
    Partial<Pick<Envelope, 'context' | 'to' | 'correlationId'>> {
  /** Its JSON, where that has what parsing would change. */
  readonly payload: object | string
}

/** What a space needs of the world. */
interface SpacePorts {
  readonly log: EnvelopeLog
  readonly clock: Clock
  readonly logger: Logger
  /** Whether this opens anything in this gateway. */
  isToken(candidate: string): boolean
}

/** Gives milliseconds as RFC 3339 with milliseconds; formatted once per millisecond. */
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

/** Takes one frame to the pipeline, wherever the space is sequenced. */
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

/** The other gateways of a space: the one that sequences it, as the others see it, and these as it sees them. */
export interface RemoteSequencer {
  /** Whether this is a frame for it; what changes a connection alone stays with that. */
  isFor(frame: Uint8Array): boolean
  /** Answers the sender as `Space.submit` does. */
  submit(sender: Sender, frame: Uint8Array, form?: FrameForm): Promise<Receipt | Refusal>
  /** Has the other gateways offer what was admitted here and is not logged: each does so once, or not at all. */
  relay(entry: Entry, from: Sender): void
  /** Logs an envelope of the gateway's own. Gives its seq; rejects when it was not taken. */
  emit(fields: object): Promise<number>
  /** Says that a program has ended; `isBye`: that it has closed its last connection here, and ends with its last one anywhere. */
  endProgram(participant: string, session: string, isBye: boolean): void
  /** Who is present here, or how the programs are doing that run here, has changed. */
  present(): void
}

/** How a space is doing, for its operator. */
export interface SpaceReport {
  readonly space: string
  /** Why nothing is admitted at present; `undefined` = all is well. */
  readonly stopped: string | undefined
  /** Last seq that was delivered. */
  readonly head: number
  readonly connections: number
  /** Bytes that clients have not taken yet. */
  readonly unsentBytes: number
  /** What is admitted, and not on its way to the log yet. */
  readonly waiting: { readonly envelopes: number; readonly bytes: number }
  /** Delivered envelopes that the index of turns has still to take. */
  readonly unindexed: number
  /** Envelopes that were erased, and whose bytes are still to be removed. */
  readonly unerased: number
  /** Participants who are there. */
  readonly present: number
  readonly openContexts: number
  /** Proposals that somebody may still decide on. */
  readonly openProposals: number
  readonly metrics: SpaceMetrics
}

/** `indexed`: last seq that the index of turns has. */
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
