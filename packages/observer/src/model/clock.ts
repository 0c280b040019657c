/** Envelopes by which the clocks are compared. */
const most = 32

/** What the gateway's clock says. Envelopes take a moment to come, so that the one that came fastest tells best. */
export class GatewayClock {
  /** Milliseconds that the gateway's clock was ahead of this one, at least. */
  #ahead: number[] = []

  /**
   * `said`, by the gateway's clock, came at `now` by that of this machine, both in milliseconds since 1970. A clock that was
   * set is believed after a while.
   */
  hear(said: number, now: number): void {
    const ahead = said - now
    if (Number.isFinite(ahead)) this.#ahead = [...this.#ahead.slice(1 - most), ahead]
  }

  /** What it says at `now`; where nothing is known, the clock of this machine. */
  at(now: number): number {
    return this.#ahead.length === 0 ? now : now + Math.max(...this.#ahead)
  }
}
