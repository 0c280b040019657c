import type { Run, SpaceClient } from '@meup/agent-sdk'
import { onOneLine } from '@meup/folds'
import { table } from '../operator/table.js'
import { capabilitiesText } from '../trust/capabilities.js'
import { fit } from '../view/width.js'

/** Participants that are listed at once. */
const most = 50
/** Columns of a name, and of what somebody may do. */
const [longestName, longestList] = [30, 60]

/** The lines of `/participants`: who is here first. `start` = how their names begin. */
export function participantLines(
  { participants, runs }: Pick<SpaceClient, 'participants' | 'runs'>,
  start: string,
): string[] {
  const isHere = (status: string | undefined): boolean => status === 'present'
  const meant = participants.filter(({ id }) => id.startsWith(start))
  if (meant.length === 0)
    return [start === '' ? 'nobody is known' : `nobody's name begins with ${onOneLine(start)}`]
  const sorted = meant.toSorted((one, other) => Number(isHere(other.status)) - Number(isHere(one.status)))
  const rows = sorted
    .slice(0, most)
    .map(({ id, status, capabilities }) => [
      isHere(status) ? '●' : '○',
      fit(onOneLine(id), longestName),
      isHere(status) ? loadOf(id, runs) : 'away',
      fit(capabilitiesText(capabilities), longestList),
    ])
  const more = sorted.length - rows.length
  return [
    ...table(rows),
    ...(more > 0 ? [`… ${more.toLocaleString('en')} more; /participants <start of a name>`] : []),
  ]
}

function loadOf(id: string, runs: readonly Run[]): string {
  const own = runs.filter(({ owner }) => owner === id).length
  return own === 0 ? 'here' : own === 1 ? 'thinks' : `thinks ${own} times`
}
