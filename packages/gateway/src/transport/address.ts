import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * The address by which limits count: an IPv4 address, mapped into IPv6 or not, or the /64 network of an IPv6 address, since its
 * owner has all of it. `undefined` = not an address.
 */
export function normalizeAddress(text: string): string | undefined {
  const [address = ''] = text.split('%') // Drops the zone, the name of a local interface.
  const version = isIP(address)
  if (version !== 6) return version === 4 ? address : undefined
  const groups = parseGroups(address)
  const zeros = groups.findIndex((group) => group !== '0')
  if (zeros === 5 && groups[5] === 'ffff') return dotted(groups.slice(6))
  if (zeros === 7 && groups[7] === '1') return '::1'
  return `${groups.slice(0, 4).join(':')}::/64`
}

/**
 * The address of the client. Behind a proxy it is the last forwarded one, which the proxy has added: earlier ones are claims of
 * the client.
 */
export function getRemoteAddress(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined
  const client = [forwarded].flat().at(-1)?.split(',').at(-1)?.trim() ?? ''
  return (
    normalizeAddress(withoutPort(client)) ?? normalizeAddress(request.socket.remoteAddress ?? '') ?? 'unknown'
  )
}

/** The eight groups of an IPv6 address, as hexadecimal numbers without leading zeros. */
function parseGroups(address: string): string[] {
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail] = shortest.split('::').map((part) => (part === '' ? [] : part.split(':')))
  if (tail === undefined) return head
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}

const dotted = (groups: readonly string[]): string =>
  groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')

/** Some proxies add the port, and brackets around IPv6. */
const withoutPort = (text: string): string =>
  /^\[(.*)\](:\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
