/** Whoever knows what time it is in the space. */
export interface Timed {
  /** Milliseconds since 1970 by the gateway's clock, which alone decides what has expired. */
  gatewayTime(): number
}

/** What the gateway's clock says, whatever the clock of this machine does. */
export class GatewayTime {
  /** Milliseconds that the gateway's clock is ahead of this one. */
  #ahead = 0

  /** `ts`: when the gateway said what has just come, RFC 3339. */
  hear(ts: string): void {
    const ahead = Date.parse(ts) - Date.now()
    if (Number.isFinite(ahead)) this.#ahead = ahead
  }

  /** Milliseconds since 1970. It may be behind by as long as the welcome was on its way. */
  now(): number {
    return Date.now() + this.#ahead
  }
}
