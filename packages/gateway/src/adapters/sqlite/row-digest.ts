import { hash } from 'node:crypto'
import { LogError } from '../../log/error.js'

export type Value = string | number | null

/** Characters of base64url that are kept of a SHA-256: 132 bits. */
const length = 22

/** By which a row shows that one of its columns was changed, or that it is not where it was. */
export function digestOf(table: string, values: readonly Value[]): string {
  let text = table
  for (const value of values) {
    if (value === null) text += ' -'
    else if (typeof value === 'number') text += ` ${value}`
    else text += ` ${value.length}:${value}`
  }
  return hash('sha256', text, 'base64url').slice(0, length)
}

/** `what` of the projection is not what was written: all of it is made again from the log. */
export const damaged = (what: string): LogError =>
  new LogError('projection', `What is stored of ${what} is damaged.`)
