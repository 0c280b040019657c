import type { SpaceClient } from '@meup/agent-sdk'

/**
 * Participants that are asked but away. `names`: the asked participants; if empty, everyone except tool servers is asked, and
 * the result is empty as soon as one of them is present.
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
