/** HOST:PORT, with IPv6 addresses in brackets. */
export const listenPattern =
  '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+):(\\d{1,4}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])$'

/** An absolute HTTP URL without user and password. */
export const addressPattern = '^https?://[^/?#@\\s]+([/?][^#\\s]*)?$'

/** Location of public keys: an HTTPS or loopback URL, which cannot be intercepted, or a path. */
export const keysPattern =
  '^(https://[^/?#@\\s]+([/?][^#\\s]*)?|http://(localhost|127(\\.\\d{1,3}){3}|\\[::1\\])(:\\d+)?([/?][^#\\s]*)?|(?![A-Za-z][\\w+.-]*://).+)$'

/** Characters allowed in the value of an HTTP header. */
export const headerPattern = '^[\\t\\x20-\\x7e\\x80-\\xff]*$'

/** A whole number and its unit. The limit on digits keeps the duration below 24 days, the maximum of timers. */
export const durationPattern = '^(\\d{1,9}ms|\\d{1,6}s|\\d{1,4}m|\\d{1,2}h)$'

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads `127.0.0.1:8080`, `localhost:0` or `[::1]:8080`; the host is returned without brackets. Throws `RangeError`. */
export function parseListen(text: string): { host: string; port: number } {
  const [, host, port] = new RegExp(listenPattern).exec(text) ?? []
  if (host === undefined)
    throw new RangeError(`${text} is not HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080`)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Whether a text is a URL and not a path. */
export const isAddress = (text: string): boolean => /^https?:\/\//.test(text)

/** Reads `500ms`, `60s`, `5m`, `2h`, `7d` or a number of seconds, and returns milliseconds. Throws `RangeError`. */
export function parseDuration(text: string): number {
  const [, amount, unit = 's'] = /^(\d{1,6}(?:\.\d{1,3})?(?!ms)|\d{1,9}(?=ms$))([a-z]+)?$/.exec(text) ?? []
  const ms = Math.round(
    Number(amount) * (Object.hasOwn(unitMs, unit) ? (unitMs[unit] ?? Number.NaN) : Number.NaN),
  )
  if (Number.isNaN(ms))
    throw new RangeError(`${text} is not a duration, such as 500ms, 60s, 5m, 2h, 7d or 60 for seconds`)
  return ms
}
