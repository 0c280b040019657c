import {
  describeState,
  type LiveAnswer,
  LiveAnswers,
  type OpenedContext,
  type ParticipantState,
  type ProposalView,
  printable,
  type StateText,
} from '@meup/folds'
import {
  contextParent,
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

/** Limits of kept envelopes; the oldest are dropped when there are `slack` more. */
interface Capacity {
  readonly maxEnvelopes: number
  readonly slack: number
}

const defaultCapacity: Capacity = { maxEnvelopes: 100_000, slack: 20_000 }

/** Limits how often rows are prepared again because the reader's choices changed during a merge. */
const maxPrepareRetries = 3

/** Everything that the page shows of one space, computed from the log and the reader's choices. */
export class SpaceModel {
  readonly #capacity: Capacity
  readonly log = new Log()
  /** The unfolded contexts. */
  readonly folding: Folding
  /** The reader's filter. */
  readonly viewFilter: TimelineFilter
  /** The filter applied to the log. */
  readonly logFilter: LogFilter
  /** Announcements and measurements of arriving envelopes. */
  readonly live: Live
  readonly #answers = new LiveAnswers()
  /** Participants that are typing. */
  readonly typists = new Typists()
  /** Known tools. */
  readonly tools = new ToolCatalog()
  /** The participants and their work. */
  readonly members: People
  #welcomes: Envelope[] = []
  /** Seqs of erased envelopes, which the next merge drops. */
  readonly #erased = new Set<number>()
  #head = 0
  /** The reader, from the first welcome on. */
  #viewer: string | undefined
  #views: SpaceFolds
  /** The rows of the views. */
  readonly lists: Lists
  /** Changes with each choice of the reader. */
  #choices = 0
  /** Number of blocks the reader has seen; `Infinity` at the live end. */
  #seen = Infinity
  /** The moment of this state in milliseconds by the gateway's clock; `undefined` = the present. */
  moment: number | undefined

  /** `like`: shares its reader's choices. */
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

  /** Returns the space as it was before the first loaded envelope, with the same choices. */
  atItsBeginning(): SpaceModel {
    const model = new SpaceModel(this.#capacity, this)
    const [welcome] = this.#welcomes
    if (welcome === undefined) return model
    const payload = welcomeBefore(welcome.payload as WelcomePayload, this.log.envelopes)
    model.onWelcome(payload, Date.parse(this.log.envelopes[0]?.ts ?? welcome.ts))
    return model
  }

  /** Applies a welcome. `now`, also below: milliseconds by the local clock. */
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
      if ((envelope.seq ?? 0) > this.#head) this.live.onEnvelope(envelope, now)
      else if (this.#welcomes.length === 1) this.#seen = Math.max(this.#seen, this.#views.blocks.list.length)
    }
    if (this.log.envelopes.length > this.#capacity.maxEnvelopes + this.#capacity.slack) this.#shorten(now)
    this.#refresh()
  }

  #noteErasure(envelope: Envelope): void {
    const erasure = getErasure(envelope)
    if (erasure !== undefined) this.#erased.add(erasure.seq)
  }

  /** Adds earlier or filtered-out envelopes, and drops erased ones. */
  merge(envelopes: readonly Envelope[]): void {
    for (const _ of this.mergeInSteps(envelopes));
  }

  /** Like `merge`, `perStep` envelopes at a time. Envelopes may be appended between steps; do not run two merges at once. */
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
    // Participants are as of now, whatever history is loaded.
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

  /** Returns a checkpoint to restore later. `before`: an earlier checkpoint, to share unchanged contexts with. */
  checkpoint(before: ModelCheckpoint | undefined): ModelCheckpoint {
    return { ...this.#views.checkpoint(before), folding: this.folding.checkpoint() }
  }

  /** Restores a checkpoint. The reader's choices since then stay. */
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

  /** Sets the amount of reasoning for all loaded envelopes. */
  showDetail(detail: Detail): void {
    this.viewFilter.detail = detail
    this.redrawAll()
  }

  /** Unfolds every context around an envelope, so that its line is shown. */
  unfold(id: string): void {
    const path = this.log.get(id)?.context
    for (let at = path; at !== undefined; at = contextParent(at)) {
      if (this.getLevel(at) !== 'all') this.choose(at, 'all')
    }
  }

  /** Id of the envelope in whose row this one shows, if it has one. */
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

  /** Sets the level of all contexts. */
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

  /** Answers in progress that pass the filter. None in the past, because they are not logged. */
  get answers(): readonly LiveAnswer[] {
    return this.#answers
      .list()
      .filter((answer) => this.logFilter.isShown(toChat(answer)))
      .map((answer) => ({ ...answer, text: printable(answer.text) }))
  }

  /** Sets whether the reader is at the live end. */
  follow(isFollowing: boolean): void {
    this.#seen = isFollowing ? Infinity : Math.min(this.#seen, this.#views.blocks.list.length)
    for (const context of this.folding.follow(isFollowing)) this.#redraw(context)
  }

  get isFollowing(): boolean {
    return this.#seen === Infinity
  }

  /** Blocks that began since the reader left the live end. */
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

  /** Proposals that were approved, in the order in which they were. */
  get approved(): readonly ProposalView[] {
    return this.#views.approved
  }

  /** Open elicitations for this participant, oldest first. */
  elicitations(participant: string | undefined): readonly Envelope[] {
    return this.#views.facts.elicitations.list(participant)
  }

  /** Id of an envelope's origin: a question, or a run without trigger. */
  getOrigin(envelope: Envelope): string | undefined {
    return this.#views.getOrigin(envelope)
  }

  /** A participant's restrictions, and the state of its program. */
  stateOf(id: string, now: number): ParticipantState {
    return this.#views.facts.participants.stateOf(id, this.gatewayTime(now))
  }

  /** The same and its presence, as text. */
  describeState({ id, isPresent }: Pick<Person, 'id' | 'isPresent'>, now: number): StateText {
    const status = isPresent ? 'present' : 'away'
    return describeState({ id, status, ...this.stateOf(id, now) }, this.gatewayTime(now))
  }

  /** All participants: present ones first, then by name. */
  get people(): readonly Person[] {
    return this.members.list
  }

  /** Sets the filter. */
  filter(filter: ReaderFilter): void {
    this.logFilter.filter(filter)
    this.redrawAll()
  }

  /** Open runs as far as known, oldest first. */
  runs(): readonly OpenedContext[] {
    return this.#views.runs()
  }

  /** Runs without a loaded end, though the gateway may know it. */
  unended(): readonly OpenedContext[] {
    return this.#views.unended()
  }

  /** Open runs with thoughts hidden from everyone. */
  hiddenRuns(): readonly HiddenRun[] {
    return this.#views.hiddenRuns()
  }

  /** The gateway's time, as far as known. */
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

  /** Redraws all rows after the reader's choices changed, possibly at another moment of the same space. */
  redrawAll(): void {
    this.#choices++
    this.#refresh()
    this.lists.renew()
  }

  /** Whether a choice of the reader is not shown everywhere yet, which takes a while in a long log. */
  get isBehind(): boolean {
    return this.lists.isBehind || this.logFilter.isBehind
  }

  /** Continues until the time is up. Returns whether everything is up to date. */
  catchUp(isTimeUp: () => boolean): boolean {
    return this.lists.work(isTimeUp) && this.logFilter.count(isTimeUp)
  }

  #refresh(): void {
    this.lists.touch(this.#views.blocks.flush())
  }

  /** Drops the oldest envelopes. Open runs and open proposals stay. */
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

/** The future message of an answer in progress, as far as filters need it. */
const toChat = ({ from }: LiveAnswer): Envelope => ({
  ...{ protocol: PROTOCOL, id: '', ts: '', from, kind: Kind.chat, payload: {} },
})

/** The state of a space at an envelope, beyond what the log contains. */
export interface ModelCheckpoint extends FoldsCheckpoint {
  readonly folding: FoldingCheckpoint
}
