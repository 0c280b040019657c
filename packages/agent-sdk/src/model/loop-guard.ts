import { NoAnswerError } from './errors.js'

/** Maximum characters of a model's output, including thoughts and calls; far more than any legitimate output. */
const maxChars = 4_000_000
/** The output is a loop if its last `loopChars` characters repeat a piece of at most `maxPieceChars` characters. */
const [loopChars, maxPieceChars] = [8000, 400]
/** Characters between two checks. */
const stepChars = 1000

/** Detects endless repetition, which small models are prone to. */
export class LoopGuard {
  #total = 0
  #looked = 0
  #end = ''

  /** Throws `NoAnswerError` when it detects a loop. */
  push(text: string): void {
    this.#total += text.length
    if (this.#total > maxChars) throw new NoAnswerError('endless', { limit: maxChars })
    this.#end = (this.#end + text).slice(-loopChars)
    if (this.#total - this.#looked < stepChars) return
    this.#looked = this.#total
    if (isLoop(this.#end)) throw new NoAnswerError('repetition', {})
  }
}

function isLoop(text: string): boolean {
  if (text.length < loopChars) return false
  for (let length = 1; length <= maxPieceChars; length++) {
    if (text.startsWith(text.slice(length))) return true
  }
  return false
}
