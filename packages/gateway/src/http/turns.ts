import { omitUndefined } from '@meup/protocol'
import type { Context } from 'hono'
import { isRefusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import { readTurns } from '../index/read-turns.js'
import { resolveEnvelope } from './envelope.js'
import type { ParsedQuery } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import {
  authenticateReader,
  chargeView,
  checkThread,
  checkThreadExists,
  createReader,
  getAgent,
  readView,
  respondPage,
} from './views.js'

/** `GET /spaces/{space}/turns`: requests to an agent, its answers, and the reasons of its tool calls [MEUP-11.5]. */
export async function getTurns(
  context: Context,
  options: HttpOptions,
  asked: ParsedQuery<'thread_id' | 'before' | 'limit' | 'of' | 'calls_before' | 'sizes'>,
): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)

  const { space, turns } = visitor
  const { thread_id: thread, before, limit = 20, sizes, calls_before: callsBefore } = asked
  if (thread === undefined)
    return refused(
      refuse('invalid_request', texts.missingThread, { name: 'A list of turns', space: space.config.name }),
    )
  const wrong = checkThread(asked, space)
  if (wrong !== undefined) return refused(wrong)
  const agent = getAgent(thread)
  const reader = createReader(visitor, context, options)
  const of = asked.of === undefined ? undefined : await resolveEnvelope(space, reader, asked.of)
  if (of !== undefined && isRefusal(of)) return refused(of)
  const query = {
    ...{ agent, limit, sizes: sizes === 'true' },
    ...omitUndefined({ before }),
    ...(of !== undefined && { of: of.seq }),
    ...omitUndefined({ callsBefore }),
  }
  const passed = (characters: number): void => chargeView(visitor, characters)
  const page = await readView(visitor, options, (index) =>
    readTurns(index, turns.folded, query, reader, space, passed),
  )
  if (isRefusal(page)) return refused(page)
  const { next } = page
  const unknown = page.turns.length === 0 && next === undefined ? checkThreadExists(thread, space) : undefined
  return unknown
    ? refused(unknown)
    : respondPage(visitor, context, { thread_id: thread, turns: page.turns }, next)
}
