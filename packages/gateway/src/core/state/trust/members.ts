/** Of those who are away the ones that were seen last are remembered. */
const remembered = 1000

/** Whom tokens of the operator's issuer have made participants: as good as configured, while they are remembered. */
export class Members {
  /** When the newest token of each was issued, in seconds since the epoch; whoever was seen last comes last. */
  readonly #issued = new Map<string, number>()

  has(id: string): boolean {
    return this.#issued.has(id)
  }

  issuedAt(id: string): number | undefined {
    return this.#issued.get(id)
  }

  list(): [id: string, issuedAt: number][] {
    return [...this.#issued]
  }

  see(id: string, issuedAt: number): void {
    this.#issued.delete(id)
    this.#issued.set(id, issuedAt)
  }

  end(id: string): void {
    this.#issued.delete(id)
  }

  /** Who has been away for so long that it is to be forgotten. */
  surplus(isPresent: (id: string) => boolean): string[] {
    if (this.#issued.size <= remembered) return []
    const away = [...this.#issued.keys()].filter((id) => !isPresent(id))
    return away.slice(0, Math.max(0, away.length - remembered))
  }
}
