import {
  type Beginning,
  FoldedTurn,
  type FoldTurnOptions,
  getSource,
  Role,
  type Source,
  type TurnRecord,
} from '@meup/folds'
import { Kind } from '@meup/protocol'
import { getRightsKey, mayRead, type Reader } from '../core/may-read.js'
import type { Space } from '../core/space.js'
import { yieldIfBusy } from '../core/yielding.js'
import type { Entry } from '../ports/envelope-log.js'
import {
  classifyReader,
  createTurnEvents,
  type TurnEvents,
  type TurnViewEvent,
  unread,
} from './turn-events.js'
import { createExcerpt, longTurn } from './turn-excerpt.js'
import { rowAt, rowsAt, type TurnIndex } from './turn-index.js'
import {
  type CallRange,
  contextIn,
  createTurnEnvelope,
  selectVisible,
  type TurnEnvelope,
  type TurnView,
  type VisibleTurn,
} from './visible-turn.js'
import { type CallInTurn, type Placed, type RowsBySeq, seqsOf, WholeTurns } from './whole-turns.js'

/** A turn for one reader, and its cost. `view`: `undefined` = no part of it is readable. */
interface Look {
  readonly view: TurnView | undefined
  /** Envelopes that were folded, and the bytes of their bodies. */
  readonly envelopes: number
  readonly bytes: number
}

/**
 * Folds turns from their envelopes on request [MEUP-10.5]. A reader that may not read all of them sees the turn as if the log
 * had only the readable ones [MEUP-8.6].
 */
export class FoldedTurns {
  readonly #space: Space
  readonly #whole: WholeTurns
  readonly #long: LongTurns
  #rules: unknown
  #oldest = 0

