import { contextMarkdownWriter, isInside, markdownHeader, nestContexts } from '@meup/folds'
import { isThought, Kind, openedContext } from '@meup/protocol'
import type { Context } from 'hono'
import { participantsIn } from '../core/delivery/introduction.js'
import type { LogReader } from '../core/delivery/log-reads.js'
import type { Reader } from '../core/may-read.js'
import { isRefusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import type { Space } from '../core/space.js'
import type { ContextReport } from '../core/state/contexts.js'
import type { FreePathReport } from '../core/state/free-paths.js'
import type { Caller } from '../host/gateway.js'
import { LoggedRights } from '../index/rights.js'
import { parseEnvelope } from '../log/entries.js'
import type { Entry } from '../ports/envelope-log.js'
import { resolveEnvelope } from './envelope.js'
import type { ParsedQuery } from './parameters.js'
import { refused } from './problem.js'
import { markdown } from './proof.js'
import type { HttpOptions } from './route.js'
import { streamLines } from './stream.js'
import { authenticateReader, chargeView, createReader, shown } from './views.js'

const maxCountedEnvelopes = 10_000

/** `GET /spaces/{space}/contexts/{path}`: one context and those nested in it, or its envelopes as text. */
export async function getContext(
  context: Context,
  options: HttpOptions,
  asked: ParsedQuery<'format'>,
): Promise<Response> {
  if (asked.format === 'jsonl') return refused(refuse('invalid_request', texts.markdownOnly))
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  const path = context.req.param('path') ?? ''
  const reader = createReader(visitor, context, options)
  const show = (path: string): Promise<Response | undefined> =>
    asked.format === 'markdown'
      ? writeContext(context, visitor, path, reader, options)
      : describeContext(visitor, path, reader)
  const found = await show(path)
  if (found !== undefined) return found
  const meant = await findContextOf(visitor.space, reader, path)
  return (meant !== undefined && (await show(meant))) || unknown(path)
}

/** The context that an envelope opened or was sent in. */
async function findContextOf(
  space: Space,
  reader: Reader & LogReader,
  ref: string,
): Promise<string | undefined> {
  const found = await resolveEnvelope(space, reader, ref)
  if (isRefusal(found)) return undefined
  return found.kind === Kind.reasoningStart ? openedContext(found) : found.context
}

async function describeContext(
  visitor: Caller,
  path: string,
  reader: Reader & LogReader,
): Promise<Response | undefined> {
  const opened = shownTo(visitor, path)
  const isOpened = opened.some(({ context }) => context === path)
  const own = isOpened ? undefined : await findFreePath(path, visitor, reader)
  const below = listFree(visitor).filter(({ context }) => context !== path && isInside(path, context))
  const all = [...opened, ...(own === undefined ? [] : [own]), ...below]
  const node = nestContexts(all).find((each) => each.context === path)
  return node && shown(visitor, node)
}

const unknown = (path: string): Response => refused(refuse('not_found', texts.unknownContext, { path }))

async function writeContext(
  context: Context,
  visitor: Caller,
  path: string,
  reader: Reader & LogReader,
  options: HttpOptions,
): Promise<Response | undefined> {
  const { space, participant } = visitor
  const texts = renderTexts(path, visitor, reader)
  const first = await texts.next()
  if (first.done) return undefined
  const failed = (err: unknown): void => {
    options.logger.warn(
      { err, space: space.config.name, participant },
      'a context was not written to its end',
    )
    options.hangUp(context)
  }
  const all = async function* (): AsyncGenerator<string, void> {
    yield `${markdownHeader(`${path} in ${space.config.name}`, space.safety.digest)}${first.value}`
    yield* texts
  }
  return new Response(streamLines(all(), failed), { headers: { 'content-type': markdown } })
}

async function* renderTexts(
  path: string,
  visitor: Caller,
  reader: Reader & LogReader,
): AsyncGenerator<string, void> {
  const { space } = visitor
  const writer = contextMarkdownWriter(path, {
    guard: (text) => space.safety.guard(text),
    rights: new LoggedRights(space, reader),
  })
  let isEmpty = true
  for await (const rows of readable(path, visitor, reader)) {
    const text = writer.write(rows.map(parseEnvelope))
    chargeView(visitor, text.length)
    if (rows.length > 0) isEmpty = false
    if (!isEmpty && text !== '') yield text
  }
  const end = writer.end()
  if (!isEmpty && end !== '') yield end
}

async function findFreePath(
  path: string,
  visitor: Caller,
  reader: Reader & LogReader,
): Promise<FreePathReport | undefined> {
  let [startedAt, envelopes, thoughts] = ['', 0, 0]
  const contributors = new Set<string>()
  for await (const rows of readable(path, visitor, reader)) {
    for (const { ts, from, kind } of rows) {
      startedAt ||= ts
      envelopes++
      if (isThought(kind)) thoughts++
      contributors.add(from)
    }
    if (envelopes >= maxCountedEnvelopes) break
  }
  if (envelopes === 0) return undefined
  const counts = { envelopes, thoughts, contributors: contributors.size }
  return { context: path, state: 'free', startedAt, counts }
}

/** The readable rows of a path and below it, in log order. */
const readable = (
  path: string,
  { space }: Caller,
  reader: Reader & LogReader,
): AsyncGenerator<readonly Entry[], void> =>
  space.reads.entries(reader, { after: 0, before: space.delivered + 1, filter: { context: path } })

/** `GET /spaces/{space}/participants`: the members of the space, and who is online [MEUP-11.7]. */
export const getParticipants = (context: Context, options: HttpOptions): Promise<Response> =>
  asVisitor(context, options, (visitor) => {
    const { space } = visitor
    const { log, delivered: head, state } = space
    const participants = participantsIn(state, space.clock.now())
    return shown(visitor, { participants, epoch: log.epoch, head })
  })

/**
 * `GET /spaces/{space}/contexts`: the tree of contexts, oldest first, with the latest paths that no reasoning has opened
 * [MEUP-11.7].
 */
export const getContexts = (context: Context, options: HttpOptions): Promise<Response> =>
  asVisitor(context, options, (visitor) => {
    const { log, delivered: head } = visitor.space
    const all = [...shownTo(visitor), ...listFree(visitor)]
    const byStart = all.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1))
    return shown(visitor, { contexts: nestContexts(byStart), epoch: log.epoch, head })
  })

async function asVisitor(
  context: Context,
  options: HttpOptions,
  answer: (visitor: Caller) => Response,
): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  return isRefusal(visitor) ? refused(visitor) : answer(visitor)
}

const shownTo = ({ space, participant }: Caller, path?: string): ContextReport[] =>
  space.state.contexts.report(space.getReader({ participant }), path)

const listFree = ({ space, participant }: Caller): FreePathReport[] =>
  space.state.contexts.reportFree(space.getReader({ participant }), space.log.oldest)
