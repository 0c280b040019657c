import {
  type ContextFold,
  type ContextSnapshot,
  type ContextView,
  createContextFold,
  createTranscript,
  type OpenedContext,
  Participants,
  type ProposalView,
  ProposalViews,
  type SpaceSnapshot,
  type SpaceTranscript,
  SpaceView,
  ThoughtSummaries,
  type WaitingChat,
  WaitingChats,
} from '@meup/folds'
import {
  contextParent,
  contextRoot,
  correlations,
  type Envelope,
  isThought,
  type WelcomePayload,
} from '@meup/protocol'
import { Elicitations } from './log/elicitations.js'
import type { Log } from './log/log.js'
import { truncateEnvelope } from './log/truncate.js'
import { type Block, Blocks } from './rows/blocks.js'
import type { Folding } from './rows/folding.js'
import { findOrigin } from './rows/origin.js'
import { noRedaction } from './text.js'

/** Maximum number of remembered approved proposals. */
const maxApproved = 20_000
/** Maximum characters of messages in the conversation that may still change. */
const maxTranscriptChars = 16e6

/** Whether the fold has dropped a known context: it then reports it like a path that no `reasoning.start` has opened. */
const isForgotten = (view: ContextView, known: ContextView | undefined): boolean =>
  view.state === 'free' && known !== undefined && known.state !== 'free'

/** The facts about a space that the page shows, each a fold. */
type Facts = {
  readonly participants: Participants
  readonly contexts: ContextFold
  readonly proposals: ProposalViews
  readonly elicitations: Elicitations
  readonly transcript: SpaceTranscript
  readonly summaries: ThoughtSummaries
  readonly waiting: WaitingChats
}

/** An open run whose thoughts are hidden, and who has hidden them. */
export interface HiddenRun {
  readonly context: string
  readonly owner: string
  readonly hiddenBy: readonly string[]
}

/** Folds over the loaded log, and the blocks (messages, runs, events) from which rows are created. */
export class SpaceFolds {
  readonly #log: Log
  readonly #isShown: (views: SpaceFolds) => boolean
  readonly #viewer: () => string | undefined
  #space: SpaceView<Facts>
  /** State of each context by its path, kept as long as rows of its run exist: the fold drops contexts that ended long ago. */
  readonly #known = new Map<string, ContextView>()
  readonly blocks = new Blocks(() => this.facts.contexts.asked)
  readonly #folding: Folding
  /** Head of the log at the last welcome, and contexts open then: shows if a run is over whose end is not loaded. */
  #welcomed: { readonly head: number; readonly open: ReadonlySet<string> } = { head: 0, open: new Set() }
  /** Approved proposals, in order of approval. A new array whenever the oldest are dropped. */
  #approved: ProposalView[] = []

  /** `isShown`: whether these folds are on screen; others must not change which contexts are unfolded. */
  constructor(
    log: Log,
    folding: Folding,
    isShown: (views: SpaceFolds) => boolean,
    viewer: () => string | undefined,
  ) {
    this.#log = log
    this.#viewer = viewer
    this.#isShown = isShown
    this.#space = this.#newSpace()
    this.#folding = folding
  }

  get facts(): Facts {
    return this.#space.facts
  }

