import { correlations, isContextAncestor, Kind, openedContext } from '@meup/protocol'
import type { Entry, Filter } from '../ports/envelope-log.js'

/** Whether an entry is one of those that the filter selects. */
export function matches(
  { seqs, kinds, from, context, correlationId }: Filter,
  entry: Pick<Entry, 'kind' | 'from' | 'context' | 'correlationId'> & Partial<Pick<Entry, 'id' | 'seq'>>,
): boolean {
  return (
    (seqs === undefined || seqs.includes(entry.seq ?? 0)) &&
    (kinds === undefined || kinds.includes(entry.kind)) &&
    (from === undefined || from.includes(entry.from)) &&
    (context === undefined || isIn(context, entry.context) || opens(context, entry)) &&
    (correlationId === undefined || correlations(entry).includes(correlationId))
  )
}

const isIn = (wanted: string, context: string | undefined): boolean =>
  context !== undefined && (context === wanted || isContextAncestor(wanted, context))

/** Whether this is the start that has opened the context. */
const opens = (wanted: string, { kind, id, context }: Partial<Entry>): boolean =>
  kind === Kind.reasoningStart &&
  id !== undefined &&
  openedContext({ id, ...(context && { context }) }) === wanted
