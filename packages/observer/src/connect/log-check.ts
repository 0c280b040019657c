// Verifies the hash chain of the log (`audit ✓` in the header). The audit of steps, `GET /audit`, is something else.
import { type HttpClient, ProtocolError } from '@meup/agent-sdk/http'
import { getErrorMessage } from '@meup/protocol'
import type { BrokenChain, ChainCheck, CheckResult, Log } from '../model/index.js'

type LogCheckState =
  /** `isLong`: so much is unchecked that the reader has to start the check. */
  | { readonly at: 'waiting'; readonly isLong: boolean }
  | { readonly at: 'checking' }
  | { readonly at: 'whole' }
  /** `seq`: the first changed envelope; absent if unknown. */
  | { readonly at: 'broken'; readonly problem: string; readonly seq?: number }
  /** The check failed for a reason other than a changed log. */
  | { readonly at: 'unknown'; readonly problem: string }

/** Poll interval for new envelopes, minimum pause between two checks, and duration of a slice of work. */
const [pollMs, minPauseMs, sliceMs] = [1000, 8000, 10]
/**
 * Maximum unchecked envelopes for an automatic check (with more, the reader has to start it), and maximum new ones per poll:
 * more of them mean that history is being loaded, and the check waits for its end.
 */
const [maxUnaskedEnvelopes, maxLoadingEnvelopes] = [200_000, 1500]

/**
 * Verifies the hash chain of a space's log in this page, from the gateway's export, and compares the export with the shown
 * envelopes. Later checks continue where the last one ended.
 */
export class LogCheck {
  state: LogCheckState = { at: 'waiting', isLong: false }
  readonly #http: HttpClient
  readonly #log: () => Log
  readonly #onChange: () => void
  #timer: ReturnType<typeof setInterval> | undefined
  #epoch: string | undefined
  #head = 0
  /** Imported with the first check, so that the page starts without this code. */
  #chain: ChainCheck | undefined
  /** Time at which the last check ended, in ms since the epoch. */
  #last = 0
  /** Seq of the last envelope at the last poll. */
  #polledSeq = 0
  #stopped = new AbortController()
  /** Start of the current slice of work, by `performance.now()`. */
  #began = 0

  constructor(http: HttpClient, log: () => Log, onChange: () => void) {
    this.#http = http
    this.#log = log
    this.#onChange = onChange
  }

  get checked(): CheckResult | undefined {
    return this.#chain?.checked
  }

  /** Number of envelopes after the last verified one, up to the end of the loaded log. */
  get rest(): number {
    return Math.max(this.#log().last - (this.checked?.head ?? 0), 0)
  }

  /** Verified share of the log, from 0 to 1. */
  get progress(): number {
    const all = Math.max(this.#head, this.#log().last)
    return all === 0 ? 0 : Math.min(Math.max(this.#chain?.hashes.last ?? 0, 0) / all, 1)
  }

  /** The hexadecimal hash of the chain at a seq; `undefined` if not verified. */
  getHash(seq: number): string | undefined {
    const { state, checked } = this
    const wrong = state.at === 'broken' ? (state.seq ?? 0) : Number.POSITIVE_INFINITY
    return seq < wrong && seq <= (checked?.head ?? -1) ? this.#chain?.hashes.get(seq) : undefined
  }

  /** Starts to check in the background. `epoch` and `head` come from the gateway's welcome. */
  watch(epoch: string, head: number): void {
    if (epoch !== this.#epoch) {
      this.stop()
      this.#chain = undefined
      this.state = { at: 'waiting', isLong: false }
    }
    ;[this.#epoch, this.#head] = [epoch, head]
    this.#timer ??= setInterval(() => this.#poll(), pollMs)
  }

  /** Stops checking; keeps the result. */
  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#stopped.abort()
    if (this.state.at === 'checking') this.state = { at: 'waiting', isLong: false }
  }

  /** Verifies the whole log again. */
  async recheck(): Promise<void> {
    if (this.state.at === 'checking') return
    this.#chain?.reset()
    await this.check()
  }

  /** Verifies the part of the log that was not checked yet. */
  async check(): Promise<void> {
    if (this.state.at === 'checking') return
    this.#stopped = new AbortController()
    const { signal } = this.#stopped
    this.#setState({ at: 'checking' })
    this.#began = performance.now()
    try {
      this.#chain ??= await this.#newChain()
      signal.throwIfAborted()
      await this.#chain.check()
      if (!signal.aborted) this.#setState({ at: 'whole' })
    } catch (error) {
      if (signal.aborted) return
      const state = isBrokenChain(error) ? toBrokenState(error) : await this.#explain(error)
      if (!signal.aborted) this.#setState(state)
    }
    this.#last = Date.now()
  }

  #poll(): void {
    const { at } = this.state
    if (document.hidden || at === 'checking' || at === 'broken' || this.rest === 0) return
    const { last } = this.#log()
    const isLoading = last - this.#polledSeq > maxLoadingEnvelopes
    this.#polledSeq = last
    if (isLoading || Date.now() - this.#last < minPauseMs) return
    if (Math.max(this.#head, last) - Math.max(this.#chain?.hashes.last ?? 0, 0) > maxUnaskedEnvelopes) {
      if (at === 'waiting' && !this.state.isLong) this.#setState({ at: 'waiting', isLong: true })
    } else this.check().catch(reportError)
  }

  async #newChain(): Promise<ChainCheck> {
    const { ChainCheck, sha256 } = await import('./chain.js')
    const open = (after: number): AsyncIterable<Uint8Array> => this.#export(after)
    const shown = (seq: number) => this.#log().at(seq)
    return new ChainCheck(this.#epoch ?? '', { sha256, open, shown, pause: () => this.#pause() })
  }

  async *#export(after: number): AsyncGenerator<Uint8Array, void> {
    const query = after < 1 ? {} : { after }
    yield* await this.#http.openExport(query, { signal: this.#stopped.signal })
  }

  #pause(): Promise<void> | undefined {
    if (performance.now() - this.#began < sliceMs) return undefined
    const { signal } = this.#stopped
    return new Promise((resolve) => setTimeout(resolve)).then(() => {
      signal.throwIfAborted()
      this.#onChange()
      this.#began = performance.now()
    })
  }

  /** Explains why an export is incomplete: asks the gateway to verify its log, which may be broken. */
  async #explain(error: unknown): Promise<LogCheckState> {
    const problem = getErrorMessage(error)
    if (error instanceof ProtocolError) return { at: 'unknown', problem }
    try {
      const { ok, brokenAt } = await this.#http.verifyLog()
      if (ok || brokenAt === undefined) return { at: 'unknown', problem }
      return { at: 'broken', seq: brokenAt, problem: 'the gateway finds it missing or changed' }
    } catch {
      return { at: 'unknown', problem: `the gateway cannot be asked now: ${problem}` }
    }
  }

  #setState(state: LogCheckState): void {
    this.state = state
    this.#onChange()
  }
}

/** Checks the name, not the class, which is imported lazily. */
const isBrokenChain = (error: unknown): error is BrokenChain =>
  error instanceof Error && error.name === 'BrokenChain'

const toBrokenState = ({ message: problem, seq }: BrokenChain): LogCheckState => ({
  at: 'broken',
  problem,
  ...(seq !== undefined && { seq }),
})
