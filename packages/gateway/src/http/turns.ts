import type { Context } from 'hono'
import { deny, isDenial } from '../host/connection-gate.js'
import { readTurns } from '../index/read-turns.js'
import type { HttpOptions } from './options.js'
import { readParameters } from './parameters.js'
import { denied } from './problem.js'
import { agentOf, askerOf, chargeView, paged, readView, unknownThread, wrongThread } from './views.js'

export const turnParameters = ['thread_id', 'before', 'limit', 'calls_before', 'sizes'] as const

/** `GET /spaces/{space}/turns`: what an agent was asked, what it answered, and why it called which tools [MEUP-11.5]. */
export async function getTurns(context: Context, options: HttpOptions): Promise<Response> {
  const url = new URL(context.req.url)
  const asked = readParameters(url.searchParams, turnParameters)
  if (isDenial(asked)) return denied(asked)
  const visitor = await askerOf(context, options)
  if (isDenial(visitor)) return denied(visitor)

  const { space, turns } = visitor
  const { thread_id: thread, before, limit = 20, sizes, calls_before: callsBefore } = asked
  if (thread === undefined) {
    return denied(deny('invalid_request', 400, `thread_id is needed, such as ${space.config.name}/ben`))
  }
  const wrong = wrongThread(asked, space)
  if (wrong !== undefined) return denied(wrong)
  const agent = agentOf(thread)
  const query = {
    ...{ agent, limit, sizes: sizes === 'true' },
    ...(before !== undefined && { before }),
    ...(callsBefore !== undefined && { callsBefore }),
  }
  const reader = space.readerOf(visitor)
  const passed = (characters: number): void => chargeView(visitor, characters)
  const page = await readView(visitor, options, (index) =>
    readTurns(index, turns.folded, query, reader, space, passed),
  )
  if (isDenial(page)) return denied(page)
  const { next } = page
  const unknown = page.turns.length === 0 && next === undefined ? unknownThread(thread, space) : undefined
  return unknown ? denied(unknown) : paged(visitor, url, { thread_id: thread, turns: page.turns }, next)
}
