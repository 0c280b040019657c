import { contextRoot, correlations, type Envelope, Kind } from '@meup/protocol'
import {
  attemptOf,
  type Beginning,
  FoldedTurn,
  type Guard,
  type JobReasoning,
  type ReasoningUpdate,
  Role,
  reasoningEvent,
  type Source,
  sourceOf,
  type TurnRecord,
  toldDecisions,
} from '@meup/views'
import type { Row } from '../ports/envelope-log.js'
import { type Audience, mayRead, type Reader } from '../space/may-read.js'
import { envelopeOf } from '../space/replay.js'
import type { Space } from '../space/space.js'
import { rowsAt } from './rows-at.js'
import type { Place, TurnIndex } from './turn-index.js'

/** Bytes that are kept of folded turns, so that a turn which goes on is not folded from its beginning again. */
const mostKept = 64 * 1024 * 1024
/** What an envelope takes beside its body. */
const envelopeBytes = 512
/** Events of a turn that are kept: each tells of all before it. */
const mostTold = 16
/** A turn with more envelopes tells its state by those that open and close something. */
const longTurn = 2000
const mostLong = 4
const deciding = Role.begin | Role.open | Role.close | Role.answer | Role.takeBack | Role.free

/** What a batch of calls came to, when it had ended. */
export interface TurnEvent {
  readonly seq: number
  readonly event: ReasoningUpdate | JobReasoning
  /** Where the calls that it tells of were made. */
  readonly said: readonly Source[]
}

/** A turn as one reader may see it. */
export interface TurnView {
  readonly beginning: Beginning
  readonly record: TurnRecord
  /** Whether its first envelopes have been pruned. */
  readonly isTruncated: boolean
  /** Envelopes that it was made of, and others of the turn, which the reader may not read. */
  readonly envelopes: readonly Said[]
  readonly withheld: readonly Said[]
}

/** What a look at a turn took, and what the reader sees: `undefined` where it may read nothing of it. */
export interface Look {
  readonly view: TurnView | undefined
  /** Envelopes that were looked at, and bytes of their bodies. */
  readonly envelopes: number
  readonly bytes: number
}

/** An envelope of a turn. */
export interface Said {
  readonly source: Source
  readonly ts: string
  readonly roles: number
  readonly steps: number
  /** Root of the path that it is in. */
  readonly path: string | undefined
}

/** What one reader may read of a turn, and what not. */
interface Share {
  readonly seen: readonly Said[]
  readonly withheld: readonly Said[]
  readonly isAll: boolean
}

/** A turn that was folded whole, as far as the index goes. */
interface Known {
  readonly folded: FoldedTurn
  readonly trigger: Source | undefined
  readonly envelopes: Said[]
  /** Of the trigger and the envelopes. */
  bytes: number
  /** The latest of what was told of it: all after `toldSince`. */
  readonly told: TurnEvent[]
  toldSince: number
}

interface Kept {
  readonly known: Promise<Known>
  weight: number
}

/**
 * Turns, folded from their own envelopes when somebody asks [MEUP-10.5]. Who may not read all of them is shown the turn of a log
 * that has no others [MEUP-8.6].
 */
export class FoldedTurns {
  readonly #space: Space
  /** By turn, the one that was asked for last at the end. */
  readonly #kept = new Map<number, Kept>()
  #weight = 0
  /** Of long turns, the latest that were asked for. */
  readonly #long = new Map<number, Said[]>()
  #rules: unknown
  #oldest = 0

  constructor(space: Space) {
    this.#space = space
  }

  async look(index: TurnIndex, beginning: Beginning, reader: Reader): Promise<Look> {
    const known = await this.#knownOf(index, beginning)
    const { envelopes, bytes } = known
    return { view: await this.#viewOf(known, beginning, reader), envelopes: envelopes.length, bytes }
  }

  async #viewOf(
    { folded, trigger, envelopes }: Known,
    beginning: Beginning,
    reader: Reader,
  ): Promise<TurnView | undefined> {
    const isTruncated = this.#isTruncated(beginning)
    if (envelopes.length === 0) return undefined // All of it has been pruned.
    const share = this.#shareOf(envelopes, beginning, reader)
    const isAsked = trigger === undefined || this.#mayRead(reader, trigger)
    if (share.isAll && isAsked) {
      return { beginning, record: folded.record, isTruncated, envelopes, withheld: [] }
    }
    if (share.seen.length === 0) return undefined
    const record = await this.#foldOf(beginning, isAsked ? trigger : undefined, share)
    return { beginning, record, isTruncated, envelopes: share.seen, withheld: share.withheld }
  }