  constructor(space: Space) {
    this.#space = space
    this.#whole = new WholeTurns({
      log: space.log,
      parsed: space.parsed,
      options: () => this.#options,
    })
    this.#long = new LongTurns(space)
  }

  /** Drops all cached turns. */
  clear(): void {
    this.#whole.clear()
    this.#long.clear()
  }

  /** Folds the turns that are about to be viewed and that the reader may read completely, with one read of the log. */
  async prepare(
    index: TurnIndex,
    beginnings: readonly Beginning[],
    reader: Reader,
    atHand: RowsBySeq = new Map(),
  ): Promise<void> {
    this.#clearIfOutdated()
    const isLong = (turn: number): boolean => this.#long.has(turn)
    await this.#whole.prepare(index, beginnings, atHand, isLong, (placed) =>
      this.#selectReadable(placed, reader),
    )
  }

  async #selectReadable(placed: readonly Placed[], reader: Reader): Promise<readonly Placed[]> {
    const withheld = new Set<number>()
    const seqs = [...new Set(placed.flatMap(seqsOf))].sort((one, other) => one - other)
    for await (const headings of rowsAt(this.#space.log, seqs, 'headings'))
      for (const heading of headings) if (!this.#mayRead(reader, heading)) withheld.add(heading.seq)
    return withheld.size === 0
      ? placed
      : placed.filter((each) => !seqsOf(each).some((seq) => withheld.has(seq)))
  }

  /** Finds a call of a cached turn; `undefined` = it is not cached. */
  callIn(turn: number, id: string): CallInTurn | undefined {
    return this.#whole.callIn(turn, id)
  }

  /** Folds a turn for a reader, with the page of calls before the seq `before`. */
  async look(index: TurnIndex, beginning: Beginning, reader: Reader, before = Infinity): Promise<Look> {
    this.#clearIfOutdated()
    if (this.#isLong(index, beginning.turn) || !(await this.#mayReadWhole(index, beginning, reader))) {
      const long = await this.#long.get(index, beginning)
      const view = await this.#viewLong(long, beginning, reader, before)
      const bytes = view?.envelopes.reduce((sum, each) => sum + each.bytes, 0) ?? 0
      return { view, envelopes: long.envelopes.length, bytes }
    }
    const known = await this.#whole.get(index, beginning)
    const { envelopes, bytes } = known
    return {
      view: await this.#createView(known, beginning, reader, before),
      envelopes: envelopes.length,
      bytes,
    }
  }

  /** Whether the reader may read the whole turn. If not, its unreadable bodies are not read, however large they are [MEUP-8.6]. */
  async #mayReadWhole(index: TurnIndex, beginning: Beginning, reader: Reader): Promise<boolean> {
    const known = this.#whole.peek(beginning.turn)
    if (known === undefined) {
      // + 2: one envelope more than `longTurn` shows that the turn is long, and `places` leaves out the last envelope of a full
      // list, because its entry may be incomplete.
      const places = index.places(beginning.turn, 0, longTurn + 2)
      return (await this.#selectReadable([{ beginning, places }], reader)).length > 0
    }
    const { trigger } = known
    if (trigger !== undefined && !this.#mayRead(reader, trigger)) return false
    return (await this.#listEnvelopes(index, beginning)).every(({ source }) => this.#mayRead(reader, source))
  }

  /** The envelopes of a turn, without reading further bodies. */
  async #listEnvelopes(index: TurnIndex, beginning: Beginning): Promise<readonly TurnEnvelope[]> {
    const { turn } = beginning
    const known = this.#whole.peek(turn)
    if (known === undefined) return (await this.#long.get(index, beginning)).envelopes
    const isWhole = known.through >= index.seq || !index.mayGoOn(turn, known.through)
    return isWhole ? known.envelopes : this.#long.extend(index, turn, [...known.envelopes])
  }

  #isLong(index: TurnIndex, turn: number): boolean {
    if (this.#whole.has(turn)) return false
    return this.#long.has(turn) || isLongIn(index, turn)
  }

  async #viewLong(
    long: LongTurn,
    beginning: Beginning,
    reader: Reader,
    before: number,
  ): Promise<TurnView | undefined> {
    const { participant } = reader
    const key = JSON.stringify([participant, getRightsKey(reader), before, this.#space.audienceVersion])
    const kept = long.views.get(key)
    if (kept !== undefined) return kept
    const view = await this.#createView(long, beginning, reader, before)
    // A view with a pending call or proposal is not cached, because a proposal expires by time, without a new envelope.
    if (view?.record.decisions.every(({ outcome }) => outcome !== null)) keepView(long, key, view)
    return view
  }

  async #createView(
    {
      folded,
      trigger,
      envelopes,
    }: Pick<LongTurn, 'trigger' | 'envelopes'> & { readonly folded?: FoldedTurn },
    beginning: Beginning,
    reader: Reader,
    before: number,
  ): Promise<TurnView | undefined> {
    const isTruncated = this.#isTruncated(beginning)
    const { seen, withheld, isAll } = this.#selectVisible(envelopes, beginning, reader)
    if (seen.length === 0) return undefined // The whole turn was pruned, or no part of it is readable.
    const isAsked = trigger === undefined || this.#mayRead(reader, trigger)
    const isWhole = seen.length <= longTurn && before === Infinity
    const about = { beginning, isTruncated, envelopes: seen, withheld }
    if (isWhole && isAll && folded !== undefined) {
      const record = isAsked ? folded.record : { ...folded.record, trigger: null }
      return { ...about, record, calls: allCalls }
    }
    const { said, gaps, calls } = isWhole
      ? { said: seen, gaps: noGaps, calls: allCalls }
      : createExcerpt(seen, before)
    const sizes = new Map<number, number>()
    const record = await this.#fold(beginning, isAsked ? trigger : undefined, said, { gaps, sizes })
    const read = seen.map((each) => {
      const bytes = sizes.get(each.source.seq)
      return bytes === undefined ? each : { ...each, bytes }
    })
    return { ...about, envelopes: read, record, calls }
  }

  /**
   * Returns the events of a turn after `after` and up to `through`, folded once for readers who may read the same envelopes.
   */
  async events(
    index: TurnIndex,
    beginning: Beginning,
    { after, through }: { readonly after: number; readonly through: number },
    readers: readonly Reader[],
  ): Promise<TurnEvents> {
    this.#clearIfOutdated()
    const all = await this.#listEnvelopes(index, beginning)
    const envelopes = all.filter(({ source }) => source.seq <= through)
    const audiences = envelopes.flatMap(({ source }) => this.#space.decideAudience(source) ?? [])
    const events = new Map<string, readonly TurnViewEvent[]>()
    let folded = 0
    for (const reader of readers) {
      const kind = classifyReader(reader, audiences)
      if (events.has(kind)) continue
      const known = kind.includes(unread) ? undefined : await this.#whole.get(index, beginning)
      const share = this.#selectVisible(envelopes, beginning, reader)
      const isAll = known !== undefined && known.cachedSince <= after
      const turnEvents = isAll
        ? known.cached.filter(({ seq }) => seq > after && seq <= through)
        : await this.#collectEvents(beginning, share, after)
      events.set(kind, turnEvents)
      if (!isAll) folded += share.seen.length
    }
    return { audiences, events, folded }
  }

  async #collectEvents(beginning: Beginning, { seen }: VisibleTurn, after: number): Promise<TurnViewEvent[]> {
    const turnEvents: TurnViewEvent[] = []
    await this.#fold(beginning, undefined, seen, {
      ended: (folded) => {
        if (folded.seq > after) turnEvents.push(...createTurnEvents(folded))
      },
    })
    return turnEvents
  }

  #selectVisible(envelopes: readonly TurnEnvelope[], { agent }: Beginning, reader: Reader): VisibleTurn {
    return selectVisible(envelopes, agent, (source) => this.#mayRead(reader, source))
  }

  /**
   * Folds some envelopes of a turn. Proposals expire by the log's clock, because the envelopes that expire or fulfil them may
   * not be included.
   */
  async #fold(
    beginning: Beginning,
    trigger: Source | undefined,
    seen: readonly TurnEnvelope[],
    { gaps = noGaps, ended = () => {}, sizes }: FoldOptions,
  ): Promise<TurnRecord> {
    const bySeq = new Map(seen.map((each) => [each.source.seq, each]))
    const { log, parsed } = this.#space
    const asked = trigger && (await rowAt(log, trigger.seq))
    const folded = new FoldedTurn(
      this.#adjustBeginning(beginning, seen),
      this.#options,
      asked && parsed.get(asked),
    )
    for await (const rows of rowsAt(log, [...bySeq.keys()])) {
      for (const row of rows) {
        const { roles = 0 } = bySeq.get(row.seq) ?? {}
        sizes?.set(row.seq, row.body.length)
        if (gaps.has(row.seq)) folded.skip()
        if (!(roles & Role.expire)) folded.expire(row.ts)
        if (folded.apply(parsed.get(row), roles)) ended(folded)
        await yieldIfBusy()
      }
    }
    if (folded.mayExpire) folded.expire(await this.#now())
    return folded.record
  }

  /**
   * The beginning of a turn for a reader of these envelopes only: the first of them begins it. If the first envelope of the
   * turn was pruned, its recorded beginning is kept.
   */
  #adjustBeginning(beginning: Beginning, [first]: readonly TurnEnvelope[]): Beginning {
    if (first === undefined || first.source.seq === beginning.seq || this.#isTruncated(beginning))
      return beginning
    const jobId = beginning.jobId === null ? null : first.source.id
    return { ...beginning, jobId, startedAt: first.ts }
  }

  /** Clears the cache after a change of the safety rules or a pruning, since both change what may be shown. */
  #clearIfOutdated(): void {
    const { config, log } = this.#space
    if (config.safety === this.#rules && log.oldest === this.#oldest) return
    this.#rules = config.safety
    this.#oldest = log.oldest
    this.clear()
  }

  async #now(): Promise<string> {
    return (await rowAt(this.#space.log, this.#space.delivered, 'headings'))?.ts ?? ''
  }

  #isTruncated({ seq }: Beginning): boolean {
    return seq < this.#space.log.oldest
  }

  #mayRead(reader: Reader, said: Parameters<Space['decideAudience']>[0]): boolean {
    return mayRead(reader, this.#space.decideAudience(said))
  }

  get #options(): FoldTurnOptions {
    const { config, log, safety } = this.#space
    return { space: config.name, epoch: log.epoch, guard: (text) => safety.guard(text) }
  }
}

