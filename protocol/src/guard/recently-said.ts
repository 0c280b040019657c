import { mostVoices } from './speech.js'

/** Gives the end of what is said when `text` follows on `before`: as much as a secret may need that goes on behind it. */
export type TailOf = (before: string, text: string) => string

/** The end of what was said in a run, as it was sent: by all together, and by each voice. */
export interface Said {
  readonly all: string
  /** A voice is one sender in one place, such as the messages of its thoughts. */
  readonly voices: ReadonlyMap<string, string>
}

const nothing: Said = { all: '', voices: new Map() }
/** Runs past this many are forgotten, those first in which nothing has been said for longest. */
const rememberedRuns = 1000

/**
 * What was said last in each run: a secret that is split over several texts is found where the last one completes it
 * [MEUP-6.2]. It is kept in memory alone.
 */
export class RecentlySaid {
  readonly #tailOf: TailOf
  readonly #runs = new Map<string, Said>()

  constructor(tailOf: TailOf) {
    this.#tailOf = tailOf
  }

  in(run: string): Said {
    return this.#runs.get(run) ?? nothing
  }

  /** `spoken`: all of it; `voices`: the part of each. */
  add(run: string, spoken: string, voices: ReadonlyMap<string, string>): void {
    const said = this.in(run)
    const kept = new Map(said.voices)
    const all = alone(this.#tailOf(said.all, spoken))
    for (const [voice, words] of voices) {
      const own = kept.get(voice) ?? ''
      // Nearly always one voice alone has spoken.
      const isAll = words === spoken && own === said.all
      renew(kept, voice, isAll ? all : alone(this.#tailOf(own, words)), mostVoices)
    }
    renew(this.#runs, run, { all, voices: kept }, rememberedRuns)
  }
}

/** A piece of a string would keep all of it in memory; a copy does not. */
const alone = (piece: string): string => JSON.parse(JSON.stringify(piece)) as string

/** Puts an entry last, and drops the first where there are more than `most`. */
function renew<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  for (const first of map.keys()) {
    map.delete(first)
    break
  }
}
