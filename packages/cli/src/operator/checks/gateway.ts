import type { GatewayFile } from '../../run/gateway-file.js'
import { askHealth, letsIn } from '../../run/running-gateway.js'
import type { Address } from '../address.js'
import { type Check, fail, pass } from './check.js'

/** Whether the gateway that commands would go to answers, and lets them in; with the time there, in milliseconds. */
export async function gatewayChecks(
  { url, space, participant, token }: Address,
  recorded: GatewayFile | undefined,
): Promise<{ checks: Check[]; time?: number }> {
  if (url.value === undefined) {
    return { checks: [pass('gateway', 'none runs here; meup up starts one')] }
  }
  const health = await askHealth(url.value)
  if (health instanceof Error) {
    const isRecorded = recorded?.url === url.value
    const advice = isRecorded
      ? 'it was killed; start it again with meup up'
      : `is it running, and is this its address? (${url.from})`
    return { checks: [fail('gateway', `nothing answers at ${url.value}: ${health.message}`, advice)] }
  }
  if (!health.ok) {
    const detail = `${url.value}/healthz says ${health.status}`
    return { checks: [fail('gateway', detail, `is this the address of a gateway? (${url.from})`)] }
  }
  const date = Date.parse(health.headers.get('date') ?? '')
  const checks = [pass('gateway', `${url.value} answers`)]
  if (space.value !== undefined && token.value !== undefined) {
    const who = participant.value ?? 'whoever has the token'
    const isIn = await letsIn(url.value, space.value, token.value)
    const refused = `the token of ${who} does not open the space ${space.value} (${token.from})`
    const advice = 'check the space and the token; meup token list shows what is here'
    checks.push(isIn ? pass('entry', `${who} may enter ${space.value}`) : fail('entry', refused, advice))
  }
  return { checks, ...(!Number.isNaN(date) && { time: date }) }
}
