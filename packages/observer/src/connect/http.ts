import { type AnyEnvelope, ConnectionError, ProtocolError } from '@meup/agent-sdk/watch'
import { grantKinds } from '@meup/folds'
import { type Detail, type ErrorCode, errors } from '@meup/protocol'
import type { Place } from './storage.js'

/** What of the log is asked for. */
export interface Asked {
  readonly after?: number
  readonly before?: number
  /** That path, and what is below it. */
  readonly context?: string
  readonly reasoning?: Detail
  /** These kinds alone, with commas between them. */
  readonly kind?: string
  /** `desc` = the latest first. */
  readonly order?: 'asc' | 'desc'
}

interface Page {
  readonly envelopes: readonly AnyEnvelope[]
  readonly next?: number
}

const envelopesPerRequest = 1000

/**
 * Reads what this participant may see of the log, so many requests at most; `isAll` tells whether that was all.
 * Rejects with `ProtocolError` for what the gateway refuses, `TypeError` when it cannot be reached.
 */
export async function readHistory(
  place: Place,
  asked: Asked,
  maxRequests = 100,
): Promise<{ envelopes: AnyEnvelope[]; isAll: boolean }> {
  const envelopes: AnyEnvelope[] = []
  const order = asked.order ?? 'asc'
  let next: number | undefined
  for (let request = 0; request < maxRequests; request++) {
    const from = next === undefined ? {} : order === 'asc' ? { after: next } : { before: next }
    const page = await readPage(place, { ...asked, ...from, order })
    envelopes.push(...page.envelopes)
    next = page.next
    if (next === undefined) break
  }
  return { envelopes, isAll: next === undefined }
}

/** The envelope of this seq. Rejects as `readHistory`, with `not_found` where this participant may not see it. */
export async function readOne(place: Place, seq: number): Promise<AnyEnvelope> {
  const { envelopes } = await readPage(place, { after: seq - 1, before: seq + 1 }, 1)
  if (envelopes[0]?.seq !== seq)
    throw new ProtocolError('not_found', 'the gateway does not show this envelope')
  return envelopes[0]
}

async function readPage(place: Place, asked: Asked, limit = envelopesPerRequest): Promise<Page> {
  const parameters = Object.entries({ ...asked, limit }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const response = await ask(place, `envelopes?${new URLSearchParams(parameters)}`)
  return (await response.json()) as Page
}

/** Why the gateway does not let somebody in; `undefined` where it would, or where it cannot be reached. */
export async function probeRefusal(place: Place): Promise<ProtocolError | undefined> {
  try {
    await ask(place, 'participants')
    return undefined
  } catch (error) {
    return error instanceof ProtocolError ? error : undefined
  }
}

/** Requests this path of the space. Rejects as `readHistory` does. */
export const ask = ({ url, space, token }: Place, path: string, signal?: AbortSignal): Promise<Response> =>
  request(url, `spaces/${encodeURIComponent(space)}/${path}`, token, signal && { signal })

/** Requests a path of the gateway. Rejects with `ProtocolError` if it refuses, `TypeError` if it cannot be reached. */
export async function request(
  url: string,
  path: string,
  token?: string,
  init?: RequestInit,
): Promise<Response> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(new URL(path, `${url}/`), { headers, ...init })
  if (response.ok) return response
  const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string }
  const code = Object.hasOwn(errors, problem.code ?? '') ? (problem.code as ErrorCode) : 'unavailable'
  throw new ProtocolError(code, problem.detail ?? `HTTP ${response.status}`)
}

/** Yields the chunks of a response. Leaving the loop cancels it. */
export async function* readChunks(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

/** All that the log tells of who was given what. Rejects as `readHistory` does. */
export async function readGrants(place: Place): Promise<readonly AnyEnvelope[]> {
  const { envelopes } = await readHistory(place, { kind: grantKinds.join() })
  return envelopes
}

/** The spaces that a token opens, or that let guests in [MEUP-11.14]. Rejects as `request` does. */
export async function listSpaces(url: string, token: string | undefined): Promise<readonly string[]> {
  const response = await request(url, 'spaces', token)
  return ((await response.json()) as { spaces: string[] }).spaces
}

/** In words, with what to do about it where that is known. */
export function formatError(error: unknown): string {
  if (error instanceof ConnectionError) return `${error.message} — ${error.hint}`
  if (error instanceof ProtocolError && error.code === 'unauthorized') {
    return 'The gateway does not take this token here. Check it, and the name of the space.'
  }
  return error instanceof Error ? error.message : String(error ?? 'the connection was closed')
}