  onWelcome(welcome: WelcomePayload): void {
    const { space, contexts } = welcome
    this.#welcomed = { head: space.head, open: new Set(contexts.map(({ context }) => context)) }
    this.#onContexts(this.#space.onWelcome(welcome).contexts)
    for (const { context, state } of this.#known.values())
      if (state === 'open' && !this.isGoingOn(context)) this.blocks.touchContext(context)
  }

  /** Whether a run is still open. If its end is not in the loaded log, it is open if the last welcome lists it. */
  isGoingOn(context: string): boolean {
    const { state, firstSeq } = this.#known.get(contextRoot(context)) ?? {}
    const { head, open } = this.#welcomed
    return state === 'open' && ((firstSeq ?? 0) > head || open.has(contextRoot(context)))
  }

  /** Applies an envelope; returns `true` if participants may have changed. */
  apply(envelope: Envelope): boolean {
    const changes = this.#space.apply(envelope)
    if (changes === undefined) return false
    const { participants, contexts, proposals, elicitations, transcript } = changes
    this.#onContexts(contexts.contexts)
    for (const proposal of proposals) {
      this.blocks.touchProposal(proposal.id)
      if (proposal.fulfilments.length > 0) this.#onApproved(proposal)
    }
    for (const id of elicitations) this.blocks.touchCall(id)
    this.blocks.apply(envelope, transcript)
    return participants
  }

  /** Applies a count of thoughts that the gateway sent in place of the thoughts. */
  summarize(envelope: Envelope): void {
    for (let at = this.#space.apply(envelope)?.summaries; at !== undefined; at = contextParent(at))
      this.blocks.touchContext(at)
  }

  #onContexts(views: readonly ContextView[]): void {
    for (const view of views) {
      const { context, state } = view
      if (!isForgotten(view, this.#known.get(context))) this.#known.set(context, view)
      if (this.#isShown(this)) this.#fold(context, state)
      this.blocks.touchContext(context)
    }
  }

  get approved(): readonly ProposalView[] {
    return this.#approved
  }

  #onApproved(proposal: ProposalView): void {
    if (this.#approved.length >= maxApproved) this.#approved = this.#approved.slice(maxApproved / 2)
    this.#approved.push(proposal)
  }

  getOrigin(envelope: Envelope): string | undefined {
    return findOrigin(this.#log, envelope)
  }

  getAnsweredThinker({ kind, context, correlationId }: Envelope): string | undefined {
    if (context === undefined || correlationId === undefined || !isThought(kind)) return undefined
    const answered = correlations({ correlationId }).flatMap((id) => this.#log.get(id) ?? [])
    return answered.find((each) => isThought(each.kind) && each.context === context)?.from
  }

  getContext(context: string): ContextView | undefined {
    return this.#known.get(context)
  }

  /** Open runs, oldest first. */
  runs(): readonly OpenedContext[] {
    return this.unended().filter(({ context }) => this.isGoingOn(context))
  }

  waiting(): readonly WaitingChat[] {
    return this.facts.waiting.list(this.runs())
  }

  /** Runs without an end in the loaded log. Some may be over: their end was filtered out, or is not loaded. */
  unended(): readonly OpenedContext[] {
    return [...this.facts.contexts.states.open()].filter(
      ({ context }) => contextParent(context) === undefined,
    )
  }

  /** Open runs whose thoughts are hidden from everyone. */
  hiddenRuns(): readonly HiddenRun[] {
    return this.runs().flatMap(({ context, owner, hiddenBy }) =>
      hiddenBy ? [{ context, owner, hiddenBy }] : [],
    )
  }

  /** The known contexts: open ones, and ended ones of which rows are still shown. */
  get contexts(): Iterable<string> {
    return this.#known.keys()
  }

  /** Creates a checkpoint for `restore`. `before`: an earlier one, whose unchanged contexts are reused to save memory. */
  checkpoint(before: FoldsCheckpoint | undefined): FoldsCheckpoint {
    const space = this.#space.snapshot()
    return { ...space, contexts: shareContexts(space.contexts, before?.contexts) }
  }

  /** Restores a checkpoint; drops everything after it. */
  restore(then: FoldsCheckpoint): void {
    const { seq, contexts, transcript } = then
    const { proposals: later } = this.facts
    this.#space = this.#newSpace()
    this.#space.restore({ ...then, contexts: copyContexts(contexts) })
    this.blocks.rewind(seq, new Map(transcript.messages))
    for (const id of this.blocks.proposals)
      if (later.get(id) !== this.facts.proposals.get(id)) this.blocks.touchProposal(id)
    for (const [context, view] of this.#known) this.#restoreContext(context, view, seq)
  }

  /** Restores the view of a context that the fold may have dropped. */
  #restoreContext(context: string, view: ContextView, seq: number): void {
    const then = this.facts.contexts.get(context)
    if (then !== undefined) this.#known.set(context, then)
    else if (view.firstSeq > seq) this.#known.delete(context)
    if (then !== undefined && !isSameContext(then, view)) this.blocks.touchContext(context)
  }

  /**
   * Drops blocks (messages, runs, events) and contexts that began before this seq. Keeps open runs, and blocks that `isNeeded`
   * selects.
   */
  forget(seq: number, isNeeded: (block: Block) => boolean): void {
    this.blocks.forget(seq, (block) =>
      block.type === 'context' ? this.#isOpen(block.root) : isNeeded(block),
    )
    for (const context of this.#known.keys()) {
      const root = contextRoot(context)
      if (!this.blocks.has(root) && !this.#isOpen(root)) this.#known.delete(context)
    }
  }

  #isOpen(context: string): boolean {
    return this.facts.contexts.get(context)?.state === 'open'
  }

  #newSpace(): SpaceView<Facts> {
    const participants = new Participants()
    return new SpaceView({
      participants,
      contexts: createContextFold({ isKnown: (id) => this.#log.get(id) !== undefined }),
      proposals: new ProposalViews(noRedaction, this.#viewer),
      elicitations: new Elicitations((id) => this.#log.get(id)),
      transcript: createTranscript(maxTranscriptChars),
      summaries: new ThoughtSummaries(),
      waiting: new WaitingChats(participants),
    })
  }

  #fold(context: string, state: ContextView['state']): void {
    if (state === 'open') this.#folding.onOpened(context)
    else this.#folding.onEnded(context)
  }
}

/** A key that is equal for proposals that may be decided together. */
export const likenessOf = ({ source, tool }: ProposalView): string =>
  JSON.stringify([source.from, source.to, tool])

/** Applies envelopes in log order; yields after every `perStep`. */
export function* foldInSteps(
  envelopes: readonly Envelope[],
  log: Log,
  views: SpaceFolds,
  perStep: number,
): Generator<undefined, void> {
  const inOrder = [...envelopes].sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
  for (const [index, each] of inOrder.entries()) {
    const envelope = truncateEnvelope(each)
    if (log.append(envelope)) views.apply(envelope)
    if (index % perStep === 0) yield
  }
}

/** State of the folds at a point in the log. */
export type FoldsCheckpoint = SpaceSnapshot<Facts>

type Draft = ContextSnapshot['contexts'][number][1]

/** Contexts of a snapshot; unchanged ones are shared with `before`, to save memory. */
function shareContexts(snapshot: ContextSnapshot, before: ContextSnapshot | undefined): ContextSnapshot {
  const known = new Map(before?.contexts)
  const contexts = snapshot.contexts.map(([context, draft]): [string, Draft] => {
    const earlier = known.get(context)
    return [context, earlier !== undefined && isSameContext(earlier, draft) ? earlier : copyDraft(draft)]
  })
  return { ...snapshot, contexts }
}

/** Copies contexts, because the fold mutates its input. */
const copyContexts = (mark: ContextSnapshot): ContextSnapshot => ({
  ...mark,
  contexts: mark.contexts.map(([context, draft]) => [context, copyDraft(draft)]),
})

const copyDraft = (draft: Draft): Draft => ({
  ...draft,
  contributors: [...draft.contributors],
  counts: { ...draft.counts },
  proposals: [...draft.proposals],
})

/** Whether a context is in the same state in both views. */
const isSameContext = (one: ContextView, other: ContextView): boolean =>
  one.state === other.state &&
  one.counts.envelopes === other.counts.envelopes &&
  one.counts.late === other.counts.late &&
  String(one.hiddenBy) === String(other.hiddenBy) &&
  one.opening?.source.id === other.opening?.source.id &&
  one.ending?.source.id === other.ending?.source.id &&
  one.answer?.id === other.answer?.id &&
  one.contributors.length === other.contributors.length &&
  one.proposals.length === other.proposals.length &&
  one.proposals.at(-1) === other.proposals.at(-1)
