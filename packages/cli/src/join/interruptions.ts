import type { SpaceClient } from '@meup/agent-sdk'
import { Bounded, brief, payloadText } from '@meup/folds'
import { type AnyEnvelope, correlations, Kind } from '@meup/protocol'

/** Questions and runs that are remembered. */
const maxRemembered = 1000

interface Interruptible {
  readonly context: string
  readonly owner: string
}

/** Finds the runs that answer messages of this participant, and asks them to stop. */
export class RunInterrupter {
  readonly #space: Pick<SpaceClient, 'id' | 'runs' | 'send'>
  readonly #asked = new Bounded<true>(maxRemembered)
  readonly #answering = new Bounded<true>(maxRemembered)
  readonly #titles = new Bounded<string>(maxRemembered)

  constructor(space: Pick<SpaceClient, 'id' | 'runs' | 'send'>) {
    this.#space = space
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const { kind, id, from, context, payload } = envelope
    const isQuestion = kind === Kind.chat || kind === Kind.mcpRequest
    if (isQuestion && from === this.#space.id) this.#asked.set(id, true)
    if (kind !== Kind.reasoningStart || context !== undefined) return
    this.#titles.set(id, brief(payloadText({ ...payload }), 60))
    if (correlations(envelope).some((about) => this.#asked.get(about))) this.#answering.set(id, true)
  }

  /** Runs that can be interrupted: those that answer this participant, otherwise all. */
  choices(): { readonly runs: readonly Interruptible[]; readonly areMine: boolean } {
    const { runs } = this.#space
    const mine = runs.filter(({ context }) => this.#answering.get(context))
    return mine.length > 0 ? { runs: mine, areMine: true } : { runs, areMine: false }
  }

  /** The label of a run. */
  named({ context, owner }: Interruptible): string {
    const title = this.#titles.get(context) ?? ''
    return title === '' ? owner : `${owner}: ${title}`
  }

  async stop({ context, owner }: Interruptible): Promise<string> {
    const payload = { reason: `interrupted by ${this.#space.id}` }
    await this.#space.send({ kind: Kind.reasoningCancel, context, payload })
    return `✓ ${owner} is asked to stop`
  }
}
