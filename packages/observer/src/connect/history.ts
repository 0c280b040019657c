import type { HttpClient, LogQuery } from '@meup/agent-sdk/http'
import { type AnyEnvelope, type BaseClient, ProtocolError } from '@meup/agent-sdk/watch'
import type { SpaceModel } from '../model/index.js'
import { explainError } from './errors.js'
import { nextFrame } from './frames.js'

/** Number of latest envelopes that are loaded first, over the WebSocket. */
export const initialTail = 1000
/** Numbers of earlier envelopes that are loaded automatically, in two steps, up to the page's maximum. */
const backgroundEnvelopes = [9000, 90_000]
/** Number of envelopes loaded when the reader scrolls further back. */
const envelopesOnDemand = 10_000
const envelopesPerPage = 1000
/** Milliseconds per frame for merging envelopes. */
const frameBudgetMs = 8
/** Envelopes or blocks (messages, runs, events) between two checks of the time left in a frame. */
const stepsPerCheck = 20

/** The part of `PageSession` that loading history and filtering at the gateway use. */
export interface SessionHandle {
  readonly http: HttpClient
  /** Current model; a new object if the log is replaced. */
  readonly present: SpaceModel
  readonly client: BaseClient | undefined
  onChange(): void
  setNotice(notice: string): void
  fetchMissing(asked: () => LogQuery, isWanted?: (envelope: AnyEnvelope) => boolean): Promise<void>
}

/** Loads earlier envelopes without blocking the page. */
export class HistoryLoader {
  readonly #session: SessionHandle
  /** Whether the start of the log is loaded. */
  isWhole = false
  isLoading = false
  /** Resolves when the pending merges, which run one after the other, are done. */
  #merging: Promise<void> = Promise.resolve()
  #isFilled = false
  #isOver = false

  constructor(session: SessionHandle) {
    this.#session = session
  }

  /**
   * Loads recent history in the background. Called after each batch of arriving envelopes; only the first call has an effect.
   */
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

  /** Merges envelopes into the log, in steps that fit into frames. */
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
      const query: LogQuery = { before: first, order: 'desc' }
      const earlier = await loadHistory(this.#session.http, query, envelopes / envelopesPerPage)
      if (model !== this.#session.present) return
      await this.merge(earlier.envelopes)
      this.isWhole = earlier.isAll
    } catch (error) {
      this.#session.setNotice(`Earlier envelopes could not be loaded: ${explainError(error)}`)
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

/** Reads up to `maxPages` pages of the log, as visible to this participant; `isAll`: there are no more. */
export async function loadHistory(
  http: HttpClient,
  query: LogQuery,
  maxPages = 100,
): Promise<{ envelopes: AnyEnvelope[]; isAll: boolean }> {
  const envelopes: AnyEnvelope[] = []
  let pages = 0
  for await (const page of http.readLogPages({ ...query, limit: envelopesPerPage })) {
    envelopes.push(...page.envelopes)
    if (++pages >= maxPages) return { envelopes, isAll: page.next === undefined }
  }
  return { envelopes, isAll: true }
}

/** Reads one envelope. Rejects with `not_found` if this participant may not read it. */
export async function readOne(http: HttpClient, seq: number): Promise<AnyEnvelope> {
  const { envelopes } = await http.readLogPage({ after: seq - 1, before: seq + 1, limit: 1 })
  const [found] = envelopes
  if (found?.seq !== seq) throw new ProtocolError('not_found', 'the gateway does not show this envelope')
  return found
}
