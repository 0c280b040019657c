import { type ErrorCode, errors } from '@meup/protocol'

/** RFC 9457, with the protocol's error code [MEUP-11.1]. */
export function problemOf(refusal: {
  readonly code: ErrorCode
  readonly message: string
  readonly status?: number
  readonly details?: Readonly<Record<string, unknown>>
}): Record<string, unknown> {
  const { code, message, details } = refusal
  return {
    type: 'about:blank',
    title: errors[code].meaning,
    status: refusal.status ?? errors[code].status,
    detail: message,
    code,
    ...details,
  }
}

export const problem = (body: Record<string, unknown>, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status: body.status as number,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
