import { type Beginning, FoldedTurn, type FoldTurnOptions, getSource, Role, type Source } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { ParsedRows } from '../core/parsed-rows.js'
import { yieldIfBusy } from '../core/yielding.js'
import type { EnvelopeLog, Row } from '../ports/envelope-log.js'
import { createTurnEvents, type TurnViewEvent } from './turn-events.js'
import { longTurn } from './turn-excerpt.js'
import { rowAt, rowsAt, type TurnIndex, type TurnPlace } from './turn-index.js'
import { contextIn, createTurnEnvelope, type TurnEnvelope } from './visible-turn.js'

/** Maximum bytes of cached turns. A cached turn that continues need not be folded from its beginning. */
const maxCachedBytes = 64 * 1024 * 1024
/** Estimated bytes in memory of a cached envelope besides its body. */
const envelopeBytes = 512
/** Maximum number of cached events per turn; each event includes the content of the earlier ones. */
const maxCachedEvents = 16
/** Maximum rows per read, and approximate bytes. */
const atOnce = { rows: 1500, bytes: 2 * 1024 * 1024 }

/** A turn that was folded from its beginning to the end of the index. */
export interface Known {
  readonly folded: FoldedTurn
  readonly trigger: Source | undefined
  readonly envelopes: TurnEnvelope[]
  /** Bytes of the kept envelopes of the turn, and of its trigger, which is the envelope that it answers. */
  bytes: number
  /** The latest events of the turn: all with a seq after `cachedSince`. */
  readonly cached: TurnViewEvent[]
  cachedSince: number
  /** Seq up to which the turn is folded. */
  through: number
}

interface Kept {
  readonly known: Promise<Known>
  value: Known | undefined
  weight: number
}

/** Rows in memory by seq. */
export type RowsBySeq = ReadonlyMap<number, Row>

/** A turn and the seqs of its envelopes. */
export interface Placed {
  readonly beginning: Beginning
  readonly places: readonly TurnPlace[]
}

/** A call with its tool, masked, and the request if the log says which right let it pass. */
export interface CallInTurn {
  readonly source: Source
  readonly tool: string
  readonly request: Envelope | undefined
}

/** The log from which turns are folded, and the options of the fold. */
interface FoldSources {
  readonly log: EnvelopeLog
  readonly parsed: ParsedRows
  options(): FoldTurnOptions
}

/** Caches completely folded turns, so that a turn that continues is not folded from its beginning again. */
export class WholeTurns {
  readonly #sources: FoldSources
  /** Cached turns, most recently used last. */
  readonly #kept = new Map<number, Kept>()
  #weight = 0

  constructor(sources: FoldSources) {
    this.#sources = sources
  }

  has(turn: number): boolean {
    return this.#kept.has(turn)
  }

  clear(): void {
    this.#kept.clear()
    this.#weight = 0
  }

  /** The cached fold of a turn, complete or not; `undefined` = not cached. */
  peek(turn: number): Known | undefined {
    return this.#kept.get(turn)?.value
  }

