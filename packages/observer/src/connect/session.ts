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
import { type Detail, getErasure, isCompilable, makeCompilable, type WelcomePayload } from '@meup/protocol'
import { SeenParts, SpaceModel } from '../model/index.js'
import { Batches } from './batches.js'
import { explainError } from './errors.js'
import { Finder } from './finder.js'
import { HeldDecisions } from './held-decisions.js'
import { HistoryLoader, initialTail, loadHistory, type SessionHandle } from './history.js'
import { LogCheck } from './log-check.js'
import { Outbox } from './outbox.js'
import { loadSession } from './storage.js'
import { Subscription } from './subscription.js'
import { TimeTravel } from './time-travel.js'

/** State of the connection to the space. */
type Stage =
  | { readonly at: 'connecting' }
  /** Logged envelopes are arriving, up to the seq `to`. `isBack`: they were missed while the connection was lost. */
  | { readonly at: 'catching-up'; readonly from: number; readonly to: number; readonly isBack: boolean }
  | { readonly at: 'live' }
  /** `until`: time of the next attempt, in ms by the local clock. */
  | { readonly at: 'reconnecting'; readonly until: number; readonly reason: string }
  /** `isRefused`: the gateway refuses this token. */
  | { readonly at: 'ended'; readonly reason: string; readonly isRefused: boolean }

/** Maximum pages of a `tools/list`. */
const maxToolPages = 20
/** Poll interval for the number of filtered-out envelopes. */
const suppressedPollMs = 10_000

