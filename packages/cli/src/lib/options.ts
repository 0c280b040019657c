import { getErrorMessage, parseExact } from '@meup/protocol'
import type { Config } from '../config/config.js'
import { parseListen } from '../config/notation.js'
import { UsageError } from './exit.js'

/** Parses a positive integer. `flag`: name of the option, for the error. */
export function parseCount(text: string, flag: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${flag} takes a whole number such as 20, not ${text}`)
}

export const isSeq = (text: string): boolean => /^#?\d+$/.test(text)

/** Parses a seq, with or without a leading `#`. */
export const parseSeq = (text: string, flag: string): number => parseCount(text.replace(/^#/, ''), flag)

const example = `'{"path":"README.md"}'`

/** Parses the JSON object that a flag takes. Throws `UsageError`. */
export function parseObject(json: string, flag: string): object {
  let value: unknown
  try {
    value = parseExact(json)
  } catch (error) {
    const reason = getErrorMessage(error)
    throw new UsageError(
      `${flag}: this is not JSON: ${reason}; in a shell, put it in single quotes: ${example}`,
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${flag} takes a JSON object, such as ${example}`)
  }
  return value
}

/** Finds the item with this id or `#seq`, or the only one whose id starts with the text. Throws `UsageError` if several do. */
export function findByPrefix<Item extends { readonly id: string; readonly seq?: number }>(
  items: readonly Item[],
  start: string,
  what: string,
): Item | undefined {
  const exact = items.find(({ id, seq }) => id === start || (seq !== undefined && start === `#${seq}`))
  if (exact !== undefined) return exact
  const [first, ...others] = start === '' ? [] : items.filter(({ id }) => id.startsWith(start))
  if (first === undefined || others.length === 0) return first
  const ids = [first, ...others].slice(0, 10).map(({ id }) => id)
  const all = `${ids.join(', ')}${others.length > 9 ? ', …' : ''}`
  throw new UsageError(`${start} may be any ${what} of ${all}; give more of its id`)
}

/** Collects names from a repeatable option; each may also contain several, separated by commas. */
export const collectNames = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text.split(',').flatMap((name) => name.trim() || []),
]

export function withListen(config: Config, listen: string | undefined): Config {
  if (listen === undefined) return config
  try {
    return { ...config, gateway: { ...config.gateway, ...parseListen(listen) } }
  } catch (error) {
    throw new UsageError(`--listen: ${getErrorMessage(error)}`)
  }
}
