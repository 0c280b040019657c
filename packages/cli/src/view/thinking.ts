import type { Run, SpaceClient, VisibilityChange } from '@meup/agent-sdk'
import { type AnyEnvelope, Kind, ProtocolError } from '@meup/protocol'

export interface ThoughtVisibilityOptions {
  readonly space: Pick<SpaceClient, 'runs' | 'setVisibility'>
  /** Whether the gateway is connected. */
  isConnected(): boolean
  /** The visibility has changed. */
  changed(): void
  /** The log may have thoughts that were not shown yet. */
  reread(): void
  /** The request failed. The view has changed nevertheless. */
  failed(error: unknown): void
  /** Hiding for everybody is not allowed: cuts thoughts for this connection only, or no longer. */
  cut(isCut: boolean): Promise<void>
}

/** Whether this view shows thoughts. During a run, toggling applies to everybody, and the view follows others. */
export class ThoughtVisibility {
  isShown = true
  readonly #options: ThoughtVisibilityOptions
  #isSynchronizing = false
  /** The gateway cuts thoughts for this connection alone. */
  #isCut = false

  constructor(options: ThoughtVisibilityOptions) {
    this.#options = options
  }

  get status(): string {
    return this.isShown ? 'thinking visible' : 'thinking hidden'
  }

  /** Changes the view at once, then the visibility of the active run. */
  toggle(): void {
    this.#set(!this.isShown)
    if (!this.#isSynchronizing) void this.#synchronize()
  }

  /** The visibility of a run has changed, or it has ended. */
  onVisibility({ context, reasoningVisible }: VisibilityChange): void {
    if (this.#isSynchronizing || this.#isCut || context !== this.#active?.context) return
    if (this.#set(reasoningVisible)) this.#options.reread()
  }

  /** A run begins visible. */
  onEnvelope({ kind, context }: AnyEnvelope): void {
    if (kind !== Kind.reasoningStart || context !== undefined || this.#isSynchronizing) return
    this.#set(true)
    if (this.#isCut) this.#cut(false).catch(this.#options.failed)
  }

  /** The latest open run. */
  get #active(): Run | undefined {
    return this.#options.space.runs.at(-1)
  }

  #set(isShown: boolean): boolean {
    if (this.isShown === isShown) return false
    this.isShown = isShown
    this.#options.changed()
    return true
  }

  /** Sends one request at a time, so that the last toggle is sent last. At the end the state in the log counts. */
  async #synchronize(): Promise<void> {
    const { isConnected, reread, failed } = this.#options
    const context = this.#active?.context
    if (context !== undefined || this.#isCut) {
      this.#isSynchronizing = true
      try {
        if (!isConnected()) throw new Error('it cannot be reached at present')
        let requested: boolean
        do {
          requested = this.isShown
          await this.#ask(context, requested)
        } while (requested !== this.isShown)
        if (this.#active !== undefined && !this.#isCut) this.#set(this.#active.reasoningVisible)
      } catch (error) {
        failed(error)
        return
      } finally {
        this.#isSynchronizing = false
      }
    }
    reread()
  }

  /** Falls back to this connection only, if changing it for everybody is not allowed. */
  async #ask(context: string | undefined, isShown: boolean): Promise<void> {
    const { space, failed } = this.#options
    try {
      if (this.#isCut || context === undefined) await this.#cut(!isShown)
      else await space.setVisibility(context, isShown)
    } catch (error) {
      if (this.#isCut || !isDenied(error)) throw error
      failed(error)
      await this.#cut(!isShown)
    }
  }

  async #cut(isCut: boolean): Promise<void> {
    this.#isCut = isCut
    await this.#options.cut(isCut)
  }
}

const isDenied = (error: unknown): boolean =>
  error instanceof ProtocolError && (error.code === 'forbidden' || error.code === 'capability_violation')
