import { createHash, timingSafeEqual } from 'node:crypto'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'

/** The only path there is. */
export const path = '/mcp'

/**
 * Who is not let in is told why. A page elsewhere cannot come in by a name that it has pointed at this machine, and no
 * other program on this machine without the token.
 */
export function refusalOf(request: Request, token: string): Response | undefined {
  const foreign =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  if (foreign !== undefined) return foreign
  if (new URL(request.url).pathname !== path) return refuse(404, `there is only ${path} here`)
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  if (isSame(given, token)) return undefined
  const challenge = { 'www-authenticate': 'Bearer' }
  return refuse(401, 'send the token of this server as Authorization: Bearer <token>', challenge)
}

/** Digests have one length, so that comparing them tells nothing. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export function refuse(status: number, message: string, headers: Record<string, string> = {}): Response {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_000, message } }
  return Response.json(body, { status, headers })
}
