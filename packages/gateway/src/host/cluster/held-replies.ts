interface Held {
  /** What had been delivered when it was said. */
  readonly after: number
  say(): void
}

/** What the gateway that sequences says to a connection here: it comes behind what was delivered there before [MEUP-3.15]. */
export class HeldReplies {
  #held: Held[] = []

  /** Says it as soon as this much is delivered here. */
  add(reply: Held, delivered: number): void {
    this.#held.push(reply)
    this.settle(delivered)
  }

  /** Says what need not wait any more. They are said in their order. */
  settle(delivered: number): void {
    const waiting = this.#held.findIndex(({ after }) => after > delivered)
    const due = this.#held.splice(0, waiting < 0 ? this.#held.length : waiting)
    for (const { say } of due) say()
  }
}
