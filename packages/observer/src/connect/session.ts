import {
  type AnyEnvelope,
  BaseClient,
  ConnectionError,
  type Draft,
  ProtocolError,
} from '@meup/agent-sdk/watch'
import type { SubscribePayload, WelcomePayload } from '@meup/protocol'
import { SpaceModel } from '../model/index.js'
import { Audit } from './audit.js'
import { Batches } from './batches.js'
import { Cutting } from './cutting.js'
import { dialAt } from './dial.js'
import { atFirst, History } from './history.js'
import { type Asked, readHistory } from './http.js'
import type { Place } from './place.js'
import { isReady, makeReady } from './regular-expressions.js'
import { TimeTravel } from './time-travel.js'

/** How it stands with the space. */
export type Stage =
  | { readonly at: 'connecting' }
  | { readonly at: 'live' }
  /** `until` = when the next try begins, in milliseconds by the clock of this machine. */
  | { readonly at: 'reconnecting'; readonly until: number; readonly reason: string }
  /** `isRefused`: the gateway does not take this token. */
  | { readonly at: 'ended'; readonly reason: string; readonly isRefused: boolean }

export type Detail = NonNullable<SubscribePayload['reasoning']>

/** Milliseconds between two looks at how much the gateway keeps back. */
const lookAgain = 10_000

