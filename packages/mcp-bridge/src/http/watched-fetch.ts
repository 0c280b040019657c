import type { FetchLike } from '@modelcontextprotocol/client'
import { describeFailure, isNetworkFailure } from '../relay/failures.js'
import { bounded } from './bounded.js'
import { redactor } from './redact.js'

interface Watcher {
  /** There is no server at the address. */
  away(reason: string): void
  /** The server knows nothing more of a session whose stream it had opened. */
  streamLost(): void
}

/** What a proxy answers for a server that is not there; a single slow answer (504) is another matter. */
const awayStatuses = [502, 503]

/** Fetch that tells what has become of the server, and hides what the headers hold from what errors quote. */
export function watchedFetch(headers: Readonly<Record<string, string>>, watcher: Watcher): FetchLike {
  const redact = redactor(headers)
  let hasStream = false

  return async (url, init) => {
    const response = await fetch(url, init).catch((error: unknown) => {
      if (isAbsence(error)) watcher.away(describeFailure(error))
      throw error
    })
    if (awayStatuses.includes(response.status)) watcher.away(`answered HTTP ${response.status}`)
    if (init?.method === 'GET') {
      if (hasStream && response.status === 404) watcher.streamLost()
      hasStream = response.ok
    }
    if (response.body === null) return response
    const body = bounded(response)
    return response.ok ? body : new Response(redact(await body.text()), response)
  }
}

/** An answer that is merely slow to begin fails like this, too. */
function isAbsence(error: unknown): boolean {
  return isNetworkFailure(error) && !('code' in error.cause && error.cause.code === 'UND_ERR_HEADERS_TIMEOUT')
}
