import { Unreadable } from './unreadable.js'

/** A value in a JSON document, with its path. Reading a missing member throws `Unreadable`, which says where. */
export class Json {
  readonly #document: string
  readonly #path: readonly (string | number)[]
  readonly #value: unknown

  private constructor(document: string, path: readonly (string | number)[], value: unknown) {
    this.#document = document
    this.#path = path
    this.#value = value
  }

  /** `document`: name of the document in errors, such as `the load report`. */
  static parse(document: string, text: string): Json {
    try {
      return new Json(document, [], JSON.parse(text))
    } catch (cause) {
      throw new Unreadable(`${document} is not JSON`, { cause })
    }
  }

  at(key: string): Json {
    const value = this.#value
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) throw this.#lacks(key)
    return new Json(this.#document, [...this.#path, key], (value as Record<string, unknown>)[key])
  }

  get items(): Json[] {
    if (!Array.isArray(this.#value)) throw this.#isNot('a list')
    return this.#value.map((item, index) => new Json(this.#document, [...this.#path, index], item))
  }

  get text(): string {
    if (typeof this.#value !== 'string') throw this.#isNot('text')
    return this.#value
  }

  get number(): number {
    if (typeof this.#value !== 'number') throw this.#isNot('a number')
    return this.#value
  }

  #lacks(key: string): Unreadable {
    return new Unreadable(`${this.#document} has no ${[...this.#path, key].join(' › ')}`)
  }

  #isNot(what: string): Unreadable {
    return new Unreadable(`in ${this.#document}, ${this.#path.join(' › ') || 'all of it'} is not ${what}`)
  }
}
