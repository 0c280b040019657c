import { type Envelope, Kind, type WelcomePayload } from '@meup/protocol'
import { createPresenceFold, type PresenceFold, type ProposalView } from '@meup/views'
import { Announcer } from './announcer.js'
import { FlatRows } from './flat-rows.js'
import { Folding, type Level } from './folding.js'
import { Log } from './log.js'
import { Rate } from './rate.js'
import type { Row } from './row.js'
import { rowsOf, type Sources } from './rows.js'
import { Views } from './views.js'
import { welcomeEnvelope } from './welcome.js'
import { Layout } from './window.js'

/** Somebody in the space, and what it is at. */
export interface Person {
  readonly id: string
  readonly isPresent: boolean
  /** Runs that it has begun and not ended. */
  readonly load: number
  readonly isMuted: boolean
}

/** Envelopes that are kept; the oldest go when there are `slack` more. */
const defaultCapacity = { most: 100_000, slack: 20_000 }

/** Everything a page shows of one space. It knows nothing but the log, and what its reader has chosen. */
export class SpaceModel {
  readonly #capacity: { readonly most: number; readonly slack: number }
  readonly log = new Log()
  readonly announcer = new Announcer()
  readonly #folding = new Folding()
  readonly #muted = new Set<string>()
  readonly #rate = new Rate()
  readonly #presence: PresenceFold = createPresenceFold()
  #welcomes: Envelope[] = []
  #head = 0
  #views = this.#newViews()
  readonly #flat = new FlatRows()
  readonly #layout = new Layout()
  /** Pixels, by the keys of rows that were on the screen. */
  readonly #heights = new Map<string, number>()
  /** Index of the first row whose height the layout does not know. */
  #resized = 0
  /** Blocks that the reader has had before them, where it has left the live end. */
  #seen: number | undefined
  /** Milliseconds that the gateway's clock is ahead of this one, at least. */
  #ahead = Number.NEGATIVE_INFINITY

  constructor(capacity: { readonly most: number; readonly slack: number } = defaultCapacity) {
    this.#capacity = capacity
  }

  /** What the gateway says of the space. `now`, here and below: milliseconds by the clock of this machine. */
  enter(welcome: WelcomePayload, now: number): void {
    const envelope = welcomeEnvelope(welcome, now)
    this.#head = welcome.space.head
    this.#presence.apply(envelope)
    this.#welcomes = [...this.#welcomes.slice(0, 1), envelope]
    this.#views.apply(envelope)
    this.#refresh()
  }

