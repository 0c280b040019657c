import type { Context } from 'hono'
import { exportLog } from '../core/delivery/export.js'
import { verifyLog } from '../core/delivery/verify-log.js'
import { deny, isDenial } from '../host/connection-gate.js'
import { ndjson } from './history.js'
import { writeMarkdown } from './markdown.js'
import type { HttpOptions } from './options.js'
import { readParameters } from './parameters.js'
import { denied } from './problem.js'
import { streamOf } from './stream.js'
import { askerOf, gone, readerFor, visitorOf } from './visitor.js'

export const exportParameters = ['format', 'after', 'thread_id', 'turn', 'limit'] as const

/** `GET /spaces/{space}/audit/verify`: whether the log is what was chained [MEUP-11.6]. */
export async function getVerification(context: Context, options: HttpOptions): Promise<Response> {
  const visitor = await askerOf(context, options)
  if (isDenial(visitor)) return denied(visitor)
  const verification = await verifyLog(visitor.space, readerFor(visitor, context, options))
  return verification === undefined ? denied(gone) : context.json(verification)
}

/**
 * `GET /spaces/{space}/audit/export`: the log as its reader may see it, to be verified elsewhere [MEUP-10.4], or, as
 * Markdown, turns and their steps, to be read.
 */
export async function getExport(context: Context, options: HttpOptions): Promise<Response> {
  const asked = readParameters(new URL(context.req.url).searchParams, exportParameters)
  if (isDenial(asked)) return denied(asked)
  const { format = 'jsonl', after = 0, thread_id, turn, limit } = asked
  const isPart = thread_id !== undefined || turn !== undefined || limit !== undefined
  if (format === 'jsonl' && isPart) return denied(wholeOnly)
  if (format === 'markdown' && after > 0) return denied(chainOnly)
  const visitor = await visitorOf(context, options)
  if (isDenial(visitor)) return denied(visitor)

  const { space, participant } = visitor
  const failed = (err: unknown): void => {
    options.logger.warn({ err, space: space.config.name, participant }, 'an export was not completed')
    options.hangUp(context)
  }
  if (format === 'markdown') return writeMarkdown(context, visitor, asked, options, failed)
  if (after > space.delivered) {
    const message = `the log ends at seq ${space.delivered}; ask for what comes after that, or before`
    return denied(deny('invalid_request', 400, message))
  }
  const lines = exportLog(readerFor(visitor, context, options), space, after)
  return new Response(streamOf(lines, failed), { headers: { 'content-type': ndjson } })
}

const chainOnly = deny('invalid_request', 400, 'after needs format=jsonl; of Markdown take a turn')

const wholeOnly = deny(
  'invalid_request',
  400,
  'thread_id, turn and limit need format=markdown: jsonl is the whole log',
)
