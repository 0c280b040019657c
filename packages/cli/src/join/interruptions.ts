import type { SpaceClient } from '@meup/agent-sdk'
import { AskedRuns, Bounded, brief, LiveAnswers, onOneLine, payloadText } from '@meup/folds'
import { type AnyEnvelope, contextRoot, isThought, Kind } from '@meup/protocol'

/** Maximum number of entries in each of the memories of `RunInterrupter`; the oldest are forgotten. */
const maxRemembered = 1000

/** A run, or an answer to this participant that is written outside of any run. `id`: the run's context, or the question. */
export interface Interruptible {
  readonly id: string
  readonly owner: string
  readonly isRun: boolean
}

/** Finds the runs and answers to messages of this participant, and asks them to stop. */
export class RunInterrupter {
  readonly #space: Pick<SpaceClient, 'id' | 'runs' | 'send'>
  /**
   * Messages that this participant has sent, by id, with their addressees: a run or answer about one of them is its own to
   * stop.
   */
  readonly #asked = new Bounded<Pick<AnyEnvelope, 'to'>>(maxRemembered)
  readonly #runs = new AskedRuns()
  readonly #answers = new LiveAnswers()
  readonly #titles = new Bounded<string>(maxRemembered)
  /** Runs and questions that this participant has asked to stop. */
  readonly #stopped = new Bounded<true>(maxRemembered)
  /** Id of the owner's latest thought, by run: a thought that the user contributes replies to it. */
  readonly #thoughts = new Bounded<string>(maxRemembered)

  constructor(space: Pick<SpaceClient, 'id' | 'runs' | 'send'>) {
    this.#space = space
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const { kind, id, from, to, context, payload } = envelope
    const isQuestion = kind === Kind.chat || kind === Kind.mcpRequest
    if (isQuestion && from === this.#space.id) this.#asked.set(id, to === undefined ? {} : { to })
    this.#runs.apply(envelope)
    this.#answers.apply(envelope)
    if (context !== undefined && isThought(kind)) this.#noteThought(envelope)
    if ((kind !== Kind.reasoningStart && kind !== Kind.chat) || context !== undefined) return
    this.#titles.set(id, brief(onOneLine(payloadText({ ...payload })), 60))
  }

  /** Runs and answers for this participant; if there are none, all runs. */
  choices(): { readonly works: readonly Interruptible[]; readonly areMine: boolean } {
    const runs = this.#space.runs.map(({ context, owner }) => ({ id: context, owner, isRun: true }))
    const isMine = (id: string): boolean => this.#asked.get(id) !== undefined
    const mine = [
      ...runs.filter(({ id }) => this.#runs.get(id)?.triggers.some(isMine)),
      ...this.#answers.list().flatMap(({ from, trigger }) => {
        const isInRun = this.#runs.find(from, trigger).some((run) => runs.some(({ id }) => id === run))
        return isMine(trigger) && !isInRun ? [{ id: trigger, owner: from, isRun: false }] : []
      }),
    ]
    return mine.length > 0 ? { works: mine, areMine: true } : { works: runs, areMine: false }
  }

  /** Whether the run, or the answer, has not ended. */
  isOpen({ id, owner, isRun }: Interruptible): boolean {
    return isRun
      ? this.#space.runs.some(({ context }) => context === id)
      : this.#answers.list().some(({ from, trigger }) => from === owner && trigger === id)
  }

  /** Why nothing can be interrupted. */
  describeNone(): string {
    const [answer] = this.#answers.list()
    return answer === undefined
      ? 'no agent thinks at present'
      : `${answer.from} answers someone else, who alone can take the question back`
  }

  #noteThought({ id, from, context = '' }: AnyEnvelope): void {
    const root = contextRoot(context)
    if (this.#space.runs.some((run) => run.context === root && run.owner === from))
      this.#thoughts.set(root, id)
  }

  latestThought(run: string): string | undefined {
    return this.#thoughts.get(run)
  }

  /** Label of a run or answer: its owner, and the title or the question. */
  named({ id, owner }: Pick<Interruptible, 'id' | 'owner'>): string {
    const title = this.#titles.get(id) ?? ''
    return title === '' ? owner : `${owner}: ${title}`
  }

  /** Labels of runs and answers. Equal ones are distinguished by the question or, if it is unknown, by the end of the id. */
  labels(works: readonly Pick<Interruptible, 'id' | 'owner'>[]): string[] {
    const asked = distinguish(
      works.map((work) => this.named(work)),
      (at) => this.#findQuestion(works[at]?.id ?? ''),
    )
    return distinguish(asked, (at) => `run …${works[at]?.id.slice(-6)}`)
  }

  #findQuestion(run: string): string | undefined {
    return this.#runs.get(run)?.triggers.flatMap((id) => this.#titles.get(id) ?? [])[0]
  }

  /** Runs and answers for this participant that were not asked to stop yet. */
  unstopped(): readonly Interruptible[] {
    const { works, areMine } = this.choices()
    return areMine ? works.filter(({ id }) => !this.#stopped.get(id)) : []
  }

  /** Asks a run to stop; if the answer is written outside of any run, withdraws the question instead. */
  async stop({ id, owner, isRun }: Interruptible): Promise<string> {
    this.#stopped.set(id, true)
    const { to } = this.#asked.get(id) ?? {}
    // The envelope contains no reason, because its sender shows who stopped the run.
    await this.#space.send(
      isRun
        ? { kind: Kind.reasoningCancel, context: id, payload: {} }
        : { kind: Kind.chatCancel, correlationId: id, ...(to && { to }), payload: {} },
    )
    return isRun ? `✓ ${owner} is asked to stop` : `✓ the question to ${owner} is taken back`
  }
}

/** Adds `more` to the labels that are not unique. */
const distinguish = (labels: readonly string[], more: (at: number) => string | undefined): string[] =>
  labels.map((label, at) => {
    const added = labels.indexOf(label) === labels.lastIndexOf(label) ? undefined : more(at)
    return added === undefined ? label : `${label} · ${added}`
  })