/** A reader's session in a space: connection, model and actions. */
export class PageSession implements SessionHandle {
  readonly place: HttpTarget
  readonly http: HttpClient
  /** The space as of now. */
  present = new SpaceModel()
  /** The moment that is shown: now, or one in the past. */
  readonly time: TimeTravel
  /** Verifies the log's hash chain. */
  readonly logCheck: LogCheck
  stage: Stage = { at: 'connecting' }
  /** The latest notice about the connection. */
  notice: string | undefined
  /** Incremented whenever the reader's capabilities may have changed. */
  rights = 0
  /** Parts of open proposals that the reader has seen. */
  readonly seen = new SeenParts()
  /** The reader's filter at the gateway. */
  readonly subscription = new Subscription(this)
  #watcher: BaseClient | undefined
  #isOver = false
  readonly onChange: () => void
  readonly #batches = new Batches<AnyEnvelope>((batch) => {
    this.present.append(batch, Date.now())
    this.#onCaughtUp(batch.at(-1)?.seq ?? 0)
    this.onChange()
    const onError = (error: unknown): void => this.setNotice(explainError(error))
    if (batch.some((each) => getErasure(each) !== undefined)) this.#history.merge([]).catch(onError)
    this.#history.fill().catch(onError)
  })
  readonly #history = new HistoryLoader(this)
  /** The reader's messages that are not in the log yet. */
  readonly outbox: Outbox
  /** A decision of the reader that can still be undone. */
  readonly held = new HeldDecisions(this)
  /** Search in the whole log. */
  readonly finder: Finder

  constructor(place: HttpTarget, onChange: () => void) {
    this.place = place
    // No timeout: loading much history may take long, and the page stays usable meantime.
    this.http = new HttpClient(place, { timeoutMs: Number.POSITIVE_INFINITY })
    this.onChange = onChange
    this.time = new TimeTravel(() => this.present, onChange)
    this.finder = new Finder(this.http, onChange)
    this.outbox = new Outbox(this)
    this.logCheck = new LogCheck(this.http, () => this.present.log, onChange)
  }

  /** The shown space: as of now, or of the chosen moment in the past. */
  get model(): SpaceModel {
    return this.time.past ?? this.present
  }

  /** Whether earlier envelopes may exist that are not loaded. */
  get hasEarlier(): boolean {
    return !this.#history.isWhole && this.present.log.first > 1
  }

  /** Whether earlier envelopes are being loaded. */
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

  /** Reconnects after the session has ended, and resumes after the last envelope. */
  async reconnect(): Promise<void> {
    if (this.stage.at !== 'ended') return
    this.#isOver = false
    this.stage = { at: 'connecting' }
    this.onChange()
    await this.open()
  }

  /** Makes the scheduled reconnect attempt immediately. */
  retryNow(): void {
    if (this.stage.at === 'reconnecting') this.#watcher?.reconnectNow()
  }

  close(): void {
    this.#isOver = true
    this.#batches.clear()
    this.outbox.close()
    this.held.undo()
    this.time.toPresent()
    this.logCheck.stop()
    this.finder.stop()
    this.#history.stop()
    this.#watcher?.close()
  }

  /** Whether the reader's capabilities allow this envelope; `false` until they are compiled. */
  can(draft: Draft): boolean {
    const watcher = this.#watcher
    if (watcher === undefined) return false
    if (isCompilable(watcher.capabilities)) return watcher.can(draft)
    makeCompilable(watcher.capabilities).then(
      () => {
        this.rights++
        this.onChange()
      },
      (error: unknown) => this.setNotice(explainError(error)),
    )
    return false
  }

  /** Whether the session was closed, or ended by the gateway. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The client to act with; `undefined` while disconnected, or while the past is shown. */
  get client(): BaseClient | undefined {
    const isConnected = this.stage.at === 'live' || this.stage.at === 'catching-up'
    return isConnected && !this.time.isPast ? this.#watcher : undefined
  }

  async interrupt(contexts: readonly string[]): Promise<void> {
    await Promise.all(contexts.map(async (context) => this.client?.interrupt(context)))
  }

  get detail(): Detail {
    return this.subscription.wanted.detail
  }

  /** Sets how much reasoning of others is received; if that is more than before, fetches the envelopes that were left out. */
  setDetail(detail: Detail): Promise<void> {
    return this.subscription.change({ ...this.subscription.wanted, detail })
  }

  /** Requests a participant's tools, page by page. */
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

  /** The envelopes to request when connecting: those after the last shown one or, without one, the latest ones. */
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
    // If the log was replaced, the envelopes that arrive are those of the new log, not missed ones.
    const isMissed = (isBack || wasBack) && status !== 'lost'
    this.stage = isReplayed ? { at: 'live' } : { at: 'catching-up', from, to, isBack: isMissed }
    this.subscription.onWelcome(welcome, isBack)
    this.present.onWelcome(welcome, Date.now(), watcher.gatewayTime())
    this.rights++
    this.logCheck.watch(welcome.space.epoch, welcome.space.head)
    if (isBack && isReplayed && status !== 'lost') this.notice = 'back, nothing missed'
    this.onChange()
  }

  /** Called when everything up to this seq is shown. */
  #onCaughtUp(seq: number): void {
    if (this.stage.at !== 'catching-up' || seq < this.stage.to) return
    const { from, to, isBack } = this.stage
    this.stage = { at: 'live' }
    if (isBack) this.notice = `replayed ${from}–${to}`
  }

  /** Starts over with a new model, because the log was replaced. */
  #onLogLost(): void {
    this.#batches.clear()
    this.time.toPresent()
    this.present = new SpaceModel(undefined, this.present)
    this.#history.isWhole = true
    this.subscription.onLogLost()
    this.outbox.onLogLost()
    this.setNotice('The log that was shown here is gone; this is what the space has now.')
  }

  /** Loads envelopes that were filtered out, once those arriving over the WebSocket are shown. */
  async fetchMissing(asked: () => LogQuery, isWanted = (_: AnyEnvelope): boolean => true): Promise<void> {
    try {
      await this.#batches.drained()
      const { envelopes } = await loadHistory(this.http, asked())
      // Older envelopes are skipped: loading them here would leave a gap in front of the loaded log.
      const { first } = this.present.log
      await this.#history.merge(envelopes.filter((each) => (each.seq ?? 0) >= first && isWanted(each)))
      this.onChange()
    } catch (error) {
      this.setNotice(`Hidden thoughts could not be loaded: ${explainError(error)}`)
    }
  }

  setNotice(notice: string): void {
    this.notice = notice
    this.onChange()
  }

  #onEnd(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.logCheck.stop()
    const isRefused = error instanceof ProtocolError && !error.retryable
    this.stage = { at: 'ended', isRefused, reason: explainError(error) }
    this.onChange()
  }
}

/** Connects with a browser's WebSocket, which hides the reason of a failure; asks for it over HTTP. */
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