  /** The state of a turn, as `look` tells it; its texts may be missing. */
  async stateOf(index: TurnIndex, beginning: Beginning, reader: Reader): Promise<TurnView | undefined> {
    const { turn } = beginning
    if (this.#kept.has(turn) || index.count(turn) <= longTurn) {
      const { view } = await this.look(index, beginning, reader)
      return view
    }
    const envelopes = await this.#saidIn(index, turn)
    const { seen, withheld, isAll } = this.#shareOf(envelopes, beginning, reader)
    if (seen.length === 0) return undefined
    const few = seen.filter(({ roles }) => (roles & deciding) !== 0)
    const [first] = seen
    const share = { seen: first === undefined || few[0] === first ? few : [first, ...few], withheld, isAll }
    const record = await this.#foldOf(beginning, undefined, share)
    return { beginning, record, isTruncated: this.#isTruncated(beginning), envelopes: seen, withheld }
  }

  /** Where what belongs to a turn was said. */
  async #saidIn(index: TurnIndex, turn: number): Promise<readonly Said[]> {
    this.#forgetOldTimes()
    const said = this.#long.get(turn) ?? []
    this.#long.delete(turn)
    this.#long.set(turn, said)
    for (const oldest of this.#long.keys()) if (this.#long.size > mostLong) this.#long.delete(oldest)
    for (;;) {
      const places = index.places(turn, said.at(-1)?.source.seq ?? 0, 1000)
      const read: Said[] = []
      for await (const { row, place } of this.#rowsOf(places)) read.push(saidOf(envelopeOf(row), place))
      if (read.length === 0) return said
      // Another who asked may have been faster.
      const last = said.at(-1)?.source.seq ?? 0
      said.push(...read.filter(({ source }) => source.seq > last))
    }
  }

  /**
   * What was told of a turn after `after`, and not after `through`: for each kind of reader among these once. Gives what they
   * are told by.
   */
  async events(
    index: TurnIndex,
    beginning: Beginning,
    { after, through }: { readonly after: number; readonly through: number },
    readers: readonly Reader[],
  ): Promise<TurnEvents> {
    const known = await this.#knownOf(index, beginning)
    const envelopes = known.envelopes.filter(({ source }) => source.seq <= through)
    const audiences = envelopes.flatMap(({ source }) => this.#space.audienceOf(source) ?? [])
    const events = new Map<string, readonly TurnEvent[]>()
    let folded = 0
    for (const reader of readers) {
      const kind = kindOf(reader, audiences)
      if (events.has(kind)) continue
      const isAll = !kind.includes(unread) && known.toldSince <= after
      const share = this.#shareOf(envelopes, beginning, reader)
      const told = isAll
        ? known.told.filter(({ seq }) => seq > after && seq <= through)
        : await this.#eventsOf(beginning, share, after)
      events.set(kind, told)
      if (!isAll) folded += share.seen.length
    }
    return { audiences, events, folded }
  }

  async #eventsOf(beginning: Beginning, share: Share, after: number): Promise<TurnEvent[]> {
    const told: TurnEvent[] = []
    await this.#foldOf(beginning, undefined, share, (folded) => {
      if (folded.seq > after) told.push(...eventOf(folded))
    })
    return told
  }

  /** What a reader may read of a turn: all from where it would begin without the rest. */
  #shareOf(envelopes: readonly Said[], { agent }: Beginning, reader: Reader): Share {
    const seen = envelopes.filter(({ source }) => this.#mayRead(reader, source))
    if (seen.length === envelopes.length) return { seen, withheld: [], isAll: true }
    const first = seen.findIndex(mayBegin)
    const share = first === -1 ? [] : seen.slice(first)
    const kept = new Set(share)
    const withheld = envelopes.filter((each) => !kept.has(each))
    const ids = new Set(withheld.map(({ source }) => source.id))
    // Of an answer to several calls only a part may be told.
    const parts = share.flatMap((each): Said[] => {
      if (!(each.roles & Role.home)) return []
      return [{ ...each, roles: 0, steps: correlations(each.source).filter((id) => ids.has(id)).length }]
    })
    return { seen: takingUp(share, withheld, agent), withheld: [...withheld, ...parts], isAll: false }
  }

