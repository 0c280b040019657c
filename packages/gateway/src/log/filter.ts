import { correlations, isContextAncestor } from '@meup/protocol'
import type { Entry, Filter } from '../ports/envelope-log.js'

/** Whether an entry is one of those that the filter selects. */
export function matches({ kinds, from, context, correlationId }: Filter, entry: Entry): boolean {
  return (
    (kinds === undefined || kinds.includes(entry.kind)) &&
    (from === undefined || from.includes(entry.from)) &&
    (context === undefined || isIn(context, entry.context)) &&
    (correlationId === undefined || correlations(entry).includes(correlationId))
  )
}

const isIn = (wanted: string, context: string | undefined): boolean =>
  context !== undefined && (context === wanted || isContextAncestor(wanted, context))
