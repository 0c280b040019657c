import { cut } from '@meup/folds'

/** Runs `task` once after `ms`, unless the returned function is called first. */
type After = (ms: number, task: () => void) => () => void

/** Milliseconds between two thoughts. */
const thoughtIntervalMs = 400
/** Characters of one thought; the gateway cuts what is much longer. */
const maxThoughtChars = 8000

/**
 * Makes thoughts of what a model thinks token by token: whole sentences, at most one envelope every 400 ms, and one more
 * for what is left in the end. Errors go to `onError` and stop nothing.
 */
export class ThoughtStream {
  readonly #sendThought: (text: string) => Promise<unknown>
  readonly #after: After
  readonly #onError: (error: unknown) => void
  readonly #isWhole: boolean
  #text = ''
  #cancel: (() => void) | undefined
  #saying: Promise<void> | undefined

  constructor(
    sendThought: (text: string) => Promise<unknown>,
    after: After,
    onError: (error: unknown) => void,
    isWhole = false,
  ) {
    this.#sendThought = sendThought
    this.#after = after
    this.#onError = onError
    this.#isWhole = isWhole
  }

  /** Characters that wait to be said. */
  get waitingChars(): number {
    return this.#text.length
  }

  push(delta: string): void {
    this.#text += delta
    this.#schedule()
  }

  /** Says what is left: as much of it as one thought holds, or all of it in several if it is whole. Resolves when the space has all of it. */
  async end(): Promise<void> {
    await this.#saying
    this.#cancel?.()
    this.#cancel = undefined
    const rest = this.#text
    this.#text = ''
    for (const piece of this.#isWhole ? splitThoughts(rest) : [cutThought(rest)]) await this.#send(piece)
  }

  #schedule(): void {
    if (this.#text === '' || this.#cancel !== undefined || this.#saying !== undefined) return
    this.#cancel = this.#after(thoughtIntervalMs, () => this.#sendNext())
  }

  #sendNext(): void {
    this.#cancel = undefined
    const length = countNextChars(this.#text)
    const piece = this.#text.slice(0, length)
    this.#text = this.#text.slice(length)
    this.#saying = this.#send(piece).then(() => {
      this.#saying = undefined
      this.#schedule()
    })
  }

  async #send(piece: string): Promise<void> {
    const text = piece.trim()
    if (text !== '') await this.#sendThought(text).catch(this.#onError)
  }
}

/** A text as thoughts that each fit into an envelope. */
export function splitThoughts(text: string): string[] {
  const pieces: string[] = []
  let rest = text
  while (rest.length > maxThoughtChars) {
    const length = countNextChars(rest)
    pieces.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return [...pieces, rest].map((piece) => piece.trim()).filter((piece) => piece !== '')
}

function cutThought(text: string): string {
  const left = text.length - maxThoughtChars
  return left > 0 ? `${cut(text, maxThoughtChars)} (${left} more characters)` : text
}

/** Of the next thought: not 0 where one is full. */
function countNextChars(text: string): number {
  const full = text.slice(0, maxThoughtChars)
  if (text.length <= maxThoughtChars) return countSendableChars(full)
  return countSendableChars(full) || full.replace(/[\ud800-\udbff]$/, '').length
}

/** Ends of sentences: a mark and what follows it, or a line's end. */
const sentenceEnd = /[.!?…]["')\]*_]*\s|[。！？]|\n/g
/** Less than this, some ten tokens, is no part of a sentence worth saying by itself. */
const minPieceChars = 40

/**
 * How much of a text that is still growing can be said: its whole sentences; of a first sentence that takes long, its
 * whole words. 0 = nothing yet.
 */
function countSendableChars(text: string): number {
  const ends = [...text.matchAll(sentenceEnd)].map((match) => match.index + match[0].length)
  const last = ends.findLast((end) => text.slice(0, end).trim() !== '')
  if (last !== undefined) return last
  const words = text.search(/\s\S*$/)
  return words >= minPieceChars ? words : 0
}
