import { type Denial, deny } from '../host/connection-gate.js'
import type { Caller } from '../host/gateway.js'
import type { TurnIndex } from '../index/turn-index.js'
import type { HttpOptions } from './options.js'

/** Milliseconds that a request waits until the index has caught up with the log. */
const patienceMs = 2000

/**
 * Reads turns or steps as of everything that was delivered when they are asked for, up to `head`: who has got an
 * acknowledgement finds what it did.
 */
export async function readView<Answer>(
  { space, turns: { indexer } }: Caller,
  { logger }: HttpOptions,
  read: (index: TurnIndex, head: number) => Promise<Answer>,
): Promise<Answer | Denial> {
  const head = space.delivered
  let cancel = (): void => {}
  const late = new Promise<undefined>((resolve) => {
    cancel = space.clock.after(patienceMs, () => resolve(undefined))
  })
  let index: TurnIndex | undefined
  try {
    const reached = indexer.reach(head)
    reached.catch(() => {}) // Who asked may have been answered.
    index = await Promise.race([reached, late])
    return index === undefined ? behind(indexer.seq, head) : await read(index, head)
  } catch (error) {
    const reason = indexer.failed(error, index)
    if (reason === undefined) throw error
    logger.warn({ err: error, space: space.config.name }, 'turns could not be read')
    return deny('unavailable', 503, `turns cannot be read at present: ${reason}; ask again later`)
  } finally {
    cancel()
  }
}

function behind(seq: number, head: number): Denial {
  const message = `turns are indexed up to seq ${seq} of ${head} so far; ask again later`
  return { ...deny('unavailable', 503, message), retryAfterMs: patienceMs }
}

/** Charges the asker for what a view has made [MEUP-7.8]. */
export function chargeView(
  { space, rateLimitKey }: Pick<Caller, 'space' | 'rateLimitKey'>,
  characters: number,
): void {
  space.rates.chargeView(rateLimitKey, characters, space.clock.now())
}

/** A view as JSON, which the asker has paid for. */
export function shown(
  visitor: Caller,
  view: object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const text = JSON.stringify(view)
  chargeView(visitor, text.length)
  return new Response(text, { headers: { 'content-type': 'application/json', ...headers } })
}

/** A page of a view. `next`: the `before` of the next one, where there may be more. */
export function paged(visitor: Caller, url: URL, page: object, next: number | undefined): Response {
  const answer = { ...page, has_more: next !== undefined }
  if (next === undefined) return shown(visitor, answer)
  url.searchParams.set('before', `${next}`)
  return shown(visitor, { ...answer, next }, { link: `<?${url.searchParams}>; rel="next"` })
}
