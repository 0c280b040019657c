/** The pages of a list, as MCP gives it. */
export class Pages {
  readonly #cursors = new Set<string>()

  /** Asks for the page after this one. `undefined`: it is the last; some servers name the same page for ever, or an empty one. */
  next({ nextCursor }: { readonly nextCursor?: unknown }): { readonly cursor: string } | undefined {
    if (typeof nextCursor !== 'string' || nextCursor === '' || this.#cursors.has(nextCursor)) return undefined
    this.#cursors.add(nextCursor)
    return { cursor: nextCursor }
  }
}
