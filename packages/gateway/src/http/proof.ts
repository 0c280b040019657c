import { omitUndefined } from '@meup/protocol'
import type { Context } from 'hono'
import type { LogReader } from '../core/delivery/log-reads.js'
import { exportLog, verifyLog } from '../core/delivery/verify-log.js'
import { isRefusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import type { Caller } from '../host/gateway.js'
import { exportTurns } from '../index/markdown.js'
import { ndjson } from './history.js'
import type { ParsedQuery } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import { streamLines } from './stream.js'
import {
  authenticateReader,
  authenticateRequest,
  chargeView,
  checkThread,
  checkThreadExists,
  createReader,
  getAgent,
  gone,
  notWelcome,
  readView,
} from './views.js'

/** `GET /spaces/{space}/audit/verify`: whether the hash chain of the log holds [MEUP-11.6]. */
export async function getVerification(context: Context, options: HttpOptions): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  const verification = await verifyLog(visitor.space, createReader(visitor, context, options))
  return verification === undefined ? refused(gone) : context.json(verification)
}

/**
 * `GET /spaces/{space}/audit/export`: the log as its reader may see it, as JSON lines that can be verified elsewhere
 * [MEUP-10.4], or turns and their steps as Markdown.
 */
export async function getExport(
  context: Context,
  options: HttpOptions,
  asked: ParsedQuery<'format' | 'after' | 'thread_id' | 'turn' | 'limit'>,
): Promise<Response> {
  const { format = 'jsonl', after = 0, thread_id, turn, limit } = asked
  const isPart = thread_id !== undefined || turn !== undefined || limit !== undefined
  if (format === 'jsonl' && isPart) return refused(refuse('invalid_request', texts.wholeOnly))
  if (format === 'markdown' && after > 0) return refused(refuse('invalid_request', texts.chainOnly))
  const visitor = await authenticateRequest(context, options)
  if (isRefusal(visitor)) return refused(visitor)

  const { space, participant } = visitor
  const failed = (err: unknown): void => {
    options.logger.warn({ err, space: space.config.name, participant }, 'an export was not completed')
    options.hangUp(context)
  }
  if (format === 'markdown') return writeMarkdown(context, visitor, asked, options, failed)
  if (after > space.delivered)
    return refused(refuse('invalid_request', texts.lateAfter, { head: space.delivered }))
  const lines = exportLog(createReader(visitor, context, options), space, after)
  return new Response(streamLines(lines, failed), { headers: { 'content-type': ndjson } })
}

export const markdown = 'text/markdown; charset=utf-8'

/** Writes the turns that the visitor may read as Markdown. */
async function writeMarkdown(
  context: Context,
  visitor: Caller,
  asked: ParsedQuery<'thread_id' | 'turn' | 'limit'>,
  options: HttpOptions,
  failed: (error: unknown) => void,
): Promise<Response> {
  const { space, turns } = visitor
  const wrong = checkThread(asked, space)
  if (wrong !== undefined) return refused(wrong)
  const { thread_id: thread, turn, limit } = asked
  const query = {
    ...(thread !== undefined && { agent: getAgent(thread) }),
    ...omitUndefined({ number: turn, limit }),
  }
  const reader = createReader(visitor, context, options)
  if (!(await space.reads.waitForBudget(reader))) return refused(gone)
  if (!visitor.isWelcome()) return refused(notWelcome)
  const begun = await readView(visitor, options, async (index, head) => {
    const texts = exportTurns(index, turns.folded, space, query, head, reader, (characters) => {
      chargeView(visitor, characters)
      return space.reads.waitForBudget(reader)
    })
    return { texts, first: await texts.next() }
  })
  if (isRefusal(begun)) return refused(begun)
  const { texts: rest, first } = begun
  if (first.done && thread !== undefined) {
    const unknown = checkThreadExists(thread, space)
    if (unknown !== undefined) return refused(unknown)
    if (turn !== undefined) return refused(refuse('not_found', texts.unknownTurn, { turn, thread }))
  }
  const paid = payingFor(after(first, rest), visitor, reader)
  return new Response(streamLines(paid, failed), { headers: { 'content-type': markdown } })
}

/** Charges for each text before the next one is rendered. */
async function* payingFor(
  texts: AsyncGenerator<string, void>,
  visitor: Caller,
  reader: LogReader,
): AsyncGenerator<string, void> {
  for await (const text of texts) {
    chargeView(visitor, text.length)
    yield text
    if (!(await visitor.space.reads.waitForBudget(reader))) return
  }
}

/** Yields a result that was already taken from a generator, then the rest. */
async function* after(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  if (first.done) return
  yield first.value
  yield* rest
}
