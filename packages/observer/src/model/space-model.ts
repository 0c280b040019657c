import {
  describeState,
  type LiveAnswer,
  LiveAnswers,
  type OpenedContext,
  type ParticipantState,
  type ProposalView,
  printable,
  type StateText,
  type WaitingChat,
} from '@meup/folds'
import {
  contextParent,
  correlations,
  type Detail,
  type Envelope,
  getErasure,
  Kind,
  PROTOCOL,
  type WelcomePayload,
} from '@meup/protocol'
import { LogFilter, type ReaderFilter, TimelineFilter } from './filter/log-filter.js'
import { getLineId } from './log/lines.js'
import { Live } from './log/live.js'
import { Log } from './log/log.js'
import { People, type Person } from './log/people.js'
import { ToolCatalog } from './log/tools.js'
import { truncateEnvelope } from './log/truncate.js'
import { Typists } from './log/typists.js'
import { welcomeBefore, welcomeEnvelope } from './log/welcome.js'
import { Folding, type FoldingCheckpoint, type Level } from './rows/folding.js'
import { Lists, type Prepared } from './rows/lists.js'
import type { Sources } from './rows/row.js'
import { type FoldsCheckpoint, foldInSteps, type HiddenRun, SpaceFolds } from './space-folds.js'

/** Maximum number of envelopes; once there are `slack` more, the oldest are dropped. */
interface Capacity {
  readonly maxEnvelopes: number
  readonly slack: number
}

const defaultCapacity: Capacity = { maxEnvelopes: 100_000, slack: 20_000 }

/** Maximum number of retries when the reader changes a view setting during a merge. */
const maxPrepareRetries = 3

/** The state that the page shows of a space: derived from the log and the reader's view settings. */
export class SpaceModel {
  readonly #capacity: Capacity
  readonly log = new Log()
  readonly folding: Folding
  /** The reader's filter, shared with models of the past. */
  readonly viewFilter: TimelineFilter
  /** The reader's filter, applied to this log. */
  readonly logFilter: LogFilter
  /** Texts for screen readers, envelopes per second, and the gateway's clock, from envelopes as they arrive. */
  readonly live: Live
  readonly #answers = new LiveAnswers()
  readonly typists = new Typists()
  readonly tools = new ToolCatalog()
  readonly members: People
  #welcomes: Envelope[] = []
  /** Seqs of erased envelopes, which the next merge removes. */
  readonly #erased = new Set<number>()
  #head = 0
  /** Id of the reader, known after the first welcome. */
  #viewer: string | undefined
  #views: SpaceFolds
  /** Rows of each view. */
  readonly lists: Lists
  /** Incremented whenever the reader changes a view setting. */
  #choices = 0
  /** Number of blocks (messages, runs, events) that the reader has seen; `Infinity` while the newest row is in view. */
  #seen = Infinity
  /** Gateway time of the moment in the past that this model shows, in ms; `undefined` in the present. */
  moment: number | undefined

