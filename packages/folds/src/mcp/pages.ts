/** Iterates over the pages of an MCP list. */
export class Pages {
  readonly #cursors = new Set<string>()

  /** The request for the following page; `undefined` = last page. Stops at repeated or empty cursors, which some servers send. */
  next({ nextCursor }: { readonly nextCursor?: unknown }): { readonly cursor: string } | undefined {
    if (typeof nextCursor !== 'string' || nextCursor === '' || this.#cursors.has(nextCursor)) return undefined
    this.#cursors.add(nextCursor)
    return { cursor: nextCursor }
  }
}
