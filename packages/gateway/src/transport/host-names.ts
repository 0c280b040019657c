import { isOwnName, isTrustedHost, readHostName } from '@meup/protocol'
import { type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'

/** Checks the `Host` of a request; absent = any name. */
export type HostCheck = (host: string | undefined) => Refusal | undefined

/** The settings that determine the accepted names. */
interface Names {
  /** The address on which the gateway listens. */
  readonly host: string
  readonly hosts: readonly string[]
  readonly origins: readonly string[]
  readonly trustProxy: boolean
}

/**
 * A page whose domain is rebound to this machine (DNS rebinding) has the same origin as the gateway that it reaches. Therefore
 * a gateway that listens on a loopback address accepts only names that no one else controls [MEUP-5.9]. Behind a proxy, or
 * reachable by others, it accepts any name unless `hosts` lists some.
 */
export function createHostCheck({ host, hosts, origins, trustProxy }: Names): HostCheck | undefined {
  const isLocal = isOwnName(host) || /^127\.|^::1$/.test(host)
  if (hosts.length === 0 && (trustProxy || !isLocal)) return undefined
  const known = new Set([...hosts, ...origins.flatMap((origin) => readHostName(new URL(origin).host) ?? [])])
  return (asked) => {
    // A request without `Host` is not from a browser, which always sends one.
    return asked === undefined || isTrustedHost(asked, known)
      ? undefined
      : refuse('forbidden', texts.unknownHost, { host: asked })
  }
}
