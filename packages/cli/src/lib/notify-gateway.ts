import { setTimeout as pause } from 'node:timers/promises'
import { acceptsToken, findGateway } from './running-gateway.js'

/** Messages for the results of `notifyGateway`. */
export const gatewayMessages = {
  none: 'no gateway runs here; it counts from the next start',
  applied: 'the running gateway has taken it over',
  silent: 'the running gateway does not follow: look at what it says, or start it again',
}

/** Tokens that the space must accept and reject once the change is in effect. */
interface TokenChange {
  readonly space: string
  readonly accepted: readonly string[]
  readonly rejected: readonly string[]
}

/** Timeout, much longer than a reload takes, and delay before the first check. */
const [applyTimeoutMs, firstLookMs] = [5000, 25]

/**
 * Makes the gateway of this folder reload, and waits until the change is in effect.
 * - `none`: no gateway runs here
 * - `applied`: the change is in effect
 * - `silent`: the change is not in effect after the timeout
 */
export async function notifyGateway(
  directory: string,
  change: TokenChange,
): Promise<keyof typeof gatewayMessages> {
  const gateway = await findGateway(directory)
  if (gateway === undefined || !gateway.spaces.includes(change.space)) return 'none'
  // On Windows SIGHUP would end the gateway, so it is not sent: the gateway may notice the changed files itself.
  if (process.platform !== 'win32') process.kill(gateway.pid, 'SIGHUP')
  const deadline = Date.now() + applyTimeoutMs
  // Backs off: each rejected token counts as a failed login, and gateways limit those.
  for (let wait = firstLookMs; Date.now() < deadline; wait *= 2) {
    await pause(wait)
    if (await isApplied(gateway.url, change)) return 'applied'
  }
  return 'silent'
}

async function isApplied(url: string, { space, accepted, rejected }: TokenChange): Promise<boolean> {
  for (const token of rejected) if (await acceptsToken(url, space, token)) return false
  for (const token of accepted) if (!(await acceptsToken(url, space, token))) return false
  return true
}
