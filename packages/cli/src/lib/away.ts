import type { SpaceClient } from '@meup/agent-sdk'

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
