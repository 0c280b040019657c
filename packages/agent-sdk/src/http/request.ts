import { omitUndefined, ProtocolError, stringifyExact } from '@meup/protocol'
import { readCredential } from '../client/credential.js'
import {
  abortedError,
  brokenExportError,
  readRefusal,
  timeoutError,
  unreachableError,
} from '../client/errors.js'
import { buildGatewayUrl, type Fetch } from '../client/transport.js'

/** Query parameters. Lists are sent with commas between their values; `undefined` is omitted. */
export type QueryFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface RequestOptions {
  /** Aborts the request or the reading of its response, which then reject with `ConnectionError` `aborted`. */
  readonly signal?: AbortSignal
  /** Milliseconds for the complete response; `Infinity` = no limit. */
  readonly timeoutMs?: number
}

interface HttpRequest extends RequestOptions {
  /** Base address of the gateway. */
  readonly url: string
  /** Path relative to the base address. */
  readonly path: string
  readonly query?: QueryFields
  readonly token?: string | undefined
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined
  readonly method?: 'GET' | 'POST'
  /** Request body, sent as JSON. */
  readonly body?: unknown
  /** Media type to request; default: that of the route. */
  readonly accept?: string
}

/**
 * Sends a request and reads its response. Rejects with `ProtocolError` if the gateway refuses, `ConnectionError` if it is
 * unreachable or not a gateway (`unreachable`), too slow (`timeout`), if the request is aborted (`aborted`), or if address or
 * token are invalid (`not_configured`).
 */
export async function request<Answer>(
  {
    url,
    path,
    query = {},
    token,
    fetch = globalThis.fetch,
    method = 'GET',
    body,
    accept,
    signal,
    timeoutMs = Number.POSITIVE_INFINITY,
  }: HttpRequest,
  read: (response: Response) => Answer | Promise<Answer>,
): Promise<Answer> {
  const address = buildGatewayUrl(url, path)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value))
  }
  const timeout = Number.isFinite(timeoutMs) ? AbortSignal.timeout(timeoutMs) : undefined
  const either = signal && timeout ? AbortSignal.any([signal, timeout]) : (signal ?? timeout)
  const init: RequestInit = {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${readCredential(token, 'token')}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...omitUndefined({ accept }),
    },
    ...(body !== undefined && { body: stringifyExact(body) }),
    ...(either && { signal: either }),
  }
  try {
    const response = await send(fetch, address, init)
    if (response.ok) return await read(response)
    const refusal = readRefusal(await response.text())
    throw refusal ?? new Error(`HTTP ${response.status}`)
  } catch (error) {
    throw toConnectionError(error, { url, timeoutMs, ...(signal && { signal }) })
  }
}

/** Sends a request. Repeats a GET once if it failed because Node reused a connection that the gateway was closing. */
const send = (fetch: Fetch, address: URL, init: RequestInit): Promise<Response> =>
  fetch(address, init).catch((error: Error) => {
    const wasDropped = Object(error.cause).code === 'UND_ERR_SOCKET'
    if (init.method === 'GET' && wasDropped) return fetch(address, init)
    throw error
  })

function toConnectionError(
  error: unknown,
  { url, timeoutMs, signal }: Pick<HttpRequest, 'url' | 'signal'> & { readonly timeoutMs: number },
): unknown {
  if (error instanceof ProtocolError) return error
  if (signal?.aborted) return abortedError(signal)
  const cause = error instanceof Error ? error : new Error(String(error))
  if (cause.name === 'TimeoutError')
    return timeoutError(`response from ${url}`, timeoutMs, { url }, { cause })
  const { message } = cause.cause instanceof Error ? cause.cause : cause
  return unreachableError(url, message, { cause })
}

/**
 * Iterates over the chunks of an export. Leaving the loop cancels it. Rejects with `ConnectionError` if it ends early
 * (`closed`) or is aborted. Locks the body immediately: Node empties an unlocked body when its response is garbage-collected.
 */
export function readExportBody(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  return readChunks(body.getReader(), signal)
}

async function* readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (cause) {
    if (signal?.aborted) throw abortedError(signal)
    throw brokenExportError({ cause })
  } finally {
    await reader.cancel().catch(() => {})
  }
}
