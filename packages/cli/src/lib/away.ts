import type { SpaceClient } from '@meup/agent-sdk'
import { brief, onOneLine, programEventText } from '@meup/folds'
import { addAdvice } from '@meup/protocol'
import type { ProgramReports } from './control-client.js'

type Participant = SpaceClient['participants'][number]

/** Whether a question to everyone may be answered by this participant: it is another one, and no tool server. */
export const mayAnswer = (
  { id }: Pick<SpaceClient, 'id'>,
  participant: Pick<Participant, 'id' | 'kind'>,
): boolean => participant.id !== id && participant.kind !== 'mcp'

/** Returns the names that are tool servers, which answer no questions. */
export const listToolServers = (
  { participants }: Pick<SpaceClient, 'participants'>,
  names: readonly string[],
): string[] => participants.flatMap(({ id, kind }) => (kind === 'mcp' && names.includes(id) ? [id] : []))

/**
 * Participants that are asked but away. `names`: the asked participants; if empty, everyone except tool servers is asked, and
 * the result is empty as soon as one of them is present.
 */
export function listAway(
  space: Pick<SpaceClient, 'id' | 'participants'>,
  names: readonly string[],
): string[] {
  const asked = space.participants.filter((each) =>
    names.length === 0 ? mayAnswer(space, each) : names.includes(each.id),
  )
  const away = asked.flatMap(({ id, status }) => (status === 'away' ? [id] : []))
  return names.length > 0 || away.length === asked.length ? away : []
}

/** Maximum characters of the reason for a failure. */
const maxReasonChars = 300

/** Describes those of the participants whose programs have failed, by id. `reports`: what `meup up` of this folder knows. */
export function describeFailures(
  { participants }: Pick<SpaceClient, 'participants'>,
  ids: readonly string[],
  reports: ProgramReports,
): Map<string, string> {
  const failed = participants.flatMap(({ id, program }): [string, string][] => {
    if (!ids.includes(id) || (program?.state !== 'failed' && program?.state !== 'resting')) return []
    const text = `${onOneLine(id)} ${programEventText(id, program)}`
    const { lastError } = reports.get(id) ?? {}
    if (lastError === undefined) return [[id, text]]
    const reason = brief(onOneLine(lastError), maxReasonChars)
    return [[id, addAdvice(`${text} · ${reason}`, `see what it printed with meup logs ${onOneLine(id)}`)]]
  })
  return new Map(failed)
}
