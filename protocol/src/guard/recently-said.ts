/** Gives the end of what is said when `text` follows on `before`: as much as a secret may need that goes on behind it. */
export type TailOf = (before: string, text: string) => string

/** Runs past this many are forgotten, those first in which nothing has been said for longest. */
const rememberedRuns = 1000
/** The same for the voices in one run. */
const rememberedVoices = 16

/**
 * The end of what was said in each run, as it was sent: a secret that is split over several texts is found where the
 * last one completes it [MEUP-6.2]. It is kept in memory alone.
 */
export class RecentlySaid {
  readonly #tailOf: TailOf
  readonly #runs = new Map<string, Run>()

  constructor(tailOf: TailOf) {
    this.#tailOf = tailOf
  }

  /**
   * What a text of this voice may go on from: its own last words, and the last words of anyone, where they differ. A
   * voice is one sender in one place, such as the messages of its thoughts.
   */
  before(run: string, voice: string): string[] {
    const said = this.#runs.get(run)
    if (said === undefined) return []
    const own = said.voices.get(voice)
    return own === undefined || own === said.all ? [said.all] : [own, said.all]
  }

  add(run: string, voice: string, text: string): void {
    const { all, voices } = this.#runs.get(run) ?? { all: '', voices: new Map<string, string>() }
    const own = voices.get(voice) ?? ''
    const tail = alone(this.#tailOf(own, text))
    renew(voices, voice, tail, rememberedVoices)
    renew(
      this.#runs,
      run,
      { all: own === all ? tail : alone(this.#tailOf(all, text)), voices },
      rememberedRuns,
    )
  }
}

/** A piece of a string would keep all of it in memory; a copy does not. */
const alone = (piece: string): string => JSON.parse(JSON.stringify(piece)) as string

interface Run {
  readonly all: string
  readonly voices: Map<string, string>
}

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
