import type { DialRequest } from '@meup/agent-sdk'
import { Bounded, previewLines, type ReasoningStep, type Style } from '@meup/folds'
import { type AnyEnvelope, correlations, Kind } from '@meup/protocol'
import { ask } from '../reading.js'

/** That are asked for at the same time; where it goes faster, nobody reads them. */
const most = 16

type Step = Pick<ReasoningStep, 'phase' | 'content'> & {
  readonly seq: number
  readonly turn_number: number | null
}

/** The beginning of what tools gave back, as the gateway's audit has it: masked by the rules of the space. */
export class Previews {
  readonly #at: DialRequest
  readonly #style: Style
  /** Calls in runs. */
  readonly #calls = new Bounded<true>(1000)
  #asked = 0

  constructor(at: DialRequest, style: Style) {
    this.#at = at
    this.#style = style
  }

  /** Takes the next envelope; gives the lines to follow it, where it is the result of a call that was seen. */
  take(envelope: AnyEnvelope, timeoutMs: number): Promise<string[]> | undefined {
    const { kind, id, seq = 0, context } = envelope
    if (kind === Kind.mcpRequest && context !== undefined) this.#calls.set(id, true)
    if (kind !== Kind.mcpResponse || this.#asked >= most) return undefined
    if (!correlations(envelope).some((call) => this.#calls.get(call))) return undefined
    this.#asked++
    return this.#read(seq, timeoutMs).finally(() => this.#asked--)
  }

  async #read(seq: number, timeoutMs: number): Promise<string[]> {
    const query = { before: `${seq + 1}`, limit: '1' }
    const { steps } = await ask<{ steps: readonly Step[] }>(this.#at, 'audit', query, timeoutMs)
    // Of work that nobody asked for, the result is told otherwise.
    const step = steps.find((each) => each.seq === seq && each.turn_number !== null)
    return step === undefined ? [] : previewLines(step, this.#style)
  }
}
