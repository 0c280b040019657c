import type { ListName } from './changes.js'

type GivenList = ListName | 'resourceTemplates'

/** Minimum milliseconds between two notifications about the same list. */
const changeMs = 1000
/** Milliseconds to wait before a list that may have changed is read again. */
const settleMs = 100

interface ListChangesOptions {
  /** Reads a list again, and passes it to `give`, which stores it for the next comparison. */
  readonly read: (list: ListName) => Promise<unknown>
  /** Called when a list for clients has changed. */
  readonly onChange: (list: ListName) => void
  readonly onError: (list: ListName, error: unknown) => void
}

/** Compares lists that may have changed with those that were last returned to clients. */
export class ListChanges {
  readonly #options: ListChangesOptions
  /** The JSON of each list as it was last returned to clients, by the kind of list. */
  readonly #given = new Map<GivenList, string>()
  readonly #checking = new Set<ListName>()
  /** Time by `performance.now` at which each list was last checked for changes. */
  readonly #checked = new Map<ListName, number>()

  constructor(options: ListChangesOptions) {
    this.#options = options
  }

  /** Keeps a list that is returned to clients. */
  give<Definition>(list: GivenList, definitions: Definition[]): Definition[] {
    this.#given.set(list, JSON.stringify(definitions))
    return definitions
  }

  /** Notifies clients if a list has changed; at most once per `changeMs`, because each client may then send many requests. */
  check(list: ListName): void {
    const before = this.#read(list)
    if (this.#checking.has(list) || before.every((each) => each === undefined)) return
    this.#checking.add(list)
    const next = (this.#checked.get(list) ?? Number.NEGATIVE_INFINITY) + changeMs
    const wait = Math.max(settleMs, next - performance.now())
    setTimeout(() => {
      this.#checking.delete(list)
      this.#checked.set(list, performance.now())
      this.#compare(list, before).catch((error: unknown) => this.#options.onError(list, error))
    }, wait).unref()
  }

  async #compare(list: ListName, before: readonly (string | undefined)[]): Promise<void> {
    await this.#options.read(list)
    if (this.#read(list).some((each, at) => before[at] !== undefined && each !== before[at]))
      this.#options.onChange(list)
  }

  #read(list: ListName): (string | undefined)[] {
    const templates = list === 'resources' ? [this.#given.get('resourceTemplates')] : []
    return [this.#given.get(list), ...templates]
  }
}
