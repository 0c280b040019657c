import type { AnyEnvelope } from '@meup/agent-sdk/watch'
import { ProtocolError } from '@meup/agent-sdk/watch'
import { type ErrorCode, errors } from '@meup/protocol'
import type { Place } from './place.js'

/** What of the log is asked for. */
export interface Asked {
  readonly after?: number
  readonly before?: number
  /** That path, and what is below it. */
  readonly context?: string
  /** `desc` = the latest first. */
  readonly order?: 'asc' | 'desc'
}

interface Page {
  readonly envelopes: readonly AnyEnvelope[]
  readonly next?: number
}

const perRequest = 1000

/**
 * Reads what this participant may see of the log, so many requests at most; `isAll` tells whether that was all.
 * Rejects with `ProtocolError` for what the gateway refuses, `TypeError` when it cannot be reached.
 */
export async function readHistory(
  place: Place,
  asked: Asked,
  most = 100,
): Promise<{ envelopes: AnyEnvelope[]; isAll: boolean }> {
  const envelopes: AnyEnvelope[] = []
  const order = asked.order ?? 'asc'
  let next: number | undefined
  for (let request = 0; request < most; request++) {
    const from = next === undefined ? {} : order === 'asc' ? { after: next } : { before: next }
    const page = await readPage(place, { ...asked, ...from, order })
    envelopes.push(...page.envelopes)
    next = page.next
    if (next === undefined) break
  }
  return { envelopes, isAll: next === undefined }
}

async function readPage(place: Place, asked: Asked): Promise<Page> {
  const parameters = Object.entries({ ...asked, limit: perRequest }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const response = await ask(place, `envelopes?${new URLSearchParams(parameters)}`)
  return (await response.json()) as Page
}

/** Why the gateway does not let somebody in; `undefined` where it would, or where it cannot be reached. */
export async function refusalOf(place: Place): Promise<ProtocolError | undefined> {
  try {
    await ask(place, 'participants')
    return undefined
  } catch (error) {
    return error instanceof ProtocolError ? error : undefined
  }
}

async function ask({ url, space, token }: Place, what: string): Promise<Response> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(new URL(`spaces/${encodeURIComponent(space)}/${what}`, `${url}/`), { headers })
  if (response.ok) return response
  const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string }
  const code = Object.hasOwn(errors, problem.code ?? '') ? (problem.code as ErrorCode) : 'unavailable'
  throw new ProtocolError(code, problem.detail ?? `HTTP ${response.status}`)
}
