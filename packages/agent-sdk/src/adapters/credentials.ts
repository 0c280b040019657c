import { Notice } from '../client/errors.js'
import type { AgentOptions } from '../model/options.js'

/** Minimum characters of a redacted credential: shorter ones would match ordinary text. */
const minChars = 8

/** Lists the credentials in the options of a provider: the API key, and the values of headers. */
export function listCredentials({
  apiKey = '',
  settings,
}: Pick<AgentOptions, 'apiKey' | 'settings'>): string[] {
  const headers = Object.values(settings?.headers ?? {}).flatMap((value) =>
    value === undefined ? [] : [value],
  )
  return [apiKey, ...headers]
}

/** Redacts credentials in the message of an error, and drops a cause that quotes them, because loggers print causes. */
export function withoutCredentials(error: Error, credentials: readonly string[]): Error {
  // Errors may quote a credential with escapes, or without a prefix such as `Bearer`.
  const parts = [...new Set(credentials.flatMap((each) => [each, ...each.split(/\s+/)]))]
    .filter(({ length }) => length >= minChars)
    .sort((a, b) => b.length - a.length)
  const isQuoted = (value: unknown): boolean => parts.some((part) => describe(value).includes(part))
  if (!isQuoted(error) && !isQuoted(error.cause)) return error
  const mask = (text: string): string =>
    parts.reduce((rest, part) => rest.replaceAll(part, '[redacted:known-secret]'), text)
  return new Notice(mask(error.message), isQuoted(error.cause) ? {} : { cause: error.cause })
}

/** Formats a value like a logger would. */
function describe(value: unknown): string {
  if (!(value instanceof Error)) return JSON.stringify(value) ?? ''
  const { message, stack = '', cause } = value
  return `${message}\n${stack}\n${JSON.stringify(value)}\n${cause === undefined ? '' : describe(cause)}`
}
