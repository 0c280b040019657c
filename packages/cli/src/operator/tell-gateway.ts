import { setTimeout as pause } from 'node:timers/promises'
import { findGateway, letsIn } from '../run/running-gateway.js'

/** What a change of tokens comes to: which of them open the space afterwards, and which no longer do. */
export interface TokenChange {
  readonly space: string
  readonly opens: readonly string[]
  readonly shuts: readonly string[]
}

/** Milliseconds; far more than a reload takes, and how long it is given before the first look. */
const [patienceMs, firstLookMs] = [5000, 25]

/**
 * Has the gateway that runs for this folder read its files again, and waits until it does as they say.
 * - `none`: no gateway runs here
 * - `applied`: it has taken the change over
 * - `silent`: it has not, in the time that it was given
 */
export async function tellGateway(
  directory: string,
  change: TokenChange,
): Promise<'none' | 'applied' | 'silent'> {
  const gateway = await findGateway(directory)
  if (gateway === undefined || !gateway.spaces.includes(change.space)) return 'none'
  // Where there are no such signals, this would end it; there, it may be watching.
  if (process.platform !== 'win32') process.kill(gateway.pid, 'SIGHUP')
  const deadline = Date.now() + patienceMs
  // Ever more seldom: a token that does not open yet is a failed login, and gateways take only so many of those.
  for (let wait = firstLookMs; Date.now() < deadline; wait *= 2) {
    await pause(wait)
    if (await isApplied(gateway.url, change)) return 'applied'
  }
  return 'silent'
}

async function isApplied(url: string, { space, opens, shuts }: TokenChange): Promise<boolean> {
  for (const token of shuts) if (await letsIn(url, space, token)) return false
  for (const token of opens) if (!(await letsIn(url, space, token))) return false
  return true
}
