import type { Clock } from '@meup/gateway'
import type { AnyEnvelope } from '@meup/protocol'
import { spanText } from '../trust/terms.js'

/** Milliseconds that nobody waits longer than, whatever passed between two envelopes. */
const longestMs = 2000
/** Who is late by less than this makes up for it; what was stopped for longer does not hurry afterwards. */
const slackMs = 250

export interface Playing {
  readonly clock: Clock
  /** How many times as fast as it went; `Infinity` = without pauses. */
  readonly speed: number
  show(envelope: AnyEnvelope): void
  /** Says something beside it. */
  tell(line: string): void
}

/** Shows envelopes with the pauses that were between them. What a pause is cut short by is told. */
export async function play(
  envelopes: Iterable<AnyEnvelope> | AsyncIterable<AnyEnvelope>,
  { clock, speed, show, tell }: Playing,
): Promise<void> {
  let last = Number.NaN
  let due = clock.now()
  for await (const envelope of envelopes) {
    const ts = Date.parse(envelope.ts)
    // Nothing passed before the first, nor where a clock was put back, nor at a time that there never was.
    const passed = Math.max(0, ts - last) || 0
    last = ts
    if (passed / speed > longestMs) tell(`… ${spanText(passed)} later`)
    due += Math.min(passed / speed, longestMs)
    if (clock.now() - due > slackMs) due = clock.now()
    await until(due, clock)
    show(envelope)
  }
}

function until(time: number, clock: Clock): Promise<void> | undefined {
  const ms = time - clock.now()
  if (ms >= 1) return new Promise((resolve) => void clock.after(ms, resolve))
  return undefined
}
