import type { Sender } from '../../core/sender.js'

/** A frame that another gateway has admitted, and that the log does not have yet. */
interface Handed {
  readonly id: string
  /** As its sender wrote it; empty where it wrote none. */
  readonly writtenId: string
  readonly kind: string
  readonly seq: number
  readonly sender: Sender
}

/** What was handed on and admitted elsewhere: should that gateway end before the log has it, its sender must hear of it. */
export class ForwardedFrames {
  readonly #frames = new Map<string, Handed>()

  add(frame: Handed): void {
    this.#frames.set(frame.id, frame)
  }

  /** The log has everything up to this seq. They are admitted in their order. */
  settle(delivered: number): void {
    for (const [id, { seq }] of this.#frames) {
      if (seq > delivered) break
      this.#frames.delete(id)
    }
  }

  /** What is left of it. */
  take(): Handed[] {
    const left = [...this.#frames.values()]
    this.#frames.clear()
    return left
  }
}
