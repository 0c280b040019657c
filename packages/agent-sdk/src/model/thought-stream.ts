import { cut } from '@meup/folds'
import { patiently } from '../agent/respond.js'
import type { Clock } from './clock.js'
import { sayable } from './sentences.js'

/** Milliseconds between two thoughts. */
const gap = 400
/** Characters of one thought; the gateway cuts what is much longer. */
const longest = 8000

/**
 * Makes thoughts of what a model thinks token by token: whole sentences, at most one envelope every 400 ms, and one more
 * for what is left in the end. Trouble with them is told to `trouble`, and never stops what goes on beside them.
 */
export class ThoughtStream {
  readonly #say: (text: string) => Promise<unknown>
  readonly #clock: Clock
  readonly #trouble: (error: unknown) => void
  #text = ''
  #cancel: (() => void) | undefined
  #saying: Promise<void> | undefined

  constructor(say: (text: string) => Promise<unknown>, clock: Clock, trouble: (error: unknown) => void) {
    this.#say = say
    this.#clock = clock
    this.#trouble = trouble
  }

  push(delta: string): void {
    this.#text += delta
    this.#await()
  }

  /** Says what is left, or as much of it as one thought holds. Resolves when the space has all of it. */
  async end(): Promise<void> {
    await this.#saying
    this.#cancel?.()
    this.#cancel = undefined
    const rest = this.#text
    this.#text = ''
    const left = rest.length - longest
    await this.#send(left > 0 ? `${cut(rest, longest)} (${left} more characters)` : rest)
  }

  #await(): void {
    if (this.#text === '' || this.#cancel !== undefined || this.#saying !== undefined) return
    this.#cancel = this.#clock.after(gap, () => this.#look())
  }

  #look(): void {
    this.#cancel = undefined
    const length = sayable(this.#text.slice(0, longest))
    const piece = this.#text.slice(0, length)
    this.#text = this.#text.slice(length)
    this.#saying = this.#send(piece).then(() => {
      this.#saying = undefined
      this.#await()
    })
  }

  async #send(piece: string): Promise<void> {
    const text = piece.trim()
    if (text !== '') await patiently(() => this.#say(text)).catch(this.#trouble)
  }
}