interface FoldOptions {
  /** Seqs of the envelopes that follow a gap: envelopes of the turn directly before them are not folded. */
  readonly gaps?: ReadonlySet<number>
  /** Receives the number of bytes of each body that is read, by seq. */
  readonly sizes?: Map<number, number>
  /** Called when a batch of calls has ended. */
  readonly ended?: (folded: FoldedTurn) => void
}

const allCalls: CallRange = { from: 0, hasEarlier: false }
const noGaps: ReadonlySet<number> = new Set()

/**
 * Whether a turn is long. Lists one more envelope than necessary, because the last one may be incomplete and is then left out.
 */
const isLongIn = (index: TurnIndex, turn: number): boolean =>
  index.places(turn, 0, longTurn + 2).length > longTurn

/** Cached long turns, least recently used removed first, and cached views per turn. */
const maximum = { turns: 4, views: 16 }
const placesAtOnce = 4096

/** A turn of which only headings are cached. */
interface LongTurn {
  readonly envelopes: readonly TurnEnvelope[]
  readonly trigger: Source | undefined
  /** Views of the turn, by reader and query. */
  readonly views: Map<string, TurnView>
}

/** Caches the headings of the envelopes of long turns. */
class LongTurns {
  readonly #space: Pick<Space, 'log' | 'parsed'>
  readonly #kept = new Map<number, Promise<LongTurn>>()

