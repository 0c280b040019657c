import type { Space } from '../core/space.js'
import { type Denial, deny } from '../host/connection-gate.js'

/** As many names as help somebody who mistyped one. */
const mostNames = 20

/** Why a query names no thread of this space, or a turn of no thread; `undefined` = it asks for none, or for one. */
export function wrongThread(
  { thread_id: thread, turn }: { readonly thread_id?: string; readonly turn?: number },
  { config }: Space,
): Denial | undefined {
  if (thread === undefined) {
    if (turn === undefined) return undefined
    return deny('invalid_request', 400, `turn needs thread_id, such as ${config.name}/ben`)
  }
  if (thread.startsWith(`${config.name}/`)) return undefined
  const message = `thread_id must be a thread of this space, ${config.name}/<agent>, not ${thread}`
  return deny('invalid_request', 400, message)
}

/** To be asked where nothing was found in a thread: why not; `undefined` = the space knows the agent, who did nothing. */
export function unknownThread(thread: string, { config, state }: Space): Denial | undefined {
  if (state.participants.has(thread.slice(config.name.length + 1))) return undefined
  const ids = state.participants.list().map(({ id }) => id)
  const known = ids.slice(0, mostNames).join(', ') + (ids.length > mostNames ? ', …' : '')
  return deny(
    'not_found',
    404,
    `there is no thread ${thread}; a thread is ${config.name}/ and one of ${known}`,
  )
}

/** Whose thread it is. */
export const agentOf = (thread: string): string => thread.slice(thread.indexOf('/') + 1)
