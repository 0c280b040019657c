import { Oldest } from '@meup/views'

/** The ids of one participant. */
interface Own {
  readonly ids: Set<string>
  readonly oldest: Oldest<string>
}

/**
 * What participants have begun, by id, the oldest first. Past `most` of them the oldest of whoever has most is forgotten: so
 * nobody has what others have begun forgotten by beginning a lot.
 */
export class Begun<Value> {
  readonly #all = new Map<string, Value>()
  readonly #own = new Map<string, Own>()
  readonly #most: number
  readonly #ownerOf: (value: Value) => string

  constructor(most: number, ownerOf: (value: Value) => string) {
    this.#most = most
    this.#ownerOf = ownerOf
  }

  get(id: string): Value | undefined {
    return this.#all.get(id)
  }

  set(id: string, value: Value): void {
    const owner = this.#ownerOf(value)
    let own = this.#own.get(owner)
    if (own === undefined) {
      const ids = new Set<string>()
      own = { ids, oldest: new Oldest(ids) }
      this.#own.set(owner, own)
    }
    own.ids.add(id)
    this.#all.set(id, value)
    while (this.#all.size > this.#most) this.delete(this.#richest()?.oldest.next() ?? id)
  }

  delete(id: string): void {
    const value = this.#all.get(id)
    if (value === undefined) return
    this.#all.delete(id)
    const owner = this.#ownerOf(value)
    const own = this.#own.get(owner)
    if (own?.ids.delete(id) && own.ids.size === 0) this.#own.delete(owner)
  }

  ids(): string[] {
    return [...this.#all.keys()]
  }

  entries(): Iterable<[id: string, value: Value]> {
    return this.#all
  }

  /** Of equals the first by name: in whichever order they have come, the same is forgotten. */
  #richest(): Own | undefined {
    let [name, richest]: [string, Own | undefined] = ['', undefined]
    for (const [owner, own] of this.#own) {
      const more = own.ids.size - (richest?.ids.size ?? 0)
      if (more > 0 || (more === 0 && owner < name)) [name, richest] = [owner, own]
    }
    return richest
  }
}
