import { ConnectionError, type DialRequest } from '@meup/agent-sdk'
import { type AnyEnvelope, type ErrorCode, errors, type ParticipantInfo, ProtocolError } from '@meup/protocol'

/** Milliseconds that the gateway may take for one answer. */
const defaultTimeoutMs = 30_000
/** Envelopes in one answer; the most that a gateway gives. */
const pageSize = 1000

/** Reads the participants and their capabilities. Readers over HTTP do not appear as present. */
export async function readParticipants(at: DialRequest): Promise<readonly ParticipantInfo[]> {
  const { participants } = await getJson<{ participants: ParticipantInfo[] }>(at, 'participants')
  return participants
}

interface Page {
  readonly envelopes: readonly AnyEnvelope[]
  readonly epoch: string
  /** Last seq of the log. */
  readonly head: number
  /** Where the next page begins; absent = this was the last. */
  readonly next?: number
}

/**
 * What the log has of what is asked for, as far as this reader may see it: oldest first, or newest first (`desc`). What
 * comes to it meanwhile is left out.
 */
export async function* readLog(
  at: DialRequest,
  asked: Query,
  order: 'asc' | 'desc' = 'asc',
): AsyncGenerator<AnyEnvelope, void> {
  let place: Query = {}
  for (;;) {
    const query = { order, limit: `${pageSize}`, ...asked, ...place }
    const { envelopes, head, next } = await getJson<Page>(at, 'envelopes', query)
    yield* envelopes
    if (next === undefined) return
    place = order === 'desc' ? { before: `${next}` } : { before: `${head + 1}`, ...place, after: `${next}` }
  }
}

/** The last envelopes after a place in the log, as far as one answer goes; oldest first. */
export async function readTail(at: DialRequest, after: number): Promise<readonly AnyEnvelope[]> {
  const query = { after: `${after}`, order: 'desc', limit: `${pageSize}` }
  const { envelopes } = await getJson<Page>(at, 'envelopes', query)
  return envelopes.toReversed()
}

/** Which log the space has at present: places in it are counted in that. */
export async function readEpoch(at: DialRequest): Promise<string> {
  const { epoch } = await getJson<Page>(at, 'envelopes', { limit: '1' })
  return epoch
}

export type Query = Readonly<Record<string, string>>

/**
 * Asks the space for what is at this path; waits for `timeoutMs` milliseconds. Rejects with `ProtocolError` when the
 * gateway refuses, `ConnectionError` when none answers.
 */
export async function getJson<Answer>(
  at: DialRequest,
  path: string,
  query: Query = {},
  timeoutMs = defaultTimeoutMs,
  method: 'GET' | 'POST' = 'GET',
): Promise<Answer> {
  try {
    const response = await request(at, path, query, AbortSignal.timeout(timeoutMs), method)
    return (await response.json()) as Answer
  } catch (error) {
    throw toConnectionError(error as Error, at.url, timeoutMs)
  }
}

/** Posts an empty request. Rejects as `getJson` does. */
export const postJson = <Answer>(at: DialRequest, path: string): Promise<Answer> =>
  getJson<Answer>(at, path, {}, defaultTimeoutMs, 'POST')

/** Pages of an answer that names the place of its next one in `next`. */
export async function* readPages<Page extends { readonly next?: number }>(
  getPage: (place: Query) => Promise<Page>,
  before?: number,
): AsyncGenerator<Page, void> {
  let next = before
  do {
    const page = await getPage(next === undefined ? {} : { before: `${next}` })
    yield page
    next = page.next
  } while (next !== undefined)
}

/** Opens a response without a timeout, for streaming. Rejects as `getJson` does. */
export async function openResponse(at: DialRequest, path: string, query: Query = {}): Promise<Response> {
  try {
    return await request(at, path, query)
  } catch (error) {
    throw toConnectionError(error as Error, at.url)
  }
}

async function request(
  { url, space, token }: DialRequest,
  path: string,
  query: Query,
  signal?: AbortSignal,
  method = 'GET',
): Promise<Response> {
  const address = buildUrl(url, `spaces/${encodeURIComponent(space)}/${path}`)
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const send = (): Promise<Response> => fetch(address, { method, headers, ...(signal && { signal }) })
  const response = await send().catch((error: Error) => {
    if (method === 'GET' && wasDropped(error)) return send()
    throw error
  })
  if (response.ok) return response
  throw toProtocolError(response.status, await response.json())
}

/** The connection was kept from an earlier request, and the gateway closed it just now. */
const wasDropped = ({ cause }: Error): boolean => Object(cause).code === 'UND_ERR_SOCKET'

/** Builds an HTTP URL. A WebSocket address refers to the same gateway. */
export function buildUrl(url: string, path: string): URL {
  if (!/^(http|ws)s?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new ConnectionError('not_configured', `${url} is no address like http://127.0.0.1:8080`)
  }
  const address = new URL(path, url.endsWith('/') ? url : `${url}/`)
  address.protocol = address.protocol.replace('ws', 'http')
  return address
}

function toProtocolError(status: number, body: unknown): Error {
  const { code = '', detail = '' } = Object(body) as { code?: string; detail?: string }
  if (Object.hasOwn(errors, code)) return new ProtocolError(code as ErrorCode, detail)
  return new Error(`HTTP ${status}; is this a gateway?`)
}

function toConnectionError(cause: Error, url: string, timeoutMs?: number): Error {
  if (cause instanceof ProtocolError || cause instanceof ConnectionError) return cause
  if (cause.name === 'TimeoutError') {
    return new ConnectionError('timeout', `${url} did not answer within ${timeoutMs} ms`, { cause })
  }
  const { message } = cause.cause instanceof Error ? cause.cause : cause
  return new ConnectionError('unreachable', `no gateway answers at ${url}: ${message}`, { cause })
}

/** The thread of an agent, who may be named by its thread as well. */
export const getThreadId = (space: string, agent: string): string =>
  agent.includes('/') ? agent : `${space}/${agent}`

/** What part of the log is exported, and in which format. */
export interface ExportSelection {
  readonly format?: 'jsonl' | 'markdown' | 'sqlite'
  readonly thread?: string
  readonly turn?: string
  readonly context?: string
}

/** An export, piece by piece as the gateway sends it. Rejects where it breaks off. */
export async function openExport(
  at: DialRequest,
  { format = 'jsonl', thread, turn, context }: ExportSelection = {},
): Promise<AsyncIterable<Uint8Array>> {
  const path = context === undefined ? 'audit/export' : `contexts/${encodePath(context)}`
  const { body } = await openResponse(at, path, {
    format,
    ...(thread !== undefined && { thread_id: getThreadId(at.space, thread) }),
    ...(turn !== undefined && { turn }),
  })
  if (body === null) throw new ConnectionError('closed', 'the gateway sent no export; is this a gateway?')
  return failIfTruncated(body)
}

const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

async function* failIfTruncated(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } catch (cause) {
    const advice = 'the log may have been pruned meanwhile, or the line has broken; export it again'
    throw new ConnectionError('closed', `the export broke off before its end: ${advice}`, { cause })
  }
}
