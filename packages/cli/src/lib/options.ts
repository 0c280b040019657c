import { getErrorMessage, parseExact } from '@meup/protocol'
import type { Config } from '../config/config.js'
import { parseListen } from '../config/notation.js'
import { invalidValue, UsageError } from './exit.js'

/** Parses a positive integer. `flag`: name of the option, for the error. */
export function parseCount(text: string, flag: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw invalidValue(flag, 'count', text)
}

export const isSeq = (text: string): boolean => /^#?\d+$/.test(text)

/** Parses a seq, with or without a leading `#`. */
export const parseSeq = (text: string, flag: string): number => parseCount(text.replace(/^#/, ''), flag)

/** Parses the JSON object that a flag takes. Throws `UsageError`. */
export function parseObject(json: string, flag: string): object {
  let value: unknown
  try {
    value = parseExact(json)
  } catch (error) {
    throw new UsageError('invalid_json', { option: flag, reason: getErrorMessage(error) })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidValue(flag, 'object')
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
  if (others.length > 9) ids.push('…')
  throw new UsageError('ambiguous_id', { start, what, ids })
}

/** Collects names from a repeatable option; each may also contain several, separated by commas. */
export const collectNames = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text.split(',').flatMap((name) => name.trim() || []),
]

/** The name of the first of these options that is given. */
export const findGiven = (options: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(options).find((name) => options[name] !== undefined)

export function withListen(config: Config, listen: string | undefined): Config {
  if (listen === undefined) return config
  try {
    return { ...config, gateway: { ...config.gateway, ...parseListen(listen) } }
  } catch {
    throw invalidValue('--listen', 'listen', listen)
  }
}
