import { contextParent, type Envelope, Kind, type WelcomePayload } from '@meup/protocol'
import { createPresenceFold, type PresenceFold, type ProposalView } from '@meup/views'
import { Announcer } from './announcer.js'
import { beginningOf } from './beginning.js'
import { GatewayClock } from './clock.js'
import type { Filter } from './filter.js'
import { Folding, type Level } from './folding.js'
import { lighten } from './heavy.js'
import { Lens } from './lens.js'
import { Lists } from './lists.js'
import { Log } from './log.js'
import { People, type Person } from './people.js'
import { Rate } from './rate.js'
import type { Row } from './row.js'
import type { Sources } from './rows.js'
import { Sieve } from './sieve.js'
import { Views } from './views.js'
import { welcomeEnvelope } from './welcome.js'

/** Envelopes that are kept; the oldest go when there are `slack` more. */
const defaultCapacity = { most: 100_000, slack: 20_000 }

/** Everything a page shows of one space. It knows nothing but the log, and what its reader has chosen. */
export class SpaceModel {
  readonly #capacity: { readonly most: number; readonly slack: number }
  readonly log = new Log()
  readonly announcer = new Announcer()
  /** Which contexts are open. */
  readonly folding: Folding
  /** What its reader has chosen to see. */
  readonly lens: Lens
  /** What of the log its reader wants to see. */
  readonly sieve: Sieve
  readonly #rate = new Rate()
  readonly #presence: PresenceFold = createPresenceFold()
  /** Who is in it, and what each is at. */
  readonly members: People
  readonly #clock = new GatewayClock()
  #welcomes: Envelope[] = []
  #head = 0
  #views: Views
  /** What the views show. */
  readonly lists: Lists
  /** Changes whenever the reader has chosen something. */
  #choices = 0
  /** Blocks that the reader has had before them, where it has left the live end. */
  #seen: number | undefined
  /** Milliseconds by the gateway's clock: when this is what there was; `undefined` = it is what there is now. */
  moment: number | undefined