  /** The next envelopes of the log. */
  take(envelopes: readonly Envelope[], now: number): void {
    for (const envelope of envelopes) {
      if (!this.log.append(envelope)) continue
      this.#views.apply(envelope)
      if ((envelope.seq ?? 0) > this.#head) this.#hear(envelope, now)
    }
    const { most, slack } = this.#capacity
    if (this.log.envelopes.length > most + slack) this.#shorten(now)
    this.#refresh()
  }

  /** Envelopes that were not loaded before: earlier ones, or such as were withheld at the time. */
  merge(envelopes: readonly Envelope[]): void {
    const before = this.#views.blocks.list.length
    if (!this.log.merge(envelopes)) return
    this.#rebuild()
    if (this.#seen !== undefined) this.#seen += this.#views.blocks.list.length - before
  }

  /** The same array each time; `version` tells whether its content is. */
  get rows(): readonly Row[] {
    const sources = this.#sources()
    const first = this.#flat.update(this.#views.blocks.list, (block) => rowsOf(block, sources))
    this.#layout.update(this.#flat.rows, Math.min(first, this.#resized))
    this.#resized = Number.POSITIVE_INFINITY
    return this.#flat.rows
  }

  /** Where the rows are, from the top. Ask for the rows first. */
  get layout(): Layout {
    return this.#layout
  }

  /** A row turned out to be so many pixels high. */
  measured(index: number, height: number): void {
    const row = this.#flat.rows[index]
    if (row === undefined || row.height === height) return
    row.height = height
    this.#heights.set(row.key, height)
    this.#resized = Math.min(this.#resized, index)
  }

  cycle(context: string): void {
    this.#folding.cycle(context)
    this.#redraw(context)
  }

  choose(context: string, level: Level): void {
    this.#folding.choose(context, level)
    this.#redraw(context)
  }

  /** All of them that are there. */
  chooseAll(level: Level): void {
    for (const { context } of this.#views.contexts.all()) this.#folding.choose(context, level)
    this.#redrawAll()
  }

  levelOf(context: string): Level {
    return this.#folding.levelOf(context)
  }

  mute(participant: string, isMuted: boolean): void {
    if (isMuted) this.#muted.add(participant)
    else this.#muted.delete(participant)
    this.#redrawAll()
  }

  /** Whether the reader is at the live end. */
  follow(isFollowing: boolean): void {
    this.#seen = isFollowing ? undefined : (this.#seen ?? this.#views.blocks.list.length)
    for (const context of this.#folding.follow(isFollowing)) this.#redraw(context)
  }

  /** Blocks that began since the reader has left the live end. */
  get unseen(): number {
    return this.#seen === undefined ? 0 : Math.max(this.#views.blocks.list.length - this.#seen, 0)
  }

  /** What waits for a decision. */
  pending(now: number): readonly ProposalView[] {
    return this.#views.proposals.open(this.gatewayTime(now))
  }

  get people(): readonly Person[] {
    const loads = new Map<string, number>()
    for (const owner of this.#views.runs.values()) loads.set(owner, (loads.get(owner) ?? 0) + 1)
    return this.#presence
      .all()
      .map(({ id, status }) => ({
        id,
        isPresent: status === 'present',
        load: loads.get(id) ?? 0,
        isMuted: this.#muted.has(id),
      }))
      .sort(byPresence)
  }

  /** Envelopes a second, lately. */
  rate(now: number): number {
    return this.#rate.perSecond(now)
  }

  /** What the gateway's clock says, as far as it is known. */
  gatewayTime(now: number): number {
    return Number.isFinite(this.#ahead) ? now + this.#ahead : now
  }

  #hear(envelope: Envelope, now: number): void {
    this.#presence.apply(envelope)
    this.#announce(envelope)
    this.#rate.add(now)
    this.#ahead = Math.max(this.#ahead, Date.parse(envelope.ts) - now)
  }

  #announce(envelope: Envelope): void {
    if (!this.#muted.has(envelope.from) || envelope.kind === Kind.mcpProposal) this.announcer.take(envelope)
  }

  #newViews(): Views {
    return new Views(this.#folding, (id) => this.log.get(id) !== undefined)
  }

  #rebuild(): void {
    this.#views = this.#newViews()
    for (const envelope of [...this.#welcomes, ...this.log.envelopes]) this.#views.apply(envelope)
    this.#redrawAll()
  }

  #redraw(context: string): void {
    this.#views.blocks.touchContext(context)
    this.#refresh()
  }

  #redrawAll(): void {
    this.#views.blocks.flush()
    this.#flat.clear()
  }

  #refresh(): void {
    this.#flat.touch(this.#views.blocks.flush())
  }

  /** The oldest go; what is still under way, or waits for a decision, stays. */
  #shorten(now: number): void {
    const { blocks, runs } = this.#views
    this.log.shorten(this.#capacity.most)
    const waiting = new Set(this.pending(now).map(({ id }) => id))
    blocks.forget(this.log.first, (block) =>
      block.type === 'context' ? runs.has(block.root) : waiting.has(block.envelope.id),
    )
    this.#flat.clear()
  }

  #sources(): Sources {
    const { contexts, proposals } = this.#views
    return {
      folding: this.#folding,
      contextOf: (context) => contexts.get(context),
      proposalOf: (id) => proposals.get(id),
      isMuted: (participant) => this.#muted.has(participant),
      heightOf: (key) => this.#heights.get(key),
    }
  }
}

/** Who is there first, then by name. */
const byPresence = (one: Person, other: Person): number =>
  Number(other.isPresent) - Number(one.isPresent) || one.id.localeCompare(other.id)
