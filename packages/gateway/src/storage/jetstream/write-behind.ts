import { contextRoot } from '@meup/protocol'
import type { Row } from '../../ports/envelope-log.js'

/** So long rows are gathered before they are stored, unless somebody waits for them [milliseconds]. */
const gatherMs = 20
/** Of so many rows, or bytes of their bodies, no more are gathered. */
const [mostRows, mostBytes] = [1000, 1024 * 1024]

/**
 * Rows that the stream has and the file of the replica does not have yet: they are stored a little later, many with one
 * commit. What was acknowledged is in the stream, so nothing is lost with them; whoever reads the file waits for `stored`.
 */
export class WriteBehind {
  readonly #store: (rows: readonly Row[]) => Promise<void>
  readonly #byId = new Map<string, Row>()
  #rows: Row[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  /** One after another; once one has failed, all that follow it do. */
  #storing: Promise<void> = Promise.resolve()
  #failure: { readonly reason: unknown } | undefined

  constructor(store: (rows: readonly Row[]) => Promise<void>) {
    this.#store = store
  }

  /** Called when rows could not be stored: nothing more is taken before `forget`. */
  onFailure: () => void = () => {}

  /** Resolves at once where the file keeps up; rejects where something before could not be stored. */
  async add(rows: readonly Row[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.reason
    for (const row of rows) {
      this.#rows.push(row)
      this.#byId.set(row.id, row)
      this.#bytes += row.body.length
    }
    this.#timer ??= setTimeout(() => this.#begin(), gatherMs)
    if (this.#rows.length < mostRows && this.#bytes < mostBytes) return
    const before = this.#storing
    this.#begin()
    await before
  }

  find(id: string): Row | undefined {
    return this.#byId.get(id)
  }

  hasContext(root: string): boolean {
    for (const { context } of this.#byId.values()) {
      if (context !== undefined && contextRoot(context) === root) return true
    }
    return false
  }

  /** Resolves when the file has all that was added so far; rejects where it cannot take that. */
  async stored(): Promise<void> {
    if (this.#rows.length > 0) this.#begin()
    await this.#storing
  }

  /** What was not stored is read from the stream again. */
  forget(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#rows = []
    this.#bytes = 0
    this.#byId.clear()
    this.#storing = Promise.resolve()
    this.#failure = undefined
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = this.#rows
    this.#rows = []
    this.#bytes = 0
    this.#storing = this.#storing.then(async () => {
      await this.#store(rows)
      for (const row of rows) if (this.#byId.get(row.id) === row) this.#byId.delete(row.id)
    })
    this.#storing.catch((reason: unknown) => {
      if (this.#failure !== undefined) return
      this.#failure = { reason }
      this.onFailure()
    })
  }
}
