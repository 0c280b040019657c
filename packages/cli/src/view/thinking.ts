import type { SpaceClient } from '@meup/agent-sdk'
import { type AnyEnvelope, Kind } from '@meup/protocol'

export interface ThoughtVisibilityOptions {
  readonly space: Pick<SpaceClient, 'runs'>
  /** Called when the view begins to show or to hide thoughts. */
  changed(): void
  /** Called when the log may have thoughts that were not shown. */
  reread(): void
  /** Called when the gateway refused to withhold or resume thoughts; the view shows or hides them nevertheless. */
  failed(error: unknown): void
  /** Requests that the gateway stops sending thoughts to this connection, or resumes. */
  cut(isCut: boolean): Promise<void>
}

/**
 * Shows or hides thoughts in this view. This only affects the view's own connection; other participants do not notice
 * [MEUP-9.1].
 */
export class ThoughtVisibility {
  isShown = true
  readonly #options: ThoughtVisibilityOptions
  #isAsking = false
  /** Set if the last successful request asked the gateway to stop sending thoughts. */
  #isCut = false

  constructor(options: ThoughtVisibilityOptions) {
    this.#options = options
  }

  get status(): string {
    return this.isShown ? 'thinking visible' : 'thinking hidden'
  }

  /** Changes the view immediately, then what the gateway sends. */
  toggle(): void {
    this.isShown = !this.isShown
    this.#options.changed()
    this.#start()
  }

  /** A new run may have thoughts: requests that the gateway sends or withholds them, as the view shows or hides them. */
  onEnvelope({ kind, context }: AnyEnvelope): void {
    if (kind === Kind.reasoningStart && context === undefined) this.#start()
  }

  /** Retries a request that failed. */
  onConnected(): void {
    this.#start()
  }

  #start(): void {
    this.#synchronize().catch((error: unknown) => this.#options.failed(error))
  }

  /**
   * Sends one request at a time, until the gateway sends thoughts only if the view shows them. Does not stop them while no
   * agent is thinking.
   */
  async #synchronize(): Promise<void> {
    const { space, cut, reread, failed } = this.#options
    if (this.#isAsking) return
    const isWanted = (): boolean => this.#isCut === this.isShown && (this.#isCut || space.runs.length > 0)
    this.#isAsking = true
    try {
      while (isWanted()) {
        const isCut = !this.isShown
        await cut(isCut)
        this.#isCut = isCut
      }
    } catch (error) {
      failed(error)
      return
    } finally {
      this.#isAsking = false
    }
    if (this.isShown) reread()
  }
}
