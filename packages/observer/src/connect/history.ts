import type { HttpClient, LogQuery } from '@meup/agent-sdk/http'
import { type AnyEnvelope, type BaseClient, ProtocolError } from '@meup/agent-sdk/watch'
import type { SpaceModel } from '../model/index.js'
import { explainError } from './errors.js'
import { nextFrame } from './frames.js'

/** Latest envelopes of a log that are loaded first, over the socket. */
export const initialTail = 1000
/** Earlier envelopes that are loaded automatically: some soon, then as many as the page keeps. */
const backgroundEnvelopes = [9000, 90_000]
/** Envelopes that are loaded when the reader scrolls beyond those. */
const envelopesOnDemand = 10_000
const envelopesPerPage = 1000
/** Milliseconds per frame for creating rows. */
const frameBudgetMs = 8
/** Envelopes or blocks between two checks of the clock. */
const stepsPerCheck = 20

/** The part of a session that history and subscription use. */
export interface SessionHandle {
  readonly http: HttpClient
  /** Replaced when the log is replaced. */
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
  /** Pending merges, which are sequential. */
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

/** Reads the part of the log that this participant may see, up to `maxPages`; `isAll`: there is no more. */
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

/** The envelope with this seq. Rejects with `not_found` if this participant may not see it. */
export async function readOne(http: HttpClient, seq: number): Promise<AnyEnvelope> {
  const { envelopes } = await http.readLogPage({ after: seq - 1, before: seq + 1, limit: 1 })
  const [found] = envelopes
  if (found?.seq !== seq) throw new ProtocolError('not_found', 'the gateway does not show this envelope')
  return found
}
