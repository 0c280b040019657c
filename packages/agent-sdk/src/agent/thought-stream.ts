import { cut } from '@meup/folds'

/** Runs `task` once after `ms`, unless the returned function is called first. */
type After = (ms: number, task: () => void) => () => void

/** Minimum milliseconds between two thoughts. */
const thoughtIntervalMs = 400
/** Maximum characters of a thought; the gateway cuts much longer ones. */
const maxThoughtChars = 8000

/**
 * Turns a model's streamed reasoning into thoughts: whole sentences, at most one envelope per 400 ms. Errors go to `onError`
 * without stopping the stream.
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

  /** Number of characters that are not sent yet. */
  get waitingChars(): number {
    return this.#text.length
  }

  push(delta: string): void {
    this.#text += delta
    this.#schedule()
  }

  /** Sends the remaining text: cut to one thought, or as several if the stream is `isWhole`. Resolves when it is in the log. */
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

/** Splits a text into thoughts that each fit in an envelope. */
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

/** Number of characters of the next thought; 0 until there is enough text for a full one. */
function countNextChars(text: string): number {
  const full = text.slice(0, maxThoughtChars)
  if (text.length <= maxThoughtChars) return countSendableChars(full)
  return countSendableChars(full) || full.replace(/[\ud800-\udbff]$/, '').length
}

/** Ends of sentences: a punctuation mark with closing quotes and white space, or a line break. */
const sentenceEnd = /[.!?…]["')\]*_]*\s|[。！？]|\n/g
/** Minimum characters, about ten tokens, of a thought that is sent before the end. */
const minPieceChars = 40

/**
 * Length of the part of a growing text that can be sent: its complete sentences, or whole words if the first sentence is long.
 * 0 = nothing.
 */
function countSendableChars(text: string): number {
  const ends = [...text.matchAll(sentenceEnd)].map((match) => match.index + match[0].length)
  const last = ends.findLast((end) => text.slice(0, end).trim() !== '')
  if (last !== undefined) return last
  const words = text.search(/\s\S*$/)
  return words >= minPieceChars ? words : 0
}
