/** The payload itself. */
export const ROOT = 0
const UNREAD = Symbol('unread')

/** Places that lists share; those beyond begin anew, so that lists which are gone let go of theirs. */
const mostShared = 4096

let shared: Places | undefined

/** Places for another list. */
export function placesForList(): Places {
  if (shared === undefined || shared.count > mostShared) shared = new Places()
  return shared
}

/**
 * The places in a payload that the patterns of lists look at. Each is read once per check, however many patterns look
 * at it: reading costs more than most comparisons. Checks do not overlap, so lists have them in common.
 */
export class Places {
  readonly #parents = [ROOT]
  readonly #keys = ['']
  readonly #below: Map<string, number>[] = [new Map()]
  readonly #values: unknown[] = [UNREAD]
  readonly #read: number[] = []

  get count(): number {
    return this.#keys.length
  }

  /** The place under `key` of the object at `parent`. */
  at(parent: number, key: string): number {
    const below = this.#below[parent] as Map<string, number>
    let place = below.get(key)
    if (place === undefined) {
      place = this.#keys.length
      below.set(key, place)
      this.#parents.push(parent)
      this.#keys.push(key)
      this.#below.push(new Map())
      this.#values.push(UNREAD)
    }
    return place
  }

  /** Looks at this payload until `leave`. */
  enter(payload: unknown): void {
    this.#values[ROOT] = payload
    this.#read.push(ROOT)
  }

  /** What is there; `undefined` where nothing is. Fields of arrays and inherited ones are nothing. */
  value(place: number): unknown {
    const known = this.#values[place]
    if (known !== UNREAD) return known
    const parent = this.value(this.#parents[place] as number)
    const key = this.#keys[place] as string
    const isOwn =
      typeof parent === 'object' && parent !== null && !Array.isArray(parent) && Object.hasOwn(parent, key)
    const value = isOwn ? (parent as Record<string, unknown>)[key] : undefined
    this.#values[place] = value
    this.#read.push(place)
    return value
  }

  /** Lets go of the payload. */
  leave(): void {
    for (let place = this.#read.pop(); place !== undefined; place = this.#read.pop()) {
      this.#values[place] = UNREAD
    }
  }
}
