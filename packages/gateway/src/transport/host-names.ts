import { isOwnName, isTrustedHost, readHostName } from '@meup/protocol'
import { type Refusal, refuse } from '../core/admission/context.js'

/** Checks the `Host` of a request; absent = any name is taken. */
export type HostCheck = (host: string | undefined) => Refusal | undefined

/** What decides under which names a gateway is reached. */
interface Names {
  /** It listens there. */
  readonly host: string
  readonly hosts: readonly string[]
  readonly origins: readonly string[]
  readonly trustProxy: boolean
}

/**
 * A page whose name is made to point to this machine (DNS rebinding) is of the same origin as the gateway that it reaches there.
 * So where a gateway is for this machine alone it takes only names that nobody else can give it [MEUP-5.9]. Behind a proxy, and
 * where others reach it anyway, any name is taken unless `hosts` says which.
 */
export function createHostCheck({ host, hosts, origins, trustProxy }: Names): HostCheck | undefined {
  const isLocal = isOwnName(host) || /^127\.|^::1$/.test(host)
  if (hosts.length === 0 && (trustProxy || !isLocal)) return undefined
  const known = new Set([...hosts, ...origins.flatMap((origin) => readHostName(new URL(origin).host) ?? [])])
  return (asked) => {
    // Browsers always send one.
    if (asked === undefined || isTrustedHost(asked, known)) return undefined
    const message = `The gateway takes no requests for "${asked}".`
    const advice = 'Add the name to gateway.hosts, or set gateway.trustProxy behind a proxy.'
    return refuse('forbidden', `${message} ${advice}`)
  }
}
