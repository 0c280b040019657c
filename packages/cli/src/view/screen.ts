import { type AnyEnvelope, isThought } from '@meup/protocol'
import { Conversation, type LineRenderer } from '../render/conversation.js'

/** Maximum number of hidden thoughts kept to be printed later, and of seqs of printed thoughts, which are not printed again. */
const maxRemembered = 1000

/** Prints a conversation. Thoughts missed while hidden are printed once they are visible again. */
export class Screen {
  readonly #print: (lines: readonly string[]) => void
  readonly #showsThoughts: () => boolean
  readonly #lines: LineRenderer
  #last = 0
  /** Seq after which thoughts may not have been printed, because they were hidden; `undefined` if all were printed. */
  #since: number | undefined
  readonly #missed = new Map<number, AnyEnvelope>()
  readonly #shown = new Set<number>()

  constructor(
    print: (lines: readonly string[]) => void,
    showsThoughts: () => boolean,
    lines: LineRenderer = new Conversation(),
  ) {
    this.#print = print
    this.#showsThoughts = showsThoughts
    this.#lines = lines
  }

  /** `rows`: the remaining rows of an answer that is partly in the scrollback. */
  show(envelope: AnyEnvelope, rows?: readonly string[]): void {
    const { kind, seq = 0 } = envelope
    if (isThought(kind)) {
      if (!this.#showsThoughts()) {
        this.#miss(envelope)
        return
      }
      if (this.#since !== undefined) this.#remember(seq)
    }
    this.#last = Math.max(this.#last, seq)
    this.#print(rows ?? this.#lines.lines(envelope))
  }

  /** Whether thoughts may be missing, so that the log has to be read for them. */
  get isBehind(): boolean {
    return this.#since !== undefined
  }

  /** Called when thoughts are hidden: those after the last printed envelope are printed later, by `catchUp`. */
  hide(): void {
    this.#since ??= this.#last
  }

  /**
   * Prints missing thoughts: those received while hidden, and those in `logged`. `isWhole`: `logged` has all that were missed.
   */
  catchUp(logged: readonly AnyEnvelope[], isWhole: boolean): void {
    const since = this.#since
    if (since === undefined || !this.#showsThoughts()) return
    const thoughts = new Map(this.#missed)
    for (const each of logged) if (isThought(each.kind)) thoughts.set(each.seq ?? 0, each)
    const missing = [...thoughts]
      .filter(([seq]) => seq > since && !this.#shown.has(seq))
      .sort(([one], [other]) => one - other)
      .map(([seq, envelope]) => ({ seq, lines: this.#lines.lines(envelope) }))
      .filter(({ lines }) => lines.length > 0)
    if (missing.length > 0) {
      this.#print([
        `… ${formatThoughtCount(missing.length)} from before:`,
        ...missing.flatMap(({ lines }) => lines),
      ])
    }
    for (const { seq } of missing) this.#remember(seq)
    this.#missed.clear()
    if (isWhole) {
      this.#since = undefined
      this.#shown.clear()
    }
  }

  #miss(envelope: AnyEnvelope): void {
    this.#missed.set(envelope.seq ?? 0, envelope)
    if (this.#missed.size > maxRemembered) this.#missed.delete(this.#missed.keys().next().value ?? 0)
  }

  #remember(seq: number): void {
    this.#shown.add(seq)
    if (this.#shown.size > maxRemembered) this.#shown.delete(this.#shown.keys().next().value ?? 0)
  }
}

const formatThoughtCount = (count: number): string =>
  count === 1 ? '1 thought' : `${count.toLocaleString('en')} thoughts`
