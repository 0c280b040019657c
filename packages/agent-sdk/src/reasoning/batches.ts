/** Numbers the concurrent batches of a turn: 0, 1, 2, … whichever of its contexts they are made in [MEUP-1.1]. */
export class Batches {
  #next = 0

  next(): number {
    return this.#next++
  }
}
