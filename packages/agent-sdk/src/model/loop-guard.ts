/** Characters of one answer with its thoughts and calls: more than any model has to say. */
const maxChars = 4_000_000
/** So many characters in which one piece, of at most so many, comes again and again, are a loop. */
const [loopChars, maxPieceChars] = [8000, 400]
/** Characters between two looks. */
const stepChars = 1000

/** A model does not come to an end. */
export class LoopError extends Error {
  override readonly name = 'LoopError'
}

/** Notices a model that does not come to an end: small ones are known to repeat themselves. */
export class LoopGuard {
  #total = 0
  #looked = 0
  #end = ''

  /** Throws `LoopError` when it is enough. */
  push(text: string): void {
    this.#total += text.length
    if (this.#total > maxChars) throw new LoopError(`the model came to no end within ${maxChars} characters`)
    this.#end = (this.#end + text).slice(-loopChars)
    if (this.#total - this.#looked < stepChars) return
    this.#looked = this.#total
    if (isLoop(this.#end)) throw new LoopError('the model repeated itself until it was stopped')
  }
}

function isLoop(text: string): boolean {
  if (text.length < loopChars) return false
  for (let length = 1; length <= maxPieceChars; length++) {
    if (text.startsWith(text.slice(length))) return true
  }
  return false
}