  /**
   * Folds some envelopes of a turn. Its proposals expire by the time of the log: what they expire at, or are fulfilled by, may
   * not be among them. `ended`: called as a batch of calls has ended.
   */
  async #foldOf(
    beginning: Beginning,
    trigger: Source | undefined,
    { seen }: Share,
    ended: (folded: FoldedTurn) => void = () => {},
  ): Promise<TurnRecord> {
    const asked = trigger && (await this.#rowAt(trigger.seq))
    const folded = new FoldedTurn(this.#asBegun(beginning, seen), this.#options, asked && envelopeOf(asked))
    const places = seen.map(({ source: { seq }, roles, steps }) => ({ seq, roles, steps }))
    for await (const { row, place } of this.#rowsOf(places)) {
      if (!(place.roles & Role.expire)) folded.expire(row.ts)
      if (folded.apply(envelopeOf(row), place.roles)) ended(folded)
    }
    folded.expire(await this.#now())
    return folded.record
  }

  /** How it begins for who may read these alone. What it began with may be pruned: then it is told all the same. */
  #asBegun(beginning: Beginning, [first]: readonly Said[]): Beginning {
    if (first === undefined || first.source.seq === beginning.seq || this.#isTruncated(beginning))
      return beginning
    const jobId = beginning.jobId === null ? null : first.source.id
    return { ...beginning, jobId, startedAt: first.ts }
  }

  /** One after another for each turn: what it goes on with must not be told twice. */
  #knownOf(index: TurnIndex, beginning: Beginning): Promise<Known> {
    this.#forgetOldTimes()
    const { turn } = beginning
    const before = this.#kept.get(turn)
    const known =
      before === undefined
        ? this.#begun(index, beginning)
        : before.known.then((each) => this.#goneOn(index, turn, each))
    const kept: Kept = { known, weight: before?.weight ?? 0 }
    this.#kept.delete(turn)
    this.#kept.set(turn, kept)
    known.then(
      (each) => this.#weigh(turn, kept, each),
      () => this.#forget(turn, kept),
    )
    return known
  }

  async #begun(index: TurnIndex, beginning: Beginning): Promise<Known> {
    const asked = beginning.trigger === null ? undefined : await this.#rowAt(beginning.trigger)
    const trigger = asked && envelopeOf(asked)
    const folded = new FoldedTurn(beginning, this.#options, trigger)
    const known: Known = {
      ...{ folded, trigger: trigger && sourceOf(trigger), envelopes: [], told: [] },
      ...{ toldSince: 0, bytes: asked?.body.length ?? 0 },
    }
    return this.#goneOn(index, beginning.turn, known)
  }

  async #goneOn(index: TurnIndex, turn: number, known: Known): Promise<Known> {
    const { folded, envelopes, told } = known
    for (;;) {
      const places = index.places(turn, folded.seq, 1000)
      if (places.length === 0) return known
      for await (const { row, place } of this.#rowsOf(places)) {
        const envelope = envelopeOf(row)
        if (folded.apply(envelope, place.roles)) told.push(...eventOf(folded))
        if (told.length > mostTold) known.toldSince = told.shift()?.seq ?? 0
        envelopes.push(saidOf(envelope, place))
        known.bytes += row.body.length
      }
      const last = places.at(-1)?.seq ?? 0
      // What the log has no more is not told, and not asked for again.
      if (folded.seq < last) folded.seq = last
    }
  }

  #weigh(turn: number, kept: Kept, { envelopes, bytes }: Known): void {
    if (this.#kept.get(turn) !== kept) return
    const weight = envelopes.length * envelopeBytes + bytes
    this.#weight += weight - kept.weight
    kept.weight = weight
    for (const [oldest, each] of this.#kept) {
      if (this.#weight <= mostKept || each === kept) return
      this.#forget(oldest, each)
    }
  }

  #forget(turn: number, kept: Kept): void {
    if (this.#kept.get(turn) !== kept) return
    this.#kept.delete(turn)
    this.#weight -= kept.weight
  }

  /** Other rules may show other texts, and of what was pruned nothing is shown: it is folded again. */
  #forgetOldTimes(): void {
    const { config, log } = this.#space
    if (config.safety === this.#rules && log.oldest === this.#oldest) return
    this.#rules = config.safety
    this.#oldest = log.oldest
    this.#kept.clear()
    this.#long.clear()
    this.#weight = 0
  }

  async #rowAt(seq: number): Promise<Row | undefined> {
    for await (const row of rowsAt(this.#space.log, [seq])) return row
    return undefined
  }

  async #now(): Promise<string> {
    const { log, delivered } = this.#space
    const [row] = await log.read({ after: delivered - 1, before: delivered + 1, limit: 1 })
    return row?.ts ?? ''
  }

  async *#rowsOf(
    places: readonly Place[],
  ): AsyncGenerator<{ readonly row: Row; readonly place: Place }, void> {
    const bySeq = new Map(places.map((place) => [place.seq, place]))
    for await (const row of rowsAt(this.#space.log, [...bySeq.keys()])) {
      const place = bySeq.get(row.seq)
      if (place !== undefined) yield { row, place }
    }
  }

  #isTruncated({ seq }: Beginning): boolean {
    return seq < this.#space.log.oldest
  }

  #mayRead(reader: Reader, said: Parameters<Space['audienceOf']>[0]): boolean {
    return mayRead(reader, this.#space.audienceOf(said))
  }

  get #options(): { space: string; epoch: string; guard: Guard } {
    const { config, log, safety } = this.#space
    return { space: config.name, epoch: log.epoch, guard: (text) => safety.guard(text) }
  }
}

