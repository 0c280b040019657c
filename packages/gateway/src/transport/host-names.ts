import { isIP } from 'node:net'
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
  const known = new Set([...hosts, ...origins.flatMap((origin) => readName(new URL(origin).host) ?? [])])
  return (asked) => {
    // Browsers always send one.
    if (asked === undefined) return undefined
    const name = readName(asked)
    if (name !== undefined && (isOwnName(name) || isAddress(name) || known.has(name))) return undefined
    const message = `The gateway takes no requests for "${asked}".`
    const advice = 'Add the name to gateway.hosts, or set gateway.trustProxy behind a proxy.'
    return refuse('forbidden', `${message} ${advice}`)
  }
}

const isOwnName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost')

/** Whoever uses an address has no name that could point elsewhere. */
const isAddress = (name: string): boolean => isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0

/** Without port, and the dot at the end; `undefined` = it is none. */
function readName(host: string): string | undefined {
  if (!/^[^/?#@\\\s]+$/.test(host) || !URL.canParse(`http://${host}`)) return undefined
  return new URL(`http://${host}`).hostname.replace(/\.$/, '')
}
