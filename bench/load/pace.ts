import type { Sender } from './sender.js'
import { pause } from './waiting.js'

/**
 * Sends at a constant rate for `ms` milliseconds, even if messages do not come back. `sentAt`: receives the time of each
 * message by its number, in milliseconds of `performance.now()`.
 */
export async function pace(
  sender: Sender,
  { perSecond, ms, sentAt }: { perSecond: number; ms: number; sentAt?: Map<number, number> },
): Promise<void> {
  const begin = performance.now()
  const all = Math.round((perSecond * ms) / 1000)
  for (let done = 0; done < all; ) {
    const now = performance.now()
    const due = Math.min(all, Math.floor(((now - begin) * perSecond) / 1000) + 1)
    for (let i = done; i < due; i++) sentAt?.set(sender.sent + i - done, now)
    sender.send(due - done)
    done = due
    await pause(1)
  }
}