  constructor(space: Pick<Space, 'log' | 'parsed'>) {
    this.#space = space
  }

  has(turn: number): boolean {
    return this.#kept.has(turn)
  }

  /** Requests for one turn run one after another, so that no heading is read twice. */
  get(index: TurnIndex, beginning: Beginning): Promise<LongTurn> {
    const { turn } = beginning
    const before = this.#kept.get(turn) ?? this.#begin(beginning)
    const known = before.then(async (long) => {
      const envelopes = await this.extend(index, turn, long.envelopes)
      return envelopes === long.envelopes ? long : { ...long, envelopes, views: new Map() }
    })
    this.#kept.delete(turn)
    this.#kept.set(turn, known)
    for (const oldest of this.#kept.keys()) if (this.#kept.size > maximum.turns) this.#kept.delete(oldest)
    known.catch(() => {
      if (this.#kept.get(turn) === known) this.#kept.delete(turn)
    })
    return known
  }

  clear(): void {
    this.#kept.clear()
  }

  async #begin({ trigger }: Beginning): Promise<LongTurn> {
    const long = { envelopes: [], trigger: undefined, views: new Map() }
    if (trigger === null) return long
    for await (const [row] of rowsAt(this.#space.log, [trigger], 'headings'))
      if (row !== undefined) return { ...long, trigger: sourceIn(row) }
    return long
  }

  /** Adds the envelopes that the index has found since; returns the same list if there are none. */
  async extend(
    index: TurnIndex,
    turn: number,
    known: readonly TurnEnvelope[],
  ): Promise<readonly TurnEnvelope[]> {
    const { log, parsed } = this.#space
    const envelopes: TurnEnvelope[] = []
    for (let after = known.at(-1)?.source.seq ?? 0; ; ) {
      const places = index.places(turn, after, placesAtOnce)
      if (places.length === 0) break
      const bySeq = new Map(places.map((place) => [place.seq, place]))
      for await (const rows of rowsAt(log, [...bySeq.keys()], 'headings')) {
        for (const row of rows) {
          const place = bySeq.get(row.seq)
          if (place === undefined) continue
          const isAttempt = row.kind === Kind.systemDecision && (place.roles & Role.free) !== 0
          const said = isAttempt ? await rowAt(log, row.seq) : undefined
          const context = said === undefined ? row.context : contextIn(parsed.get(said))
          envelopes.push(createTurnEnvelope({ source: sourceIn(row), ts: row.ts, context }, place, 0))
        }
        await yieldIfBusy()
      }
      after = places.at(-1)?.seq ?? after
    }
    return envelopes.length === 0 ? known : known.concat(envelopes)
  }
}

/** Caches a view of a long turn, and removes the oldest if there are too many. */
function keepView({ views }: LongTurn, key: string, view: TurnView): void {
  views.set(key, view)
  for (const oldest of views.keys()) if (views.size > maximum.views) views.delete(oldest)
}

const sourceIn = ({ id, seq, from, kind, to, context, correlationId }: Entry): Source =>
  getSource({ id, seq, from, kind, to, context, correlationId } as Parameters<typeof getSource>[0])

/** Called with the cost of each folded turn in characters, even if the turn is not shown [MEUP-7.8]. */
export type Passed = (characters: number) => void

/** Characters charged for a step that is not shown. */
export const stepCharacters = 128

const cost = { turn: 512, envelope: 64, byte: 1 / 8 }

/** The cost of folding a turn, in characters; a byte costs as much as one that is read from the log. */
export const countCharacters = ({ envelopes, bytes }: Pick<Look, 'envelopes' | 'bytes'>): number =>
  cost.turn + cost.envelope * envelopes + cost.byte * bytes
