import { brief, onOneLine, suggest } from '@meup/folds'
import { UsageError } from './exit.js'

/** Characters of the names that are offered for an unknown one. */
const maxListChars = 200

/** The nearest of the known names, or all of them. */
export const suggestNames = (name: string, known: readonly string[]): string => {
  const all = brief(known.join(', '), maxListChars)
  return onOneLine(suggest(name, known) ?? (known.length === 1 ? all : `one of ${all}`))
}

/** The error for a name that is not among the known ones. `what`: the kind of thing that has the name, such as `space`. */
export const unknownNameError = (
  what: string,
  name: string,
  known: readonly string[],
  like = name,
): UsageError => {
  const details = { what, name: onOneLine(name) }
  return known.length === 0
    ? new UsageError('unknown_first_name', details)
    : new UsageError('unknown_name', { ...details, meant: suggestNames(like, known) })
}
