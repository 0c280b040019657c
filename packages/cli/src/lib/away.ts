import type { SpaceClient } from '@meup/agent-sdk'

/**
 * Participants that are asked and away. `names`: the asked ones; empty = everyone, of whom one that is here is enough. Tool
 * servers answer no questions.
 */
export function listAway(
  space: Pick<SpaceClient, 'id' | 'participants'>,
  names: readonly string[],
): string[] {
  const asked = space.participants.filter(({ id, kind }) =>
    names.length === 0 ? id !== space.id && kind !== 'mcp' : names.includes(id),
  )
  const away = asked.flatMap(({ id, status }) => (status === 'away' ? [id] : []))
  return names.length > 0 || away.length === asked.length ? away : []
}
