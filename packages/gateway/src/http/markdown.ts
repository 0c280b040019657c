import type { Context } from 'hono'
import type { LogReader } from '../core/delivery/log-reads.js'
import { deny, isDenial } from '../host/connection-gate.js'
import type { Caller } from '../host/gateway.js'
import { exportTurns } from '../index/markdown.js'
import type { HttpOptions } from './options.js'
import { denied } from './problem.js'
import { streamOf } from './stream.js'
import { agentOf, unknownThread, wrongThread } from './thread.js'
import { chargeView, readView } from './views.js'
import { gone, notWelcome, readerFor } from './visitor.js'

export const markdown = 'text/markdown; charset=utf-8'

interface Asked {
  readonly thread_id?: string
  readonly turn?: number
  readonly limit?: number
}

/** Turns for people, as far as the visitor may read them. */
export async function writeMarkdown(
  context: Context,
  visitor: Caller,
  asked: Asked,
  options: HttpOptions,
  failed: (error: unknown) => void,
): Promise<Response> {
  const { space, turns } = visitor
  const wrong = wrongThread(asked, space)
  if (wrong !== undefined) return denied(wrong)
  const { thread_id: thread, turn, limit } = asked
  const query = {
    ...(thread !== undefined && { agent: agentOf(thread) }),
    ...(turn !== undefined && { number: turn }),
    ...(limit !== undefined && { limit }),
  }
  const reader = readerFor(visitor, context, options)
  if (!(await space.reads.mayGoOn(reader))) return denied(gone)
  if (!visitor.isWelcome()) return denied(notWelcome)
  const begun = await readView(visitor, options, async (index, head) => {
    const texts = exportTurns(index, turns.folded, space, query, head, reader, (characters) => {
      chargeView(visitor, characters)
      return space.reads.mayGoOn(reader)
    })
    return { texts, first: await texts.next() }
  })
  if (isDenial(begun)) return denied(begun)
  const { texts, first } = begun
  if (first.done && thread !== undefined) {
    const unknown = unknownThread(thread, space)
    if (unknown !== undefined) return denied(unknown)
    if (turn !== undefined) {
      const message = `there is no turn ${turn} in ${thread} that you may read; GET turns lists them`
      return denied(deny('not_found', 404, message))
    }
  }
  const paid = payingFor(after(first, texts), visitor, reader)
  return new Response(streamOf(paid, failed), { headers: { 'content-type': markdown } })
}

/** Each text is paid for before the next one is made. */
async function* payingFor(
  texts: AsyncGenerator<string, void>,
  visitor: Caller,
  reader: LogReader,
): AsyncGenerator<string, void> {
  for await (const text of texts) {
    chargeView(visitor, text.length)
    yield text
    if (!(await visitor.space.reads.mayGoOn(reader))) return
  }
}

/** What was taken from a generator, and then the rest of it. */
async function* after(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  if (first.done) return
  yield first.value
  yield* rest
}
