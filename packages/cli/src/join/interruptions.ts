import type { SpaceClient } from '@meup/agent-sdk'
import { AskedRuns, Bounded, brief, payloadText } from '@meup/folds'
import { type AnyEnvelope, contextRoot, isThought, Kind } from '@meup/protocol'

/** Maximum number of remembered questions and runs. */
const maxRemembered = 1000

interface Interruptible {
  readonly context: string
  readonly owner: string
}

/** Finds the runs that answer messages of this participant, and asks them to stop. */
export class RunInterrupter {
  readonly #space: Pick<SpaceClient, 'id' | 'runs' | 'send'>
  readonly #asked = new Bounded<true>(maxRemembered)
  readonly #runs = new AskedRuns()
  readonly #titles = new Bounded<string>(maxRemembered)
  /** Runs that this participant has asked to stop. */
  readonly #stopped = new Bounded<true>(maxRemembered)
  /** Id of the latest thought of a run's owner, by run. */
  readonly #thoughts = new Bounded<string>(maxRemembered)

  constructor(space: Pick<SpaceClient, 'id' | 'runs' | 'send'>) {
    this.#space = space
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const { kind, id, from, context, payload } = envelope
    const isQuestion = kind === Kind.chat || kind === Kind.mcpRequest
    if (isQuestion && from === this.#space.id) this.#asked.set(id, true)
    this.#runs.apply(envelope)
    if (context !== undefined && isThought(kind)) this.#noteThought(envelope)
    if (kind !== Kind.reasoningStart || context !== undefined) return
    this.#titles.set(id, brief(payloadText({ ...payload }), 60))
  }

  /** Runs that can be interrupted: those that answer this participant, otherwise all. */
  choices(): { readonly runs: readonly Interruptible[]; readonly areMine: boolean } {
    const { runs } = this.#space
    const isMine = (context: string) => this.#runs.get(context)?.triggers.some((id) => this.#asked.get(id))
    const mine = runs.filter(({ context }) => isMine(context))
    return mine.length > 0 ? { runs: mine, areMine: true } : { runs, areMine: false }
  }

  #noteThought({ id, from, context = '' }: AnyEnvelope): void {
    const root = contextRoot(context)
    if (this.#space.runs.some((run) => run.context === root && run.owner === from))
      this.#thoughts.set(root, id)
  }

  latestThought(run: string): string | undefined {
    return this.#thoughts.get(run)
  }

  /** Label of a run: its owner and title. */
  named({ context, owner }: Interruptible): string {
    const title = this.#titles.get(context) ?? ''
    return title === '' ? owner : `${owner}: ${title}`
  }

  /** Runs that answer this participant and were not asked to stop yet. */
  unstopped(): readonly Interruptible[] {
    const { runs, areMine } = this.choices()
    return areMine ? runs.filter(({ context }) => !this.#stopped.get(context)) : []
  }

  async stop({ context, owner }: Interruptible): Promise<string> {
    this.#stopped.set(context, true)
    // The envelope contains no reason, because its sender shows who stopped the run.
    await this.#space.send({ kind: Kind.reasoningCancel, context, payload: {} })
    return `✓ ${owner} is asked to stop`
  }
}
