import { type AnyEnvelope, ConnectionError, type Draft, ProtocolError, Watcher } from '@meup/agent-sdk/watch'
import type { SubscribePayload, WelcomePayload } from '@meup/protocol'
import { SpaceModel } from '../model/index.js'
import { Batches } from './batches.js'
import { dialAt } from './dial.js'
import { type Asked, readHistory } from './http.js'
import type { Place } from './place.js'
import { isReady, makeReady } from './regular-expressions.js'

/** How it stands with the space. */
export type Stage =
  | { readonly at: 'connecting' }
  | { readonly at: 'live' }
  /** `until` = when the next try begins, in milliseconds by the clock of this machine. */
  | { readonly at: 'reconnecting'; readonly until: number; readonly reason: string }
  /** `isRefused`: the gateway does not take this token. */
  | { readonly at: 'ended'; readonly reason: string; readonly isRefused: boolean }

export type Detail = NonNullable<SubscribePayload['reasoning']>

/** Envelopes that are asked for at first; of longer logs the reader asks for more. */
const atFirst = 20_000
/** Requests, of 1,000 envelopes each, when the reader asks for earlier ones. */
const earlierPages = 5
/** Milliseconds between two looks at how much the gateway keeps back. */
const lookAgain = 10_000

/** One visit to a space: what is known of it, and what its reader does in it. */
export class Session {
  readonly place: Place
  model = new SpaceModel()
  stage: Stage = { at: 'connecting' }
  /** What has just happened to the connection. */
  notice: string | undefined
  isLoading = false
  /** Changes whenever what this reader may do does. */
  rights = 0
  detail: Detail = 'full'
  #watcher: Watcher | undefined
  /** Last seq that was shown in full, while less is shown. */
  #fullUntil = 0
  #isOver = false
  readonly #changed: () => void
  readonly #batches = new Batches<AnyEnvelope>((batch) => {
    this.model.take(batch, Date.now())
    this.#changed()
  })
  /** Whether the log has nothing before what was loaded. */
  #isWhole = false

  constructor(place: Place, changed: () => void) {
    this.place = place
    this.#changed = changed
  }

  /** Whether there may be envelopes before those that were loaded. */
  get hasEarlier(): boolean {
    return !this.#isWhole && this.model.log.first > 1
  }

  get welcome(): WelcomePayload | undefined {
    return this.#watcher?.welcome
  }

  async open(): Promise<void> {
    try {
      const watcher = await Watcher.open(dialAt(this.place), { ...this.place, tail: atFirst })
      if (this.#isOver) watcher.close()
      else this.#follow(watcher)
    } catch (error) {
      this.#end(error)
    }
  }

  close(): void {
    this.#isOver = true
    this.#batches.clear()
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

  /** What this reader does; `undefined` while the space cannot be reached. */
  get desk(): Watcher | undefined {
    return this.stage.at === 'live' ? this.#watcher : undefined
  }

  /** Changes how much of others' thoughts this connection is shown; what was missed is fetched when it is all again. */
  async show(detail: Detail): Promise<void> {
    const watcher = this.desk
    if (watcher === undefined || detail === this.detail) return
    if (this.detail === 'full') this.#fullUntil = this.model.log.last
    const { space } = await watcher.subscribe({ reasoning: detail })
    this.detail = detail
    this.#changed()
    if (detail === 'full') await this.#fetch(() => ({ after: this.#fullUntil, before: space.head + 1 }))
  }

  async loadEarlier(): Promise<void> {
    if (this.isLoading) return
    this.isLoading = true
    this.#changed()
    try {
      const asked = { before: this.model.log.first, order: 'desc' } as const
      const { envelopes, isAll } = await readHistory(this.place, asked, earlierPages)
      this.#isWhole = isAll
      this.model.merge(envelopes)
    } catch (error) {
      this.#tell(`Earlier envelopes could not be loaded: ${reasonOf(error)}`)
    }
    this.isLoading = false
    this.#changed()
  }

  #follow(watcher: Watcher): void {
    this.#watcher = watcher
    this.#welcomed(watcher.welcome)
    const looking = setInterval(() => this.#look(), lookAgain)
    watcher
      .on('envelope', (envelope) => this.#batches.add(envelope))
      .on('welcome', (welcome) => this.#welcomed(welcome))
      .on('lost', () => this.#lost())
      .on('reconnecting', (inMs, reason) => {
        this.stage = { at: 'reconnecting', until: Date.now() + inMs, reason }
        this.#changed()
      })
      .on('visibility', ({ context, reasoningVisible }) => {
        if (reasoningVisible) void this.#fetch(() => ({ context, before: this.model.log.last + 1 }))
      })
      .on('closed', (error) => {
        clearInterval(looking)
        this.#end(error)
      })
  }

  #welcomed(welcome: WelcomePayload): void {
    const isBack = this.stage.at === 'reconnecting'
    const { status, from, to } = welcome.resume
    this.stage = { at: 'live' }
    this.model.enter(welcome, Date.now())
    this.rights++
    if (isBack && status !== 'lost')
      this.notice = to < from ? 'back, nothing missed' : `replayed ${from}–${to}`
    this.#changed()
  }

  /** Everything that is shown is of a log that is no more. */
  #lost(): void {
    this.#batches.clear()
    this.model = new SpaceModel()
    this.#isWhole = true
    this.#fullUntil = 0
    this.#tell('The log that was shown here is gone; this is what the space has now.')
  }

  /** Adds what was kept back: nothing that is still on its way over the socket. */
  async #fetch(asked: () => Asked): Promise<void> {
    try {
      await this.#batches.drained()
      const { envelopes } = await readHistory(this.place, asked())
      this.model.merge(envelopes)
      this.#changed()
    } catch (error) {
      this.#tell(`What was hidden could not be loaded: ${reasonOf(error)}`)
    }
  }

  /** The gateway tells how much it kept back whenever it is asked for the same again. */
  #look(): void {
    if (this.detail === 'full') return
    this.desk?.subscribe({ reasoning: this.detail }).catch((error: unknown) => this.#tell(reasonOf(error)))
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
