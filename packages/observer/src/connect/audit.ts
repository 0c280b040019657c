import { ProtocolError } from '@meup/protocol'
import { sha256 } from '@noble/hashes/sha2.js'
import { BrokenChain, ChainCheck, type Checked, type Log } from '../model/index.js'
import { ask, piecesOf } from './http.js'
import type { Place } from './storage.js'

/** How far the check of a log has come. */
type AuditState =
  /** `isLong`: it is not begun by itself. */
  | { readonly at: 'waiting'; readonly isLong: boolean }
  | { readonly at: 'checking' }
  | { readonly at: 'whole' }
  /** `seq` = of the first envelope that is not what it was; absent where that is not known. */
  | { readonly at: 'broken'; readonly problem: string; readonly seq?: number }
  /** It could not be checked. */
  | { readonly at: 'unknown'; readonly problem: string }

/** Milliseconds: between two looks whether there is more, between two checks, and of work in one go. */
const [pollMs, minPauseMs, sliceMs] = [1000, 8000, 10]
/** Envelopes: that are checked without being asked to, and that come between two looks where history is loaded. */
const [maxUnaskedEnvelopes, maxLoadingEnvelopes] = [200_000, 1500]

/**
 * Computes the hash chain of a space's log in this page, from the export that the gateway makes for its reader, and
 * compares the envelopes in it with those that were shown. What comes later is checked from there on.
 */
export class Audit {
  state: AuditState = { at: 'waiting', isLong: false }
  readonly #place: Place
  readonly #log: () => Log
  readonly #changed: () => void
  #timer: ReturnType<typeof setInterval> | undefined
  #epoch: string | undefined
  #head = 0
  #chain = this.#newChain('')
  /** When the last check ended. */
  #last = 0
  /** Seq of the last envelope at the last look. */
  #looked = 0
  #stopped = new AbortController()
  /** When the work began that goes on without a pause. */
  #began = 0

  constructor(place: Place, log: () => Log, changed: () => void) {
    this.#place = place
    this.#log = log
    this.#changed = changed
  }

  get checked(): Checked | undefined {
    return this.#chain.checked
  }

  /** Envelopes of those that are known here which are not checked yet. */
  get rest(): number {
    return Math.max(this.#log().last - (this.checked?.head ?? 0), 0)
  }

  /** From 0 to 1. */
  get progress(): number {
    const all = Math.max(this.#head, this.#log().last)
    return all === 0 ? 0 : Math.min(Math.max(this.#chain.hashes.last, 0) / all, 1)
  }

  /** What the chain comes to at a seq, hexadecimal, as far as it holds. */
  hashOf(seq: number): string | undefined {
    const { state, checked } = this
    const wrong = state.at === 'broken' ? (state.seq ?? 0) : Number.POSITIVE_INFINITY
    return seq < wrong && seq <= (checked?.head ?? -1) ? this.#chain.hashes.of(seq) : undefined
  }

  /** Checks from now on whatever there is. `epoch`, `head`: of the log, as the gateway says. */
  watch(epoch: string, head: number): void {
    if (epoch !== this.#epoch) {
      this.stop()
      this.#chain = this.#newChain(epoch)
      this.state = { at: 'waiting', isLong: false }
    }
    ;[this.#epoch, this.#head] = [epoch, head]
    this.#timer ??= setInterval(() => this.#look(), pollMs)
  }

  /** What was found stays. */
  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#stopped.abort()
    if (this.state.at === 'checking') this.state = { at: 'waiting', isLong: false }
  }

  /** Checks all of it, whatever was found before. */
  async again(): Promise<void> {
    if (this.state.at === 'checking') return
    this.#chain.again()
    await this.check()
  }

  /** Checks what was not checked yet. */
  async check(): Promise<void> {
    if (this.state.at === 'checking') return
    this.#stopped = new AbortController()
    const { signal } = this.#stopped
    this.#turn({ at: 'checking' })
    this.#began = performance.now()
    try {
      await this.#chain.readOn()
      if (!signal.aborted) this.#turn({ at: 'whole' })
    } catch (error) {
      if (signal.aborted) return
      const state = error instanceof BrokenChain ? brokenBy(error) : await this.#explain(error)
      if (!signal.aborted) this.#turn(state)
    }
    this.#last = Date.now()
  }

  #look(): void {
    const { at } = this.state
    if (document.hidden || at === 'checking' || at === 'broken' || this.rest === 0) return
    const { last } = this.#log()
    const isLoading = last - this.#looked > maxLoadingEnvelopes
    this.#looked = last
    if (isLoading || Date.now() - this.#last < minPauseMs) return
    if (Math.max(this.#head, last) - Math.max(this.#chain.hashes.last, 0) > maxUnaskedEnvelopes) {
      if (at === 'waiting' && !this.state.isLong) this.#turn({ at: 'waiting', isLong: true })
    } else void this.check()
  }

  #newChain(epoch: string): ChainCheck {
    const open = (after: number): AsyncIterable<Uint8Array> => this.#export(after)
    const shown = (seq: number) => this.#log().at(seq)
    return new ChainCheck(epoch, { sha256, open, shown, pause: () => this.#pause() })
  }

  async *#export(after: number): AsyncGenerator<Uint8Array, void> {
    const path = `audit/export${after < 1 ? '' : `?after=${after}`}`
    const { body } = await ask(this.#place, path, this.#stopped.signal)
    yield* piecesOf(body)
  }

  #pause(): Promise<void> | undefined {
    if (performance.now() - this.#began < sliceMs) return undefined
    const { signal } = this.#stopped
    return new Promise((resolve) => setTimeout(resolve)).then(() => {
      signal.throwIfAborted()
      this.#changed()
      this.#began = performance.now()
    })
  }

  /** Why there was no whole export: the gateway may know of a gap itself. */
  async #explain(error: unknown): Promise<AuditState> {
    const problem = error instanceof Error ? error.message : String(error)
    if (error instanceof ProtocolError) return { at: 'unknown', problem }
    try {
      const response = await ask(this.#place, 'audit/verify')
      const { ok, brokenAt } = (await response.json()) as { ok: boolean; brokenAt?: number }
      if (ok || brokenAt === undefined) return { at: 'unknown', problem }
      return { at: 'broken', seq: brokenAt, problem: 'the gateway finds it missing or changed' }
    } catch {
      return { at: 'unknown', problem: `the gateway cannot be asked now: ${problem}` }
    }
  }

  #turn(state: AuditState): void {
    this.state = state
    this.#changed()
  }
}

const brokenBy = ({ message: problem, seq }: BrokenChain): AuditState => ({
  at: 'broken',
  problem,
  ...(seq !== undefined && { seq }),
})
