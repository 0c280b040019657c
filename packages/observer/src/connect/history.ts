import type { AnyEnvelope, BaseClient } from '@meup/agent-sdk/watch'
import type { SpaceModel } from '../model/index.js'
import { nextFrame } from './frames.js'
import { type Asked, formatError, readHistory } from './http.js'
import type { Place } from './storage.js'

/** Envelopes of a log that come first, over the socket: enough to look at. */
export const initialTail = 1000
/** Envelopes before them that come by themselves: some soon, then all that the page keeps. */
const backgroundEnvelopes = [9000, 90_000]
/** Envelopes that come at once when a reader asks for still earlier ones. */
const envelopesOnDemand = 10_000
const envelopesPerRequest = 1000
/** Milliseconds of each frame in which rows are made of them. */
const frameBudgetMs = 8
/** Envelopes or blocks between two looks at the clock. */
const stepsPerCheck = 20

/** What the history and the subscription use of their session. */
export interface SessionHandle {
  readonly place: Place
  /** Another model once the log is another one. */
  readonly present: SpaceModel
  readonly client: BaseClient | undefined
  onChange(): void
  setNotice(notice: string): void
  fetchMissing(asked: () => Asked, isWanted?: (envelope: AnyEnvelope) => boolean): Promise<void>
}

/** Loads earlier envelopes without blocking the page. */
export class History {
  readonly #session: SessionHandle
  /** Whether the log has nothing before what was loaded. */
  isWhole = false
  isLoading = false
  /** Merges that are under way: one after the other. */
  #merging: Promise<void> = Promise.resolve()
  #isFilled = false
  #isOver = false

  constructor(session: SessionHandle) {
    this.#session = session
  }

  /** Loads recent history in the background, once, after the first envelopes. */
  async fill(): Promise<void> {
    if (this.#isFilled) return
    this.#isFilled = true
    await nextFrame()
    for (const envelopes of backgroundEnvelopes) if (!this.isWhole) await this.#bring(envelopes)
  }

  /** Loads more history when the reader asks for it. */
  async loadEarlier(): Promise<void> {
    if (!this.isLoading && !this.isWhole) await this.#bring(envelopesOnDemand)
  }

  /** Merges envelopes into the log, a few per frame. */
  merge(envelopes: readonly AnyEnvelope[]): Promise<void> {
    const model = this.#session.present
    this.#merging = this.#merging.then(() => this.#merge(model, envelopes))
    return this.#merging
  }

  stop(): void {
    this.#isOver = true
  }

  async #bring(envelopes: number): Promise<void> {
    const model = this.#session.present
    const { first } = model.log
    if (first === 0) return
    this.#load(true)
    try {
      const asked: Asked = { before: first, order: 'desc' }
      const earlier = await readHistory(this.#session.place, asked, envelopes / envelopesPerRequest)
      if (model !== this.#session.present) return
      await this.merge(earlier.envelopes)
      this.isWhole = earlier.isAll
    } catch (error) {
      this.#session.setNotice(`Earlier envelopes could not be loaded: ${formatError(error)}`)
    } finally {
      this.#load(false)
    }
  }

  #load(isLoading: boolean): void {
    this.isLoading = isLoading
    this.#session.onChange()
  }

  async #merge(model: SpaceModel, envelopes: readonly AnyEnvelope[]): Promise<void> {
    const steps = model.mergeInSteps(envelopes, stepsPerCheck)
    while (!this.#isOver && model === this.#session.present) {
      const until = performance.now() + frameBudgetMs
      let isDone = false
      while (!isDone && performance.now() < until) isDone = steps.next().done === true
      if (isDone) break
      await nextFrame()
    }
    this.#session.onChange()
  }
}
