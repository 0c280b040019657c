import type { SpaceClient } from '@meup/agent-sdk'
import { type AnyEnvelope, Kind } from '@meup/protocol'

export interface ThoughtVisibilityOptions {
  readonly space: Pick<SpaceClient, 'runs'>
  /** The visibility has changed. */
  changed(): void
  /** The log may have thoughts that were not shown yet. */
  reread(): void
  /** The request failed. The view has changed nevertheless. */
  failed(error: unknown): void
  /** Has the gateway send no thoughts to this connection, or send them again. */
  cut(isCut: boolean): Promise<void>
}

/** Whether this view shows thoughts. It only concerns this connection: others do not notice [MEUP-9.1]. */
export class ThoughtVisibility {
  isShown = true
  readonly #options: ThoughtVisibilityOptions
  #isAsking = false
  /** The last request to the gateway. */
  #isCut = false

  constructor(options: ThoughtVisibilityOptions) {
    this.#options = options
  }

  get status(): string {
    return this.isShown ? 'thinking visible' : 'thinking hidden'
  }

  /** Changes the view at once, then what the gateway sends. */
  toggle(): void {
    this.isShown = !this.isShown
    this.#options.changed()
    this.#start()
  }

  /** Hidden thoughts are cut as soon as there are any. */
  onEnvelope({ kind, context }: AnyEnvelope): void {
    if (kind === Kind.reasoningStart && context === undefined) this.#start()
  }

  /** Repeats a request that failed. */
  onConnected(): void {
    this.#start()
  }

  #start(): void {
    this.#synchronize().catch((error: unknown) => this.#options.failed(error))
  }

  /** Sends one request at a time, so that the last toggle is sent last. Sends nothing while no participant thinks. */
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
