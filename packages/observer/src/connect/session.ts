import { HttpClient, type HttpTarget, type LogQuery } from '@meup/agent-sdk/http'
import {
  type AnyEnvelope,
  BaseClient,
  type Dial,
  type Draft,
  dialBrowser,
  ProtocolError,
} from '@meup/agent-sdk/watch'
import { Pages } from '@meup/folds'
import {
  getErasure,
  isCompilable,
  makeCompilable,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { SeenParts, SpaceModel } from '../model/index.js'
import { Audit } from './audit.js'
import { formatError } from './errors.js'
import { Finder } from './finder.js'
import { Batches } from './frames.js'
import { HeldDecisions } from './held-decisions.js'
import { History, initialTail, readHistory, type SessionHandle } from './history.js'
import { Outbox } from './outbox.js'
import { loadSession } from './storage.js'
import { Subscription } from './subscription.js'
import { TimeTravel } from './time-travel.js'

/** How it stands with the space. */
type Stage =
  | { readonly at: 'connecting' }
  /** What was missed is on its way, up to the seq `to`. `isBack`: the connection had been lost. */
  | { readonly at: 'catching-up'; readonly from: number; readonly to: number; readonly isBack: boolean }
  | { readonly at: 'live' }
  /** `until` = when the next try begins, in milliseconds by the clock of this machine. */
  | { readonly at: 'reconnecting'; readonly until: number; readonly reason: string }
  /** `isRefused`: the gateway does not take this token. */
  | { readonly at: 'ended'; readonly reason: string; readonly isRefused: boolean }

export type Detail = NonNullable<SubscribePayload['reasoning']>

/** Pages of a list of tools that are read. */
const maxToolPages = 20
/** Milliseconds between two looks at how much the gateway keeps back. */
const suppressedPollMs = 10_000

/** One visit to a space: its connection, its model, and what the reader does in it. */
export class Session implements SessionHandle {
  readonly place: HttpTarget
  readonly http: HttpClient
  /** The space as it is now. */
  present = new SpaceModel()
  /** Where in time its reader is. */
  readonly time: TimeTravel
  /** What of the log was checked here. */
  readonly audit: Audit
  stage: Stage = { at: 'connecting' }
  /** What has just happened to the connection. */
  notice: string | undefined
  /** Changes whenever what this reader may do does. */
  rights = 0
  /** What this reader has seen of open proposals. */
  readonly seen = new SeenParts()
  /** What this reader does not want to be sent. */
  readonly subscription = new Subscription(this)
  #watcher: BaseClient | undefined
  #isOver = false
  readonly onChange: () => void
  readonly #batches = new Batches<AnyEnvelope>((batch) => {
    this.present.append(batch, Date.now())
    this.#onCaughtUp(batch.at(-1)?.seq ?? 0)
    this.onChange()
    const onError = (error: unknown): void => this.setNotice(formatError(error))
    if (batch.some((each) => getErasure(each) !== undefined)) this.#history.merge([]).catch(onError)
    this.#history.fill().catch(onError)
  })
  readonly #history = new History(this)
  /** Messages of this reader that are under way. */
  readonly outbox: Outbox
  /** What this reader has decided and can still undo. */
  readonly held = new HeldDecisions(this)
  /** What is looked for in the whole log. */
  readonly finder: Finder

  constructor(place: HttpTarget, onChange: () => void) {
    this.place = place
    // No timeout: a gateway may take long for much history, and the page stays usable meanwhile.
    this.http = new HttpClient(place, { timeoutMs: Number.POSITIVE_INFINITY })
    this.onChange = onChange
    this.time = new TimeTravel(() => this.present, onChange)
    this.finder = new Finder(this.http, onChange)
    this.outbox = new Outbox(this)
    this.audit = new Audit(this.http, () => this.present.log, onChange)
  }

  /** What is shown: the space as it is, or as it was at the moment that its reader looks at. */
  get model(): SpaceModel {
    return this.time.past ?? this.present
  }

  /** Whether there may be envelopes before those that were loaded. */
  get hasEarlier(): boolean {
    return !this.#history.isWhole && this.present.log.first > 1
  }

  /** Whether earlier ones are on their way. */
  get isLoading(): boolean {
    return this.#history.isLoading
  }

  get welcome(): WelcomePayload | undefined {
    return this.#watcher?.welcome
  }

  async open(): Promise<void> {
    try {
      const watcher = await BaseClient.open(dialAt(this.http), {
        ...this.place,
        session: loadSession(),
        ...this.#resume(),
      })
      if (this.#isOver) watcher.close()
      else this.#attach(watcher)
    } catch (error) {
      this.#onEnd(error)
    }
  }

  /** Connects again after the session has ended, and resumes from the last envelope. */
  async reconnect(): Promise<void> {
    if (this.stage.at !== 'ended') return
    this.#isOver = false
    this.stage = { at: 'connecting' }
    this.onChange()
    await this.open()
  }

  /** Connects at once, where the next attempt waits for its time. */
  retryNow(): void {
    if (this.stage.at === 'reconnecting') this.#watcher?.reconnectNow()
  }

  close(): void {
    this.#isOver = true
    this.#batches.clear()
    this.held.undo()
    this.time.toPresent()
    this.audit.stop()
    this.finder.stop()
    this.#history.stop()
    this.#watcher?.close()
  }

  /** Whether the reader's capabilities allow this envelope. */
  can(draft: Draft): boolean {
    const watcher = this.#watcher
    if (watcher === undefined) return false
    if (isCompilable(watcher.capabilities)) return watcher.can(draft)
    makeCompilable(watcher.capabilities).then(
      () => {
        this.rights++
        this.onChange()
      },
      (error: unknown) => this.setNotice(formatError(error)),
    )
    return false
  }

  /** The client to act with; `undefined` while disconnected or looking at the past. */
  get client(): BaseClient | undefined {
    const isConnected = this.stage.at === 'live' || this.stage.at === 'catching-up'
    return isConnected && !this.time.isPast ? this.#watcher : undefined
  }

  get detail(): Detail {
    return this.subscription.cut.detail
  }

  /** Changes how much of others' thoughts this connection is shown; what was missed is fetched when it is all again. */
  setDetail(detail: Detail): Promise<void> {
    return this.subscription.change({ ...this.subscription.cut, detail })
  }

  /** Asks a participant for its tools; the answer is in the log. */
  async askForTools(id: string): Promise<void> {
    const pages = new Pages()
    let asked: object | undefined = {}
    for (let page = 0; page < maxToolPages && asked !== undefined; page++) {
      const list = (await this.#watcher?.request(id, 'tools/list', asked)) ?? {}
      asked = pages.next(list)
      this.present.tools.set(id, list.tools, this.present.log.last, page === 0 && asked === undefined)
    }
    this.onChange()
  }

  loadEarlier(): Promise<void> {
    return this.#history.loadEarlier()
  }

  /** What is asked of the log at first. */
  #resume(): { readonly tail: number } | { readonly after: number; readonly epoch: string } {
    const { last } = this.present.log
    return last === 0 || this.welcome === undefined
      ? { tail: initialTail }
      : { after: last, epoch: this.welcome.space.epoch }
  }

  #attach(watcher: BaseClient): void {
    const isReturn = this.present.log.last > 0
    if (isReturn) {
      this.stage = { at: 'reconnecting', until: 0, reason: '' }
      if (watcher.welcome.resume.status === 'lost') this.#onLogLost()
    }
    this.#watcher = watcher
    this.#onWelcome(watcher, watcher.welcome)
    const looking = setInterval(() => void this.subscription.poll(), suppressedPollMs)
    watcher
      .on('envelope', (envelope) => this.#batches.add(envelope))
      .on('welcome', (welcome) => this.#onWelcome(watcher, welcome))
      .on('lost', () => this.#onLogLost())
      .on('reconnecting', (inMs, reason) => {
        this.stage = { at: 'reconnecting', until: Date.now() + inMs, reason }
        this.onChange()
      })
      .on('visibility', ({ context, hiddenBy = [], by = '' }) => {
        if (hiddenBy.includes(by)) return
        this.fetchMissing(() => ({ context, before: this.present.log.last + 1 })).catch(reportError)
      })
      .on('closed', (error) => {
        clearInterval(looking)
        this.#onEnd(error)
      })
  }

  #onWelcome(watcher: BaseClient, welcome: WelcomePayload): void {
    const isBack = this.stage.at === 'reconnecting'
    const { status, from, to } = welcome.resume
    const isReplayed = status === 'live' || to < from || this.present.log.last >= to
    const wasBack = this.stage.at === 'catching-up' && this.stage.isBack
    if (isReplayed) this.#onCaughtUp(Number.POSITIVE_INFINITY)
    // What comes of another log was not missed.
    const isMissed = (isBack || wasBack) && status !== 'lost'
    this.stage = isReplayed ? { at: 'live' } : { at: 'catching-up', from, to, isBack: isMissed }
    this.subscription.onWelcome(welcome, isBack)
    this.present.onWelcome(welcome, Date.now(), watcher.gatewayTime())
    this.rights++
    this.audit.watch(welcome.space.epoch, welcome.space.head)
    if (isBack && isReplayed && status !== 'lost') this.notice = 'back, nothing missed'
    this.onChange()
  }

  /** All up to this seq is shown. */
  #onCaughtUp(seq: number): void {
    if (this.stage.at !== 'catching-up' || seq < this.stage.to) return
    const { from, to, isBack } = this.stage
    this.stage = { at: 'live' }
    if (isBack) this.notice = `replayed ${from}–${to}`
  }

  /** Starts over: the log that was shown was replaced. */
  #onLogLost(): void {
    this.#batches.clear()
    this.time.toPresent()
    this.present = new SpaceModel(undefined, this.present)
    this.#history.isWhole = true
    this.subscription.onLogLost()
    this.outbox.onLogLost()
    this.setNotice('The log that was shown here is gone; this is what the space has now.')
  }

  /** Loads envelopes that were suppressed, after what is still on its way over the socket. */
  async fetchMissing(asked: () => LogQuery, isWanted = (_: AnyEnvelope): boolean => true): Promise<void> {
    try {
      await this.#batches.drained()
      const { envelopes } = await readHistory(this.http, asked())
      // What is earlier than all that was loaded comes when that is asked for, without a gap.
      const { first } = this.present.log
      await this.#history.merge(envelopes.filter((each) => (each.seq ?? 0) >= first && isWanted(each)))
      this.onChange()
    } catch (error) {
      this.setNotice(`What was hidden could not be loaded: ${formatError(error)}`)
    }
  }

  setNotice(notice: string): void {
    this.notice = notice
    this.onChange()
  }

  #onEnd(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.audit.stop()
    const isRefused = error instanceof ProtocolError && !error.retryable
    this.stage = { at: 'ended', isRefused, reason: formatError(error) }
    this.onChange()
  }
}

/** Dials like a browser, which does not learn why a socket fails; the reason is then fetched over HTTP. */
const dialAt =
  (http: HttpClient): Dial =>
  async (request, events, signal) => {
    try {
      return await dialBrowser(request, events, signal)
    } catch (error) {
      await http.readParticipants(signal && { signal }).catch((refusal: unknown) => {
        if (refusal instanceof ProtocolError) throw refusal
      })
      throw error
    }
  }
