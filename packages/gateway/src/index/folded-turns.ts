import type { Envelope } from '@meup/protocol'
import {
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
import type { TurnIndex } from './turn-index.js'

/** Envelopes that are kept of folded turns, so that a turn which goes on is not folded from its beginning again. */
const mostKept = 50_000
/** Events of a turn that are kept: each tells of all before it. */
const mostTold = 16
/** A turn with more envelopes tells its state by those that open and close something. */
const longTurn = 2000
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

/** An envelope of a turn. */
export interface Said {
  readonly source: Source
  readonly ts: string
  readonly roles: number
  readonly steps: number
}

/** A turn that was folded whole, as far as the index goes. */
interface Known {
  readonly folded: FoldedTurn
  readonly trigger: Source | undefined
  readonly envelopes: Said[]
  /** The latest of what was told of it: all after `toldSince`. */
  readonly told: TurnEvent[]
  toldSince: number
}

/**
 * Turns, folded from their own envelopes when somebody asks [MEUP-10.5]. Who may not read all of them is shown the turn of a log
 * that has no others [MEUP-8.6].
 */
export class FoldedTurns {
  readonly #space: Space
  readonly #known = new Map<number, Promise<Known>>()
  #kept = 0
  #epochOfRules: unknown

  constructor(space: Space) {
    this.#space = space
  }

  /** `undefined` where the reader may read nothing of it. */
  async view(index: TurnIndex, beginning: Beginning, reader: Reader): Promise<TurnView | undefined> {
    const { folded, trigger, envelopes } = await this.#knownOf(index, beginning)
    const isTruncated = this.#isTruncated(beginning)
    const seen = envelopes.filter(({ source }) => this.#mayRead(reader, source))
    const isAsked = trigger === undefined || this.#mayRead(reader, trigger)
    if (seen.length === envelopes.length && isAsked) {
      return { beginning, record: folded.record, isTruncated, envelopes, withheld: [] }
    }
    if (seen.every(({ roles }) => roles === Role.hear)) return undefined
    const record = await this.#foldOf(beginning, isAsked ? trigger : undefined, seen)
    const withheld = envelopes.filter((each) => !seen.includes(each))
    return { beginning, record, isTruncated, envelopes: seen, withheld }
  }

  /** The state of a turn, for who may read some of it. */
  async stateOf(index: TurnIndex, beginning: Beginning, reader: Reader): Promise<TurnView | undefined> {
    const { turn } = beginning
    if (this.#known.has(turn) || index.count(turn) <= longTurn) return this.view(index, beginning, reader)
    const folded = new FoldedTurn(beginning, this.#options)
    const places = index.places(turn, 0, Number.MAX_SAFE_INTEGER, deciding)
    const rolesAt = new Map(places.map(({ seq, roles }) => [seq, roles]))
    for await (const row of this.#rows(places.map(({ seq }) => seq))) {
      if (this.#mayRead(reader, row)) folded.apply(envelopeOf(row), rolesAt.get(row.seq) ?? 0)
    }
    return {
      beginning,
      record: folded.record,
      isTruncated: this.#isTruncated(beginning),
      envelopes: [],
      withheld: [],
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
    for (const reader of readers) {
      const kind = kindOf(reader, audiences)
      if (events.has(kind)) continue
      const isAll = !kind.includes(unread) && known.toldSince <= after
      const seen = envelopes.filter(({ source }) => this.#mayRead(reader, source))
      const told = isAll
        ? known.told.filter(({ seq }) => seq > after && seq <= through)
        : await this.#eventsOf(beginning, seen, after)
      events.set(kind, told)
    }
    return { audiences, events }
  }

  async #eventsOf(beginning: Beginning, seen: readonly Said[], after: number): Promise<TurnEvent[]> {
    const told: TurnEvent[] = []
    await this.#foldOf(beginning, undefined, seen, (folded) => {
      if (folded.seq > after) told.push(...eventOf(folded))
    })
    return told
  }

  /** Folds some envelopes of a turn. `ended`: called as a batch of calls has ended. */
  async #foldOf(
    beginning: Beginning,
    trigger: Source | undefined,
    envelopes: readonly Said[],
    ended: (folded: FoldedTurn) => void = () => {},
  ): Promise<TurnRecord> {
    const [first] = envelopes
    const startedAt = first?.source.seq === beginning.seq ? beginning.startedAt : (first?.ts ?? '')
    const asked = trigger && (await this.#envelopeAt(trigger.seq))
    const folded = new FoldedTurn({ ...beginning, startedAt }, this.#options, asked)
    const rolesAt = new Map(envelopes.map(({ source, roles }) => [source.seq, roles]))
    for await (const row of this.#rows([...rolesAt.keys()])) {
      if (folded.apply(envelopeOf(row), rolesAt.get(row.seq) ?? 0)) ended(folded)
    }
    return folded.record
  }

  /** One after another for each turn: what it goes on with must not be told twice. */
  #knownOf(index: TurnIndex, beginning: Beginning): Promise<Known> {
    this.#forgetOldRules()
    const { turn } = beginning
    const before = this.#known.get(turn)
    const known =
      before === undefined
        ? this.#begun(index, beginning)
        : before.then((each) => this.#goneOn(index, turn, each))
    this.#known.delete(turn)
    this.#known.set(turn, known)
    known.catch(() => this.#known.delete(turn))
    return known
  }

  async #begun(index: TurnIndex, beginning: Beginning): Promise<Known> {
    const asked = beginning.trigger === null ? undefined : await this.#envelopeAt(beginning.trigger)
    const folded = new FoldedTurn(beginning, this.#options, asked)
    const known: Known = { folded, trigger: asked && sourceOf(asked), envelopes: [], told: [], toldSince: 0 }
    await this.#goneOn(index, beginning.turn, known)
    this.#shrink()
    return known
  }

  async #goneOn(index: TurnIndex, turn: number, known: Known): Promise<Known> {
    const { folded, envelopes, told } = known
    for (;;) {
      const places = index.places(turn, folded.seq, 1000)
      if (places.length === 0) return known
      const bySeq = new Map(places.map((place) => [place.seq, place]))
      for await (const row of this.#rows([...bySeq.keys()])) {
        const { roles = 0, steps = 0 } = bySeq.get(row.seq) ?? {}
        const envelope = envelopeOf(row)
        if (folded.apply(envelope, roles)) told.push(...eventOf(folded))
        if (told.length > mostTold) known.toldSince = told.shift()?.seq ?? 0
        envelopes.push({ source: sourceOf(envelope), ts: row.ts, roles, steps })
        this.#kept++
      }
      const last = places.at(-1)?.seq ?? 0
      // What the log has no more is not told, and not asked for again.
      if (folded.seq < last) folded.seq = last
    }
  }

  #shrink(): void {
    for (const [turn, oldest] of this.#known) {
      if (this.#kept <= mostKept || this.#known.size <= 1) return
      this.#known.delete(turn)
      void oldest.then(({ envelopes }) => {
        this.#kept -= envelopes.length
      })
    }
  }

  /** Other rules may show other texts: what was folded by the old ones is folded again. */
  #forgetOldRules(): void {
    const { safety } = this.#space.config
    if (safety === this.#epochOfRules) return
    this.#epochOfRules = safety
    this.#known.clear()
    this.#kept = 0
  }

  async #envelopeAt(seq: number): Promise<Envelope | undefined> {
    for await (const row of this.#rows([seq])) return envelopeOf(row)
    return undefined
  }

  #rows(seqs: readonly number[]): AsyncGenerator<Row, void> {
    return rowsAt(this.#space.log, seqs)
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
}

const unread = '0'

/** Readers who may read the same of some envelopes are of one kind. */
export const kindOf = (reader: Reader, audiences: TurnEvents['audiences']): string =>
  audiences.map((audience) => (mayRead(reader, audience) ? '1' : unread)).join('')

/** What is told of a turn in which a batch has just ended. */
function eventOf({ record, seq }: FoldedTurn): TurnEvent[] {
  const event = reasoningEvent(record)
  return event === undefined ? [] : [{ seq, event, said: toldDecisions(record).map(({ source }) => source) }]
}
