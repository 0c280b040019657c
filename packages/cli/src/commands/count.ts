import { UsageError } from '../exit.js'

/** A whole number from 1 that was given to an option. */
export function count(text: string, flag: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${flag} takes a whole number, not ${text}`)
}
