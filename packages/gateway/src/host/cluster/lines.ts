import type { Sender } from '../../core/sender.js'

type ConnectionHandle = Sender & { readonly closed?: boolean }

/** Connections by number, so that another gateway can answer them. */
export class Lines {
  readonly #numbers = new Map<ConnectionHandle, number>()
  readonly #lines = new Map<number, ConnectionHandle>()
  #last = 0

  /** 0 = an answer would go nowhere: it has no line that stays. */
  of(sender: ConnectionHandle): number {
    if (sender.subscribe === undefined) return 0
    const known = this.#numbers.get(sender)
    if (known !== undefined) return known
    this.#last++
    this.#numbers.set(sender, this.#last)
    this.#lines.set(this.#last, sender)
    return this.#last
  }

  find(line: unknown): Sender | undefined {
    return this.#lines.get(Number(line))
  }

  /** Forgets those that are closed. */
  tidy(): void {
    for (const [line, number] of this.#numbers) {
      if (line.closed !== true) continue
      this.#numbers.delete(line)
      this.#lines.delete(number)
    }
  }
}
