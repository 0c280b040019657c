import { type ErrorCode, errors, omitUndefined } from '@meup/protocol'
import type { Refusal } from '../core/refusal.js'

/** A refusal as problem details (RFC 9457), with the protocol's error code [MEUP-11.1]. */
export function toProblem(refusal: {
  readonly code: ErrorCode
  readonly message: string
  readonly status?: number
  readonly retryAfterMs?: number
  readonly details?: Readonly<Record<string, unknown>>
}): Record<string, unknown> {
  const { code, message, retryAfterMs, details } = refusal
  return {
    type: 'about:blank',
    title: errors[code].meaning,
    status: refusal.status ?? errors[code].status,
    detail: message,
    code,
    ...omitUndefined({ retryAfterMs }),
    ...details,
  }
}

export const problem = (body: Record<string, unknown>, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status: body.status as number,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })

/** The response for a refusal of the gateway or of the admission. */
export function refused(refusal: Refusal, more: Readonly<Record<string, unknown>> = {}): Response {
  const path = refusal.path !== undefined && { path: refusal.path }
  const details = { ...refusal.details, ...path, ...more }
  return problem(toProblem({ ...refusal, details }), retryAfter(refusal))
}

/** The `retry-after` header in whole seconds. */
export const retryAfter = ({ retryAfterMs }: { readonly retryAfterMs?: number }): Record<string, string> =>
  retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