  /** Folds the turns that `select` picks, with one read of the log. */
  async prepare(
    index: TurnIndex,
    beginnings: readonly Beginning[],
    atHand: RowsBySeq,
    isLong: (turn: number) => boolean,
    select: (placed: readonly Placed[]) => Promise<readonly Placed[]>,
  ): Promise<void> {
    const found: Placed[] = []
    const { seq: through } = index
    let count = 0
    for (const beginning of beginnings) {
      const { turn } = beginning
      if (count >= atOnce.rows) break
      if (this.#kept.has(turn) || isLong(turn)) continue
      // + 2: one envelope more than `longTurn` shows that the turn is long, and `places` leaves out the last envelope of a full
      // list, because its entry may be incomplete.
      const places = index.places(turn, 0, longTurn + 2)
      if (places.length > longTurn) continue
      found.push({ beginning, places })
      count += places.length
    }
    // Another request may have folded some of these turns.
    const placed = (await select(found)).filter(({ beginning }) => !this.#kept.has(beginning.turn))
    const reading = this.#readRows(placed, atHand)
    let last: Promise<unknown> = reading
    for (const { beginning, places } of placed) {
      const before = last
      const folding = async (): Promise<Known> => {
        await before
        await yieldIfBusy()
        const rows = await reading
        const known = await this.#begin(beginning, rows)
        if (await this.#fold(known, places, rows)) known.through = through
        return this.#extend(index, beginning.turn, known)
      }
      last = this.#keep(beginning.turn, folding())
    }
    await last
  }

  /** A call of a turn that was just folded; `undefined` = not cached. */
  callIn(turn: number, id: string): CallInTurn | undefined {
    const known = this.#kept.get(turn)?.value
    const call = known?.folded.findCall(id)
    const said = call === undefined ? undefined : known?.envelopes.find(({ source }) => source.id === id)
    if (call === undefined || said === undefined) return undefined
    return { source: said.source, tool: call.tool, request: call.request }
  }

  /** Requests for one turn run one after another, so that no envelope is folded twice. */
  get(index: TurnIndex, beginning: Beginning): Promise<Known> {
    const { turn } = beginning
    const before = this.#kept.get(turn)
    if (before?.value !== undefined && before.value.through >= index.seq) {
      this.#kept.delete(turn)
      this.#kept.set(turn, before)
      return before.known
    }
    const known = before?.known ?? this.#begin(beginning, new Map())
    return this.#keep(
      turn,
      known.then((each) => this.#extend(index, turn, each)),
    )
  }

  #keep(turn: number, known: Promise<Known>): Promise<Known> {
    const { value, weight = 0 } = this.#kept.get(turn) ?? {}
    const kept: Kept = { known, value, weight }
    this.#kept.delete(turn)
    this.#kept.set(turn, kept)
    known.then(
      (each) => {
        kept.value = each
        this.#weigh(turn, kept, each)
      },
      () => this.#forget(turn, kept),
    )
    return known
  }

  async #begin(beginning: Beginning, atHand: RowsBySeq): Promise<Known> {
    const { trigger: seq } = beginning
    const asked = seq === null ? undefined : (atHand.get(seq) ?? (await rowAt(this.#sources.log, seq)))
    const trigger = asked && this.#sources.parsed.get(asked)
    const folded = new FoldedTurn(beginning, this.#sources.options(), trigger)
    return {
      ...{ folded, trigger: trigger && getSource(trigger), envelopes: [], cached: [] },
      ...{ cachedSince: 0, bytes: asked?.body.length ?? 0, through: 0 },
    }
  }

  async #extend(index: TurnIndex, turn: number, known: Known): Promise<Known> {
    const { folded } = known
    for (;;) {
      const { seq: through } = index
      if (known.through >= through) return known
      const places = index.mayGoOn(turn, known.through) ? index.places(turn, folded.seq, 1000) : []
      if (places.length === 0) {
        known.through = through
        return known
      }
      for await (const rows of rowsAt(this.#sources.log, pickSeqs(places)))
        await this.#fold(known, places, new Map(rows.map((row) => [row.seq, row])))
      const last = places.at(-1)?.seq ?? 0
      // Skips pruned envelopes, so that they are not requested again.
      if (folded.seq < last) folded.seq = last
    }
  }

  /** Folds envelopes in memory. Returns `false` if `atHand` lacks a row that the log still has. */
  async #fold(known: Known, places: readonly TurnPlace[], atHand: RowsBySeq): Promise<boolean> {
    const { folded, envelopes, cached } = known
    for (const place of places) {
      if (place.seq <= folded.seq || place.seq < this.#sources.log.oldest) continue
      const row = atHand.get(place.seq)
      if (row === undefined) return false
      const envelope = this.#sources.parsed.get(row)
      if (folded.apply(envelope, place.roles)) cached.push(...createTurnEvents(folded))
      if (cached.length > maxCachedEvents) known.cachedSince = cached.shift()?.seq ?? 0
      const said = { source: getSource(envelope), ts: row.ts, context: contextIn(envelope) }
      envelopes.push(createTurnEnvelope(said, place, row.body.length))
      if (isKept(envelope.kind, place)) known.bytes += row.body.length
      await yieldIfBusy()
    }
    return true
  }

  #weigh(turn: number, kept: Kept, { envelopes, bytes }: Known): void {
    if (this.#kept.get(turn) !== kept) return
    const weight = envelopes.length * envelopeBytes + bytes
    this.#weight += weight - kept.weight
    kept.weight = weight
    for (const [oldest, each] of this.#kept) {
      if (this.#weight <= maxCachedBytes || each === kept) return
      this.#forget(oldest, each)
    }
  }

  #forget(turn: number, kept: Kept): void {
    if (this.#kept.get(turn) !== kept) return
    this.#kept.delete(turn)
    this.#weight -= kept.weight
  }

  /** Reads rows of these turns, up to the limits of one read. */
  async #readRows(placed: readonly Placed[], atHand: RowsBySeq): Promise<RowsBySeq> {
    const rows = new Map(atHand)
    const seqs = new Set(placed.flatMap(seqsOf))
    const missing = [...seqs].filter((seq) => !rows.has(seq)).sort((one, other) => one - other)
    let bytes = 0
    for await (const portion of rowsAt(this.#sources.log, missing)) {
      for (const row of portion) {
        rows.set(row.seq, row)
        bytes += row.body.length
      }
      if (bytes >= atOnce.bytes) break
    }
    return rows
  }
}

/**
 * Whether the body of an envelope stays in memory. Of a result only the size is kept, unless the result is the answer of the
 * turn.
 */
const isKept = (kind: string, { roles }: TurnPlace): boolean =>
  kind !== Kind.mcpResponse || (roles & Role.answer) !== 0

const pickSeqs = (places: readonly TurnPlace[]): number[] => places.map(({ seq }) => seq)
const pickTrigger = ({ trigger }: Beginning): number[] => (trigger === null ? [] : [trigger])

/** Seqs of the envelopes of a turn, and of the envelope that it answers (its trigger). */
export const seqsOf = ({ beginning, places }: Placed): number[] => [
  ...pickTrigger(beginning),
  ...pickSeqs(places),
]
