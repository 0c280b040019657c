const everyMs = 60_000
/** What has not come up for longest is forgotten past this many; it is then told anew. */
const remembered = 1000

/** For what may come up very often and is told once a minute. */
export class LogThrottle {
  readonly #told = new Map<string, { readonly at: number; untold: number }>()

  /** How often this has come up since it was told last, this time included; `undefined` = keep it for later. */
  due(what: string, now: number): number | undefined {
    const last = this.#told.get(what)
    if (last !== undefined && now >= last.at && now - last.at < everyMs) {
      last.untold++
      return undefined
    }
    this.#told.delete(what)
    this.#told.set(what, { at: now, untold: 0 })
    if (this.#told.size > remembered) this.#forgetFirst()
    return (last?.untold ?? 0) + 1
  }

  #forgetFirst(): void {
    for (const first of this.#told.keys()) {
      this.#told.delete(first)
      return
    }
  }
}