/** One visit to a space: what is known of it, and what its reader does in it. */
export class Session {
  readonly place: Place
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
  /** What this reader does not want to be sent. */
  readonly cutting: Cutting
  #watcher: BaseClient | undefined
  #isOver = false
  readonly #changed: () => void
  readonly #batches = new Batches<AnyEnvelope>((batch) => {
    this.present.take(batch, Date.now())
    this.#changed()
    void this.#history.fill()
  })
  readonly #history: History

  constructor(place: Place, changed: () => void) {
    this.place = place
    this.#changed = changed
    this.time = new TimeTravel(() => this.present, changed)
    this.audit = new Audit(place, () => this.present.log, changed)
    this.#history = new History({
      place,
      model: () => this.present,
      changed,
      failed: (error) => this.#tell(`Earlier envelopes could not be loaded: ${reasonOf(error)}`),
    })
    this.cutting = new Cutting({
      desk: () => this.desk,
      last: () => this.present.log.last,
      missing: () => this.present.log.missing,
      runs: () => [...this.present.runs.keys()],
      fetch: (asked, isWanted) => this.#fetch(() => asked, isWanted),
      changed,
      tell: (reason) => this.#tell(reasonOf(reason)),
    })
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
      const watcher = await BaseClient.open(dialAt(this.place), { ...this.place, ...this.#resume() })
      if (this.#isOver) watcher.close()
      else this.#follow(watcher)
    } catch (error) {
      this.#end(error)
    }
  }

  /** After it has ended: tries to go on from where it was. */
  async again(): Promise<void> {
    if (this.stage.at !== 'ended') return
    this.#isOver = false
    this.stage = { at: 'connecting' }
    this.#changed()
    await this.open()
  }

  close(): void {
    this.#isOver = true
    this.#batches.clear()
    this.time.toPresent()
    this.audit.stop()
    this.#history.stop()
    this.#watcher?.close()
  }

  /** Whether this reader may do it, as far as is known. */
  can(draft: Draft): boolean {
    const watcher = this.#watcher
    if (watcher === undefined) return false
    if (isReady(watcher.capabilities)) return watcher.can(draft)
    makeReady(watcher.capabilities).then(
      () => this.#changedRights(),
      (error: unknown) => this.#tell(reasonOf(error)),
    )
    return false
  }

  /** What this reader does; `undefined` while the space cannot be reached, or is looked at as it was. */
  get desk(): BaseClient | undefined {
    return this.stage.at === 'live' && !this.time.isPast ? this.#watcher : undefined
  }

  get detail(): Detail {
    return this.cutting.cut.detail
  }

  /** Changes how much of others' thoughts this connection is shown; what was missed is fetched when it is all again. */
  show(detail: Detail): Promise<void> {
    return this.cutting.to({ ...this.cutting.cut, detail })
  }

  loadEarlier(): Promise<void> {
    return this.#history.loadEarlier()
  }

  /** What is asked of the log at first. */
  #resume(): { readonly tail: number } | { readonly after: number; readonly epoch: string } {
    const { last } = this.present.log
    return last === 0 || this.welcome === undefined
      ? { tail: atFirst }
      : { after: last, epoch: this.welcome.space.epoch }
  }

  #follow(watcher: BaseClient): void {
    const isReturn = this.present.log.last > 0
    if (isReturn) {
      this.stage = { at: 'reconnecting', until: 0, reason: '' }
      if (watcher.welcome.resume.status === 'lost') this.#lost()
    }
    this.#watcher = watcher
    this.#welcomed(watcher, watcher.welcome)
    const looking = setInterval(() => void this.cutting.look(), lookAgain)
    watcher
      .on('envelope', (envelope) => this.#batches.add(envelope))
      .on('welcome', (welcome) => this.#welcomed(watcher, welcome))
      .on('lost', () => this.#lost())
      .on('reconnecting', (inMs, reason) => {
        this.stage = { at: 'reconnecting', until: Date.now() + inMs, reason }
        this.#changed()
      })
      .on('visibility', ({ context, hiddenBy = [], by = '' }) => {
        if (hiddenBy.includes(by)) return
        void this.#fetch(() => ({ context, before: this.present.log.last + 1 }))
      })
      .on('closed', (error) => {
        clearInterval(looking)
        this.#end(error)
      })
  }

  #welcomed(watcher: BaseClient, welcome: WelcomePayload): void {
    const isBack = this.stage.at === 'reconnecting'
    const { status, from, to } = welcome.resume
    this.stage = { at: 'live' }
    this.cutting.welcomed(welcome, isBack)
    this.present.enter(welcome, Date.now(), watcher.gatewayTime())
    this.rights++
    this.audit.watch(welcome.space.epoch, welcome.space.head)
    if (isBack && status !== 'lost')
      this.notice = to < from ? 'back, nothing missed' : `replayed ${from}–${to}`
    this.#changed()
  }

  /** Everything that is shown is of a log that is no more. */
  #lost(): void {
    this.#batches.clear()
    this.time.toPresent()
    this.present = new SpaceModel(undefined, this.present)
    this.#history.isWhole = true
    this.cutting.lost()
    this.#tell('The log that was shown here is gone; this is what the space has now.')
  }

  /** Adds what was kept back: nothing that is still on its way over the socket. */
  async #fetch(asked: () => Asked, isWanted = (_: AnyEnvelope): boolean => true): Promise<void> {
    try {
      await this.#batches.drained()
      const { envelopes } = await readHistory(this.place, asked())
      // What is earlier than all that was loaded comes when that is asked for, without a gap.
      const { first } = this.present.log
      await this.#history.merge(envelopes.filter((each) => (each.seq ?? 0) >= first && isWanted(each)))
      this.#changed()
    } catch (error) {
      this.#tell(`What was hidden could not be loaded: ${reasonOf(error)}`)
    }
  }

  #changedRights(): void {
    this.rights++
    this.#changed()
  }

  #tell(notice: string): void {
    this.notice = notice
    this.#changed()
  }

  #end(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.audit.stop()
    const isRefused = error instanceof ProtocolError && !error.retryable
    this.stage = { at: 'ended', isRefused, reason: reasonOf(error) }
    this.#changed()
  }
}

/** In words, with what to do about it where that is known. */
export function reasonOf(error: unknown): string {
  if (error instanceof ConnectionError) return `${error.message} — ${error.hint}`
  if (error instanceof ProtocolError && error.code === 'unauthorized') {
    return 'The gateway does not take this token here. Check it, and the name of the space.'
  }
  return error instanceof Error ? error.message : String(error ?? 'the connection was closed')
}
