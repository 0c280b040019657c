import type { Envelope } from '@meup/protocol'
import { lighten, sizeOf } from './heavy.js'

/**
 * The first envelope at which two chains part that agree at `good` and no longer at `bad`; `agree` tells it of any place
 * between.
 */
export async function firstMismatch(
  good: number,
  bad: number,
  agree: (seq: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [good, bad]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (await agree(middle)) low = middle
    else high = middle
  }
  return high
}

/** Whether the body of an envelope in the log, its JSON without `seq`, is what somebody was shown, perhaps its beginning. */
export function isSame(body: string, shown: { readonly seq?: number }): boolean {
  try {
    const { seq, ...rest } = shown
    const logged = JSON.parse(body) as Envelope
    return (
      JSON.stringify(sizeOf(shown as Envelope) === undefined ? logged : lighten(logged)) ===
      JSON.stringify(rest)
    )
  } catch {
    return false
  }
}
