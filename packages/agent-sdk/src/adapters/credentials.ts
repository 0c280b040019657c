import { Notice } from '../client/errors.js'
import type { AgentOptions } from '../model/options.js'

/** A shorter text would be found in any sentence. */
const minChars = 8

/** What a provider wants to be kept secret, whatever it looks like. */
export function listCredentials({
  apiKey = '',
  settings,
}: Pick<AgentOptions, 'apiKey' | 'settings'>): string[] {
  const headers = Object.values(settings?.headers ?? {}).flatMap((value) =>
    value === undefined ? [] : [value],
  )
  return [apiKey, ...headers]
}

/** An error as it may be read by everyone: without these credentials, also in its cause, which a log prints in full. */
export function withoutCredentials(error: Error, credentials: readonly string[]): Error {
  // Errors quote a value in parts: escaped, or without the word before a key.
  const parts = [...new Set(credentials.flatMap((each) => [each, ...each.split(/\s+/)]))]
    .filter(({ length }) => length >= minChars)
    .sort((a, b) => b.length - a.length)
  const isQuoted = (value: unknown): boolean => parts.some((part) => describe(value).includes(part))
  if (!isQuoted(error) && !isQuoted(error.cause)) return error
  const mask = (text: string): string =>
    parts.reduce((rest, part) => rest.replaceAll(part, '[redacted:known-secret]'), text)
  return new Notice(mask(error.message), isQuoted(error.cause) ? {} : { cause: error.cause })
}

/** All that a log would print of it. */
function describe(value: unknown): string {
  if (!(value instanceof Error)) return JSON.stringify(value) ?? ''
  const { message, stack = '', cause } = value
  return `${message}\n${stack}\n${JSON.stringify(value)}\n${cause === undefined ? '' : describe(cause)}`
}