  /** `like`: with what its reader has chosen there, and goes on choosing. */
  constructor(
    capacity: { readonly most: number; readonly slack: number } = defaultCapacity,
    like?: SpaceModel,
  ) {
    this.#capacity = capacity
    this.folding = new Folding(like === undefined ? undefined : like.folding)
    this.lens = like === undefined ? new Lens() : like.lens
    this.sieve = new Sieve(this.lens, this.log)
    this.#views = this.#newViews(this.log)
    this.lists = new Lists(
      () => this.#views.blocks.list,
      this.#sources(() => this.#views),
    )
    this.members = new People(this.#presence, () => this.#views.runs, this.lens.muted)
  }

  /** As the space was before the first envelope that was loaded; its reader has chosen there what was chosen here. */
  atItsBeginning(): SpaceModel {
    const model = new SpaceModel(this.#capacity, this)
    const [welcome] = this.#welcomes
    if (welcome === undefined) return model
    const payload = beginningOf(welcome.payload as WelcomePayload, this.log.envelopes)
    model.enter(payload, Date.parse(this.log.envelopes[0]?.ts ?? welcome.ts))
    return model
  }

  /** What the gateway says of the space. `now`, here and below: milliseconds by the clock of this machine. */
  enter(welcome: WelcomePayload, now: number): void {
    const envelope = welcomeEnvelope(welcome, now)
    this.#head = welcome.space.head
    this.#presence.apply(envelope)
    this.members.changed()
    this.#welcomes = [...this.#welcomes.slice(0, 1), envelope]
    this.#views.apply(envelope)
    this.#refresh()
  }

  /** The next envelopes of the log. */
  take(envelopes: readonly Envelope[], now: number): void {
    const before = this.log.envelopes.length
    for (const each of envelopes) {
      const envelope = lighten(each)
      if (!this.log.append(envelope)) continue
      this.#views.apply(envelope)
      this.members.take(envelope)
      if ((envelope.seq ?? 0) > this.#head) this.#hear(envelope, now)
    }
    this.sieve.grew(before)
    const { most, slack } = this.#capacity
    if (this.log.envelopes.length > most + slack) this.#shorten(now)
    this.#refresh()
  }

  /** Envelopes that were not loaded before: earlier ones, or such as were withheld at the time. */
  merge(envelopes: readonly Envelope[]): void {
    for (const _ of this.mergeInSteps(envelopes));
  }

  /** The same, so many envelopes at each step. What comes meanwhile is taken as well; no two at a time. */
  *mergeInSteps(envelopes: readonly Envelope[], perStep = 1000): Generator<undefined, void> {
    const missing = envelopes.filter(({ id, seq }) => seq !== undefined && this.log.get(id) === undefined)
    if (missing.length === 0) return
    const log = new Log()
    const views = this.#newViews(log)
    for (const welcome of this.#welcomes) views.apply(welcome)
    const through = this.log.last
    const all = [...this.log.envelopes, ...missing].sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
    for (const [index, each] of all.entries()) {
      const envelope = lighten(each)
      if (log.append(envelope)) views.apply(envelope)
      if (index % perStep === 0) yield
    }
    views.blocks.flush()
    const sources = this.#sources(() => views)
    const choices = this.#choices
    const prepared = yield* this.lists.prepare([...views.blocks.list], sources, perStep)
    for (const envelope of this.log.envelopes.slice(this.log.countThrough(through))) {
      if (log.append(envelope)) views.apply(envelope)
    }
    for (const block of views.blocks.flush()) for (const known of prepared.values()) known.delete(block)
    if (this.#seen !== undefined) this.#seen += views.blocks.list.length - this.#views.blocks.list.length
    this.log.become(log)
    this.#views = views
    this.sieve.again()
    this.members.again(this.log.envelopes)
    this.lists.clear(choices === this.#choices ? prepared : undefined)
  }

  /** All rows of the stream, made whether anybody looks at them or not. */
  get rows(): readonly Row[] {
    const { stream } = this.lists
    return stream.slots.map((slot) => stream.rowOf(slot))
  }

  /** Opens every context that an envelope stands in, so that its line shows. */
  unfold(id: string): void {
    const path = this.log.get(id)?.context
    for (let at = path; at !== undefined; at = contextParent(at)) {
      if (this.levelOf(at) !== 'all') this.choose(at, 'all')
    }
  }

  cycle(context: string): void {
    this.folding.cycle(context)
    this.#redraw(context)
  }

  choose(context: string, level: Level): void {
    this.folding.choose(context, level)
    this.#redraw(context)
  }

  /** All of them that are there. */
  chooseAll(level: Level): void {
    for (const context of this.#views.contexts) this.folding.choose(context, level)
    this.redrawAll()
  }

  levelOf(context: string): Level {
    return this.folding.levelOf(context)
  }

  mute(participant: string, isMuted: boolean): void {
    if (isMuted) this.lens.muted.add(participant)
    else this.lens.muted.delete(participant)
    this.redrawAll()
  }

  /** Whether the reader is at the live end. */
  follow(isFollowing: boolean): void {
    this.#seen = isFollowing ? undefined : (this.#seen ?? this.#views.blocks.list.length)
    for (const context of this.folding.follow(isFollowing)) this.#redraw(context)
  }

  /** Blocks that began since the reader has left the live end. */
  get unseen(): number {
    return this.#seen === undefined ? 0 : Math.max(this.#views.blocks.list.length - this.#seen, 0)
  }

  /** What waits for a decision. */
  pending(now: number): readonly ProposalView[] {
    return this.#views.proposals.open(this.gatewayTime(now))
  }

  /** Everybody the space knows: who is there first, then by name. */
  get people(): readonly Person[] {
    return this.members.list
  }

  /** Shows what passes this alone. */
  filter(filter: Filter): void {
    this.sieve.filter(filter)
    this.redrawAll()
  }

  /** Searches for something else; `sieve.work` finds it. */
  find(query: string): void {
    this.sieve.find(query)
    if (this.lens.filter.isHitsOnly) this.redrawAll()
  }

  /** Runs that go on, as far as is known, and whose they are. */
  get runs(): ReadonlyMap<string, string> {
    return this.#views.runs
  }

  /** Those of them whose thoughts are hidden from everybody. */
  hiddenRuns(): readonly { readonly context: string; readonly owner: string }[] {
    const isHidden = (context: string): boolean => this.#views.contextOf(context)?.reasoningVisible === false
    return [...this.runs].flatMap(([context, owner]) => (isHidden(context) ? [{ context, owner }] : []))
  }

  /** Envelopes a second, lately. */
  rate(now: number): number {
    return this.#rate.perSecond(now)
  }

  /** What the gateway's clock says, as far as it is known. */
  gatewayTime(now: number): number {
    return this.moment ?? this.#clock.at(now)
  }

  #hear(envelope: Envelope, now: number): void {
    if (this.#presence.apply(envelope).length > 0) this.members.changed()
    this.#announce(envelope)
    this.#rate.add(now)
    this.#clock.hear(envelope.ts, now)
  }

  #announce(envelope: Envelope): void {
    if (!this.lens.muted.has(envelope.from) || envelope.kind === Kind.mcpProposal)
      this.announcer.take(envelope)
  }

  /** What is read again opens and closes nothing. */
  #newViews(log: Log): Views {
    const isShown = (): boolean => views === this.#views
    const views: Views = new Views(
      {
        began: (context) => void (isShown() && this.folding.began(context)),
        ended: (context) => void (isShown() && this.folding.ended(context)),
      },
      (id) => log.get(id) !== undefined,
    )
    return views
  }

  #redraw(context: string): void {
    this.#choices++
    this.#views.blocks.touchContext(context)
    this.#refresh()
  }

  /** After its reader has chosen something, perhaps at another moment of the same space. */
  redrawAll(): void {
    this.#choices++
    this.#views.blocks.flush()
    this.lists.clear()
  }

  #refresh(): void {
    this.lists.touch(this.#views.blocks.flush())
  }

  /** The oldest go; what is still under way, or waits for a decision, stays. */
  #shorten(now: number): void {
    this.log.shorten(this.#capacity.most)
    this.sieve.again()
    const waiting = new Set(this.pending(now).map(({ id }) => id))
    this.#views.forget(this.log.first, ({ envelope }) => waiting.has(envelope.id))
    this.lists.shorten()
  }

  #sources(views: () => Views): Sources {
    return {
      folding: this.folding,
      contextOf: (context) => views().contextOf(context),
      proposalOf: (id) => views().proposals.get(id),
      isMuted: (participant) => this.lens.muted.has(participant),
      sieve: this.sieve,
    }
  }
}
