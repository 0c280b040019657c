import { type Beginning, getSource, type Source } from '@meup/folds'
import { breathe } from '../core/breathe.js'
import type { Space } from '../core/space.js'
import type { Entry } from '../ports/envelope-log.js'
import { rowsAt } from './rows-at.js'
import { type Said, saidOf, type TurnView } from './said.js'
import type { TurnIndex } from './turn-index.js'

/** Long turns that are kept, the latest that were asked for, and what was made of each for its readers. */
const most = { turns: 4, views: 16 }
const placesAtOnce = 4096

/** A turn of which only the headings are read. */
export interface LongTurn {
  readonly envelopes: readonly Said[]
  readonly trigger: Source | undefined
  /** What readers were shown of it, by who they are and what they asked. */
  readonly views: Map<string, TurnView>
}

/** Where what belongs to long turns was said. */
export class LongTurns {
  readonly #space: Pick<Space, 'log'>
  readonly #kept = new Map<number, Promise<LongTurn>>()

  constructor(space: Pick<Space, 'log'>) {
    this.#space = space
  }

  has(turn: number): boolean {
    return this.#kept.has(turn)
  }

  /** One after another for each turn: nothing of it is read twice. */
  get(index: TurnIndex, beginning: Beginning): Promise<LongTurn> {
    const { turn } = beginning
    const before = this.#kept.get(turn) ?? this.#begun(beginning)
    const known = before.then((each) => this.#goneOn(index, turn, each))
    this.#kept.delete(turn)
    this.#kept.set(turn, known)
    for (const oldest of this.#kept.keys()) if (this.#kept.size > most.turns) this.#kept.delete(oldest)
    known.catch(() => {
      if (this.#kept.get(turn) === known) this.#kept.delete(turn)
    })
    return known
  }

  clear(): void {
    this.#kept.clear()
  }

  async #begun({ trigger }: Beginning): Promise<LongTurn> {
    const long = { envelopes: [], trigger: undefined, views: new Map() }
    if (trigger === null) return long
    for await (const [row] of rowsAt(this.#space.log, [trigger], 'headings'))
      if (row !== undefined) return { ...long, trigger: sourceIn(row) }
    return long
  }

  async #goneOn(index: TurnIndex, turn: number, long: LongTurn): Promise<LongTurn> {
    const envelopes: Said[] = []
    for (let after = long.envelopes.at(-1)?.source.seq ?? 0; ; ) {
      const places = index.places(turn, after, placesAtOnce)
      if (places.length === 0) break
      const bySeq = new Map(places.map((place) => [place.seq, place]))
      for await (const rows of rowsAt(this.#space.log, [...bySeq.keys()], 'headings')) {
        for (const row of rows) {
          const place = bySeq.get(row.seq)
          if (place !== undefined)
            envelopes.push(saidOf({ source: sourceIn(row), ts: row.ts, context: row.context }, place, 0))
        }
        await breathe()
      }
      after = places.at(-1)?.seq ?? after
    }
    if (envelopes.length === 0) return long
    return { ...long, envelopes: long.envelopes.concat(envelopes), views: new Map() }
  }
}

/** Keeps what was made of a long turn: the latest alone. */
export function keepView({ views }: LongTurn, key: string, view: TurnView): void {
  views.set(key, view)
  for (const oldest of views.keys()) if (views.size > most.views) views.delete(oldest)
}

const sourceIn = ({ id, seq, from, kind, to, context, correlationId }: Entry): Source =>
  getSource({ id, seq, from, kind, to, context, correlationId } as Parameters<typeof getSource>[0])