  /** `like`: a model with which this one shares the reader's view settings. */
  constructor(capacity = defaultCapacity, like?: SpaceModel) {
    this.#capacity = capacity
    this.folding = new Folding(like?.folding)
    this.viewFilter = like?.viewFilter ?? new TimelineFilter()
    this.live = new Live(this.viewFilter.muted)
    this.logFilter = new LogFilter(this.viewFilter, this.log)
    this.#views = this.#newViews(this.log)
    const views = (): SpaceFolds => this.#views
    this.lists = new Lists(() => views().blocks.list, this.#sources(views))
    this.members = new People(views, this.viewFilter.muted)
  }

  /** Creates a model of the space as it was before the first loaded envelope, with the same view settings. */
  atItsBeginning(): SpaceModel {
    const model = new SpaceModel(this.#capacity, this)
    const [welcome] = this.#welcomes
    if (welcome === undefined) return model
    const payload = welcomeBefore(welcome.payload as WelcomePayload, this.log.envelopes)
    model.onWelcome(payload, Date.parse(this.log.envelopes[0]?.ts ?? welcome.ts))
    return model
  }

  /** Applies a welcome. `now` is local time in ms, here and below. */
  onWelcome(welcome: WelcomePayload, now: number, gatewayNow = now): void {
    const envelope = welcomeEnvelope(welcome, gatewayNow)
    this.live.addClockSample(gatewayNow, now)
    this.#head = welcome.space.head
    this.#viewer = welcome.you.id
    this.#views.onWelcome(welcome)
    this.members.onPresenceChange()
    this.#welcomes = [...this.#welcomes.slice(0, 1), envelope]
    this.#refresh()
  }

  /** Appends the next envelopes of the log. */
  append(envelopes: readonly Envelope[], now: number): void {
    for (const each of envelopes) {
      if (each.kind === Kind.observeSummary) this.#views.summarize(each)
      this.#answers.apply(each)
      this.typists.apply(each, now)
      const envelope = truncateEnvelope(each)
      if (!this.log.append(envelope)) continue
      this.#noteErasure(each)
      this.tools.apply(each, (id) => this.log.get(id))
      if (this.#views.apply(envelope)) this.members.onPresenceChange()
      this.members.apply(envelope)
      if ((envelope.seq ?? 0) > this.#head) {
        const [proposal] = correlations(envelope).flatMap((id) => this.getProposal(id) ?? [])
        this.live.onEnvelope(envelope, now, proposal, this.#viewer)
      } else if (this.#welcomes.length === 1)
        this.#seen = Math.max(this.#seen, this.#views.blocks.list.length)
    }
    if (this.log.envelopes.length > this.#capacity.maxEnvelopes + this.#capacity.slack) this.#shorten(now)
    this.#refresh()
  }

  #noteErasure(envelope: Envelope): void {
    const erasure = getErasure(envelope)
    if (erasure !== undefined) this.#erased.add(erasure.seq)
  }

  /** Adds envelopes that were not loaded yet, earlier ones or ones that a filter excluded, and removes erased ones. */
  merge(envelopes: readonly Envelope[]): void {
    for (const _ of this.mergeInSteps(envelopes));
  }

  /**
   * Like `merge`, but yields after every `perStep` envelopes. Envelopes may be appended in between; merges must not overlap.
   */
  *mergeInSteps(envelopes: readonly Envelope[], perStep = 1000): Generator<undefined, void> {
    for (const each of envelopes) this.#noteErasure(each)
    const isKept = ({ seq = 0 }: Envelope): boolean => !this.#erased.has(seq)
    const missing = envelopes.filter(
      (each) => each.seq !== undefined && this.log.get(each.id) === undefined && isKept(each),
    )
    if (missing.length === 0 && this.log.envelopes.every(isKept)) return
    const log = new Log()
    const views = this.#newViews(log)
    for (const { payload } of this.#welcomes) views.onWelcome(payload as WelcomePayload)
    // Participants keep their present state: the envelopes are folded again, but older ones must not change it.
    views.facts.participants.restore(this.#views.facts.participants.snapshot())
    views.facts.summaries.restore(this.#views.facts.summaries.snapshot())
    const through = this.log.last
    yield* foldInSteps([...this.log.envelopes.filter(isKept), ...missing], log, views, perStep)
    views.blocks.flush()
    let [choices, prepared] = yield* this.#prepare(views, perStep)
    for (let again = 0; choices !== this.#choices && again < maxPrepareRetries; again++) {
      ;[choices, prepared] = yield* this.#prepare(views, perStep)
    }
    for (const envelope of this.log.envelopes.slice(this.log.countThrough(through))) {
      if (log.append(envelope)) views.apply(envelope)
    }
    for (const block of views.blocks.flush()) for (const known of prepared.values()) known.delete(block)
    this.#seen += views.blocks.list.length - this.#views.blocks.list.length
    this.log.replaceWith(log)
    for (const each of missing) this.tools.apply(each, (id) => log.get(id))
    this.#views = views
    this.logFilter.reset()
    this.members.reset(this.log.envelopes)
    this.lists.clear(choices === this.#choices ? prepared : undefined)
  }

  *#prepare(views: SpaceFolds, perStep: number): Generator<undefined, [number, Prepared]> {
    const choices = this.#choices
    const sources = this.#sources(() => views)
    return [choices, yield* this.lists.prepare([...views.blocks.list], sources, perStep)]
  }

  /** Creates a checkpoint for `restore`. `before`: an earlier one, whose unchanged contexts are reused to save memory. */
  checkpoint(before: ModelCheckpoint | undefined): ModelCheckpoint {
    return { ...this.#views.checkpoint(before), folding: this.folding.checkpoint() }
  }

  /** Restores a checkpoint; keeps later changes of view settings. */
  restore(then: ModelCheckpoint): void {
    this.log.truncateAfter(then.seq)
    this.#views.restore(then)
    this.folding.restore(then.folding)
    this.members.reset(this.log.envelopes)
    this.logFilter.reset()
    if (this.#seen !== Infinity) this.#seen = Math.min(this.#seen, this.#views.blocks.list.length)
    this.lists.shorten()
    this.#refresh()
  }

  /** Sets how much reasoning is shown, for all loaded envelopes. */
  showDetail(detail: Detail): void {
    this.viewFilter.detail = detail
    this.redrawAll()
  }

  /** Unfolds all contexts around an envelope, so that its line is visible. */
  unfold(id: string): void {
    const path = this.log.get(id)?.context
    for (let at = path; at !== undefined; at = contextParent(at)) {
      if (this.getLevel(at) !== 'all') this.choose(at, 'all')
    }
  }

  /**
   * Id of the envelope whose row shows this one: a response is in the row of its call, a proposal in that of the call that
   * fulfils it.
   */
  getLineId(envelope: Envelope): string {
    const line = getLineId(envelope) ?? envelope.id
    const proposal = this.#views.facts.proposals.get(line)
    const call = proposal?.fulfilments.find(({ id }) => this.log.get(id) !== undefined)
    return proposal?.state === 'fulfilled' && call !== undefined ? call.id : line
  }

  cycle(context: string): void {
    this.folding.cycle(context)
    this.#redraw(context)
  }

  choose(context: string, level: Level): void {
    this.folding.choose(context, level)
    this.#redraw(context)
  }

  /** Folds or unfolds all contexts. */
  chooseAll(level: Level): void {
    for (const context of this.#views.contexts) this.folding.choose(context, level)
    this.redrawAll()
  }

  getLevel(context: string): Level {
    return this.folding.getLevel(context)
  }

  mute(participant: string, isMuted: boolean): void {
    if (isMuted) this.viewFilter.muted.add(participant)
    else this.viewFilter.muted.delete(participant)
    this.redrawAll()
  }

  /** Unfinished answers that pass the filter. There are none in the past, because they are not logged. */
  get answers(): readonly LiveAnswer[] {
    return this.#answers
      .list()
      .filter((answer) => this.logFilter.isShown(toChat(answer)))
      .map((answer) => ({ ...answer, text: printable(answer.text) }))
  }

  /** Sets whether the newest row is in view (the live end); while it is, new blocks count as seen. */
  follow(isFollowing: boolean): void {
    this.#seen = isFollowing ? Infinity : Math.min(this.#seen, this.#views.blocks.list.length)
    for (const context of this.folding.follow(isFollowing)) this.#redraw(context)
  }

  get isFollowing(): boolean {
    return this.#seen === Infinity
  }

  /** Number of blocks (messages, runs, events) that began since the reader left the live end. */
  get unseen(): number {
    return Math.max(this.#views.blocks.list.length - this.#seen, 0)
  }

  /** Open proposals. */
  pending(now: number): readonly ProposalView[] {
    return this.#views.facts.proposals.open(this.gatewayTime(now))
  }

  getProposal(id: string): ProposalView | undefined {
    return this.#views.facts.proposals.get(id)
  }

  /** Approved proposals, in order of approval. */
  get approved(): readonly ProposalView[] {
    return this.#views.approved
  }

  /** Open elicitations for this participant, oldest first. */
  elicitations(participant: string | undefined): readonly Envelope[] {
    return this.#views.facts.elicitations.list(participant)
  }

  /** Id of the question or run that ultimately caused an envelope, see `findOrigin`. */
  getOrigin(envelope: Envelope): string | undefined {
    return this.#views.getOrigin(envelope)
  }

  /** Pauses and kicks of a participant, and the state of its program. */
  stateOf(id: string, now: number): ParticipantState {
    return this.#views.facts.participants.stateOf(id, this.gatewayTime(now))
  }

  /** The state of a participant combined with its presence, as text. */
  describeState({ id, isPresent }: Pick<Person, 'id' | 'isPresent'>, now: number): StateText {
    const status = isPresent ? 'present' : 'away'
    return describeState({ id, status, ...this.stateOf(id, now) }, this.gatewayTime(now))
  }

  /** All participants: present ones first, then by name. */
  get people(): readonly Person[] {
    return this.members.list
  }

  filter(filter: ReaderFilter): void {
    this.logFilter.filter(filter)
    this.redrawAll()
  }

  /** Open runs, oldest first. */
  runs(): readonly OpenedContext[] {
    return this.#views.runs()
  }

  /** Messages to agents that still work on earlier ones, oldest first. */
  waiting(): readonly WaitingChat[] {
    return this.#views.waiting()
  }

  /** The latest message of a participant, if no program will answer it any more. */
  getLost(from: string): WaitingChat | undefined {
    return this.#views.facts.waiting.getLost(from)
  }

  /** Runs without an end in the loaded log. Some may be over: their end was filtered out, or is not loaded. */
  unended(): readonly OpenedContext[] {
    return this.#views.unended()
  }

  /** Open runs whose thoughts are hidden from everyone. */
  hiddenRuns(): readonly HiddenRun[] {
    return this.#views.hiddenRuns()
  }

  /** Estimated gateway time, in ms; in the past, the time of the shown moment. */
  gatewayTime(now: number): number {
    return this.moment ?? this.live.gatewayTime(now)
  }

  #newViews(log: Log): SpaceFolds {
    return new SpaceFolds(
      log,
      this.folding,
      (views) => views === this.#views,
      () => this.#viewer,
    )
  }

  #redraw(context: string): void {
    this.#choices++
    this.#views.blocks.touchContext(context)
    this.#refresh()
  }

  /** Redraws all rows, because a view setting changed. */
  redrawAll(): void {
    this.#choices++
    this.#refresh()
    this.lists.renew()
  }

  /** Whether the last change of a view setting is not fully shown yet, which takes time in a long log. */
  get isBehind(): boolean {
    return this.lists.isBehind || this.logFilter.isBehind
  }

  /** Continues to update until done or out of time; returns `true` if done. */
  catchUp(isTimeUp: () => boolean): boolean {
    return this.lists.work(isTimeUp) && this.logFilter.count(isTimeUp)
  }

  #refresh(): void {
    this.lists.touch(this.#views.blocks.flush())
  }

  /** Drops the oldest envelopes, but keeps open runs and open proposals. */
  #shorten(now: number): void {
    this.log.keepLast(this.#capacity.maxEnvelopes)
    this.logFilter.reset()
    const waiting = new Set(this.pending(now).map(({ id }) => id))
    this.#views.forget(this.log.first, ({ envelope }) => waiting.has(envelope.id))
    this.lists.shorten()
  }

  #sources(views: () => SpaceFolds): Sources {
    const { folding, logFilter } = this
    return {
      folding,
      logFilter,
      getContext: (context) => views().getContext(context),
      getSummary: (context) => views().facts.summaries.get(context),
      isGoingOn: (context) => views().isGoingOn(context),
      getProposal: (id) => views().facts.proposals.get(id),
      isOpenElicitation: (id) => views().facts.elicitations.isOpen(id),
      isLoaded: (id) => this.log.get(id) !== undefined,
      getOrigin: (envelope) => views().getOrigin(envelope),
      getAnsweredThinker: (envelope) => views().getAnsweredThinker(envelope),
      isMuted: (participant) => this.viewFilter.muted.has(participant),
    }
  }
}

/** A preliminary envelope for an unfinished answer, so that filters apply to it. */
const toChat = ({ from }: LiveAnswer): Envelope => ({
  ...{ protocol: PROTOCOL, id: '', ts: '', from, kind: Kind.chat, payload: {} },
})

/** State of a space at a point in the log, in addition to the log itself. */
export interface ModelCheckpoint extends FoldsCheckpoint {
  readonly folding: FoldingCheckpoint
}
