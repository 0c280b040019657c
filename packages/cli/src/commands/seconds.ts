import { UsageError } from '../exit.js'

/** A number of seconds that was given to an option. */
export function seconds(text: string, flag: string): number {
  const value = Number(text)
  if (value > 0) return value
  throw new UsageError(`${flag} takes seconds, not ${text}`)
}
