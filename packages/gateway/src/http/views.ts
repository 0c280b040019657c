import { type Denial, deny } from '../gateway/door.js'
import type { Caller } from '../gateway/gateway.js'
import { LogError } from '../log/error.js'
import type { HttpOptions } from './options.js'

/** Milliseconds that a request waits until views have caught up with the log, and are read. */
const patienceMs = 5000

const unreadable = 'turns and steps cannot be read at present; ask again later'

/**
 * Reads turns or steps as of everything that was delivered when they are asked for, up to `head`: whoever has got an
 * acknowledgement finds what it did.
 */
export async function readView<Answer>(
  { space, projector }: Caller,
  { logger }: HttpOptions,
  read: (head: number) => Promise<Answer>,
): Promise<Answer | Denial> {
  const head = space.delivered
  let isLate = false
  let cancel = (): void => {}
  const late = new Promise<Denial>((resolve) => {
    cancel = space.clock.after(patienceMs, () => {
      isLate = true
      resolve(behind(projector.seq, head))
    })
  })
  const told = (err: unknown): void =>
    logger.warn({ err, space: space.config.name }, 'turns and steps could not be read')
  // Reading takes long where turns and steps prove damaged: all of them are made again then.
  const answer = projector.reach(head).then(() => read(head))
  answer.catch((err: unknown) => {
    if (isLate) told(err) // Who asked has been answered.
  })
  try {
    return await Promise.race([answer, late])
  } catch (err) {
    if (!(err instanceof LogError)) throw err
    told(err)
    return deny('unavailable', 503, unreadable)
  } finally {
    cancel()
  }
}

function behind(seq: number, head: number): Denial {
  const made = `turns and steps are made up to seq ${seq} of ${head} so far; ask again later`
  const message = seq < head ? made : unreadable
  return { ...deny('unavailable', 503, message), retryAfterMs: patienceMs }
}

/** Charges the asker for what a view has made [MEUP-7.8]. */
export function chargeView({ space, payer }: Pick<Caller, 'space' | 'payer'>, characters: number): void {
  space.rates.chargeView(payer, characters, space.clock.now())
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
