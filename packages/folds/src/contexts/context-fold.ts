import {
  contextParent,
  contextRoot,
  correlations,
  type Envelope,
  Kind,
  type PresencePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { type Fold, FoldProgress } from '../fold.js'
import { getSource, type Source } from '../source.js'
import { AskedRuns, type AskedRunsSnapshot } from '../space/answers.js'
import { type ContextStateChange, ContextStates, type ContextStatesSnapshot } from '../space/contexts.js'
import { isObject } from '../text.js'
import type { ContextView } from './context-view.js'
import {
  type AnswerDraft,
  addToCounts,
  begin,
  createAnswerDraft,
  Drafts,
  type DraftsSnapshot,
  end,
  hide,
  propose,
  quoteFree,
} from './drafts.js'

export interface ContextOptions {
  /**
   * Whether the log has an envelope with this id, so that a reference to it is resolved. Default: whether the envelope is among
   * the latest 50,000 that the fold applied.
   */
  readonly isKnown?: (id: string) => boolean
}

interface ContextChange {
  readonly contexts: readonly ContextView[]
  /** Whether the envelope came after the end of its context [MEUP-2.7]. */
  readonly isLate: boolean
}

export interface ContextSnapshot {
  readonly seq: number
  readonly contexts: DraftsSnapshot
  readonly states: ContextStatesSnapshot
  readonly asked: AskedRunsSnapshot
  readonly ids: readonly string[]
  readonly abandonAfterMs: number
}

export interface ContextFold extends Fold<ContextChange, ContextSnapshot> {
  get(context: string): ContextView | undefined
  /** All open contexts, and the latest closed ones. */
  all(): readonly ContextView[]
  /** The open contexts, and who may read the thoughts of a hidden run. */
  readonly states: Pick<ContextStates, 'open' | 'withholds'>
  /** Finds the runs of a participant that work on an envelope. */
  readonly asked: Pick<AskedRuns, 'find'>
  /** The final answer of the run of a context [MEUP-2.10]; `undefined` = none yet. */
  answerFor(context: string): Source | undefined
  /** Adds the open contexts of a welcome, for clients that join later. Returns the new ones. */
  onWelcome(welcome: Pick<WelcomePayload, 'contexts'>): readonly ContextView[]
}

/**
 * Creates a fold of runs, their nested contexts, and free paths, contexts that no run has opened. `contextTree` arranges its
 * views as trees.
 */
export const createContextFold = (options: ContextOptions = {}): ContextFold => new Contexts(options)

/** Default milliseconds that a gateway waits for an absent owner. */
const defaultAbandonAfterMs = 60_000

const nothing: ContextChange = { contexts: [], isLate: false }

class Contexts implements ContextFold {
  readonly #progress = new FoldProgress()
  readonly states = new ContextStates()
  readonly #drafts = new Drafts()
  readonly asked = new AskedRuns()
  /** Ids of the latest envelopes, kept only if the caller gives no `isKnown`. */
  readonly #ids: Bounded<true> | undefined
  readonly #isKnown: (id: string) => boolean
  #abandonAfterMs = defaultAbandonAfterMs

  constructor({ isKnown }: ContextOptions) {
    this.#ids = isKnown === undefined ? new Bounded<true>(50_000) : undefined
    this.#isKnown = isKnown ?? ((id) => this.#ids?.get(id) === true)
  }

  get seq(): number {
    return this.#progress.seq
  }

  /** Applies the next envelope of the log, or a welcome. */
  apply(envelope: Envelope): ContextChange {
    if (envelope.kind === Kind.systemWelcome)
      return { contexts: this.onWelcome(envelope.payload as WelcomePayload), isLate: false }
    if (!this.#progress.advance(envelope)) return nothing
    const { context } = envelope
    const isLate = context !== undefined && this.states.isOver(context)
    for (let at = context; at !== undefined; at = contextParent(at)) {
      addToCounts(this.#touch(at, envelope), envelope, isLate)
    }
    for (const change of this.states.apply(envelope)) this.#turn(change, envelope)
    if (context !== undefined) quoteFree(this.#touch(context, envelope), envelope)
    this.#link(envelope)
    this.#ids?.set(envelope.id, true)
    return { contexts: this.#drafts.flush(), isLate }
  }

  onWelcome({ contexts = [] }: Partial<Pick<WelcomePayload, 'contexts'>>): readonly ContextView[] {
    for (const info of contexts) {
      const { context, owner, reasoningVisible, hiddenBy = [], startedAt } = info
      const known = this.#drafts.get(context)
      if (known !== undefined && known.state !== 'free') continue
      this.states.learn(info)
      const draft = known ?? createAnswerDraft(context, startedAt, 0)
      if (!draft.contributors.includes(owner)) draft.contributors.push(owner)
      this.#drafts.put({ ...draft, state: 'open', owner, reasoningVisible, hiddenBy })
    }
    return this.#drafts.flush()
  }

  snapshot(): ContextSnapshot {
    return {
      seq: this.seq,
      contexts: this.#drafts.snapshot(),
      states: this.states.snapshot(),
      asked: this.asked.snapshot(),
      ids: [...(this.#ids?.keys() ?? [])],
      abandonAfterMs: this.#abandonAfterMs,
    }
  }

  restore({ seq, contexts, states, asked, ids, abandonAfterMs }: ContextSnapshot): void {
    this.#progress.seq = seq
    this.#abandonAfterMs = abandonAfterMs
    this.#drafts.restore(contexts)
    this.states.restore(states)
    this.asked.restore(asked)
    for (const id of ids) this.#ids?.set(id, true)
  }

  get(context: string): ContextView | undefined {
    return this.#drafts.get(context)
  }

  all(): readonly ContextView[] {
    return [...this.#drafts.values()]
  }

  answerFor(context: string): Source | undefined {
    return this.#drafts.get(contextRoot(context))?.answer ?? undefined
  }

  #touch(context: string, { ts, seq = 0 }: Envelope): AnswerDraft {
    return this.#drafts.touch(context, ts, seq)
  }

  #turn({ what, opened: { context, state, hiddenBy } }: ContextStateChange, envelope: Envelope): void {
    if (what === 'visibility') this.#drafts.hide(context, hiddenBy ?? [])
    else if (what === 'closed' && state !== 'open') end(this.#touch(context, envelope), state, envelope)
    else if (what === 'opened') {
      const draft = this.#touch(context, envelope)
      begin(draft, envelope, this.#isKnown)
      hide(draft, this.states.getRun(context)?.hiddenBy ?? [])
      this.asked.apply(envelope)
    }
  }

  /** Applies an envelope that concerns a context without being in it: answers, proposals, presence. */
  #link(envelope: Envelope): void {
    const { kind, context } = envelope
    if (kind === Kind.chat && context === undefined) this.#answer(envelope)
    else if (kind === Kind.mcpProposal) {
      for (const path of [context, ...correlations(envelope)]) this.#propose(path, envelope.id)
    } else if (kind === Kind.systemPresence) this.#expect(envelope)
    else if (kind === Kind.systemSpace) this.#configure(envelope.payload)
  }

  /**
   * When the owner of open contexts leaves, sets the time from which the gateway cancels them; clears it when the owner
   * returns.
   */
  #expect({ ts, payload }: Envelope): void {
    const { event, participant } = payload as Partial<PresencePayload>
    if (participant === undefined || (event !== 'leave' && event !== 'join')) return
    const expiresAt = new Date(Date.parse(ts) + this.#abandonAfterMs).toISOString()
    this.#drafts.expect(participant.id, event === 'leave' ? expiresAt : null)
  }

  #configure({ reasoning }: Envelope['payload']): void {
    const milliseconds = isObject(reasoning) ? reasoning.abandonAfterMs : undefined
    if (typeof milliseconds === 'number') this.#abandonAfterMs = milliseconds
  }

  /**
   * Records a chat as the answer of its sender's runs about the messages that it answers, and of free paths (contexts that no
   * run has opened) that it names.
   */
  #answer(chat: Envelope): void {
    const causes = correlations(chat)
    const asked = causes.flatMap((cause) => this.asked.find(chat.from, cause))
    const free = causes.filter((path) => this.#drafts.get(path)?.state === 'free')
    for (const run of [...asked, ...free]) {
      const draft = this.#drafts.get(run)
      if (draft === undefined || draft.answer !== null) continue
      draft.answer = getSource(chat)
      this.#drafts.put(draft)
    }
  }

  #propose(context: string | undefined, proposal: string): void {
    const draft = context === undefined ? undefined : this.#drafts.get(context)
    if (draft !== undefined && propose(draft, proposal)) this.#drafts.put(draft)
  }
}
