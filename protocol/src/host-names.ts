/**
 * Whether the `Host` of a request is a name that nobody else can make point to this machine: an address, `localhost`, or one of
 * `names`, whatever the port [MEUP-5.9].
 */
export function isTrustedHost(host: string, names: ReadonlySet<string>): boolean {
  const name = readHostName(host)
  return name !== undefined && (isOwnName(name) || isAddress(name) || names.has(name))
}

/** The name in a `Host` in lower case, without port, and the dot at the end; `undefined` = it is none. */
export function readHostName(host: string): string | undefined {
  if (!/^[^/?#@\\\s]+$/.test(host) || !URL.canParse(`http://${host}`)) return undefined
  return new URL(`http://${host}`).hostname.replace(/\.$/, '')
}

export const isOwnName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost')

/** As the URL Standard writes them. An address is no name that could point elsewhere. */
const isAddress = (name: string): boolean => /^\[[\da-f:]+\]$|^\d+\.\d+\.\d+\.\d+$/.test(name)