/** Events of a turn, by the kinds of readers that there are. */
export interface TurnEvents {
  readonly audiences: readonly NonNullable<Audience>[]
  readonly events: ReadonlyMap<string, readonly TurnEvent[]>
  /** Envelopes that were folded anew for those who may not read all of them. */
  readonly folded: number
}

const unread = '0'

/** Readers who may read the same of some envelopes are of one kind. */
export const kindOf = (reader: Reader, audiences: TurnEvents['audiences']): string =>
  audiences.map((audience) => (mayRead(reader, audience) ? '1' : unread)).join('')

function saidOf(envelope: Envelope, { roles, steps }: Place): Said {
  const { context } = (envelope.kind === Kind.systemDecision && attemptOf(envelope)) || envelope
  const path = context === undefined ? undefined : contextRoot(context)
  return { source: sourceOf(envelope), ts: envelope.ts, roles, steps, path }
}

/**
 * Where the turn takes up a free path with what the reader may not read, it does so, for that reader, with what comes next in
 * that path.
 */
function takingUp(seen: readonly Said[], withheld: readonly Said[], agent: string): readonly Said[] {
  const paths = new Set(withheld.flatMap(({ roles, path }) => (roles & Role.free && path) || []))
  if (paths.size === 0) return seen
  return seen.map((said) => {
    const { source, roles, path = '' } = said
    const isOwn = source.from === agent || source.kind === Kind.systemDecision
    const isWork = (roles & (Role.turn | Role.call)) !== 0 && !closings.has(source.kind)
    return isOwn && isWork && paths.delete(path) ? { ...said, roles: roles | Role.free } : said
  })
}

const beginnings = Role.begin | Role.turn | Role.open | Role.call | Role.answer
const closings: ReadonlySet<string> = new Set([Kind.reasoningConclusion, Kind.reasoningCancel])

/** Whether a turn may begin with this: not with what only ends something in it. */
const mayBegin = ({ source, roles }: Said): boolean =>
  (roles & beginnings) !== 0 && !closings.has(source.kind)

/** What is told of a turn in which a batch has just ended. */
function eventOf({ record, seq }: FoldedTurn): TurnEvent[] {
  const event = reasoningEvent(record)
  return event === undefined ? [] : [{ seq, event, said: toldDecisions(record).map(({ source }) => source) }]
}
