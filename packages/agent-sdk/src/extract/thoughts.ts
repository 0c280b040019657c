import { type Origin, places } from './origins.js'

interface Thought {
  text: string
  /** The part of the response that its end is from. */
  part: string | number
}

/** The reasoning of a response, by the places where it was found. */
export class Thoughts {
  readonly #byOrigin = new Map<Origin, Thought>()
  /** The best place that had something to say. */
  #rank = Number.POSITIVE_INFINITY

  get isEmpty(): boolean {
    return this.#byOrigin.size === 0
  }

  /** Parts are put a blank line apart. Gives what can be told at once: nothing of a place if there is a better one. */
  add(origin: Origin, text: string, part: string | number): string | undefined {
    const known = this.#byOrigin.get(origin)
    const more = known === undefined || known.part === part ? text : `\n\n${text}`
    if (known === undefined) this.#byOrigin.set(origin, { text, part })
    else {
      known.text += more
      known.part = part
    }
    const { rank } = places[origin]
    if (rank > this.#rank) return undefined
    if (text.trim() !== '') this.#rank = rank
    return more
  }

  /** What is in the tags is known for certain at the end alone. */
  settleTags(text: string): void {
    this.#byOrigin.set('tags', { text, part: 0 })
  }

  /** What is believed in the end: the first place that has something to say. */
  get best(): { readonly origin: Origin; readonly text: string } | undefined {
    return [...this.#byOrigin]
      .map(([origin, { text }]) => ({ origin, text }))
      .filter(({ text }) => text.trim() !== '')
      .sort((a, b) => places[a.origin].rank - places[b.origin].rank)[0]
  }
}
