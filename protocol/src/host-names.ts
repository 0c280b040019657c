/**
 * Whether the `Host` of a request is a name that no one else can point to this machine: an address, `localhost`, or one of
 * `names`, with any port [MEUP-5.9].
 */
export function isTrustedHost(host: string, names: ReadonlySet<string>): boolean {
  const name = readHostName(host)
  return name !== undefined && (isOwnName(name) || isAddress(name) || names.has(name))
}

/** Returns the name in a `Host` in lower case, without port and trailing dot; `undefined` = invalid. */
export function readHostName(host: string): string | undefined {
  if (!/^[^/?#@\\\s]+$/.test(host) || !URL.canParse(`http://${host}`)) return undefined
  return new URL(`http://${host}`).hostname.replace(/\.$/, '')
}

export const isOwnName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost')

/** Whether a host is an IP address, in the form of the URL Standard. DNS rebinding cannot forge an address. */
const isAddress = (name: string): boolean => /^\[[\da-f:]+\]$|^\d+\.\d+\.\d+\.\d+$/.test(name)
