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
  // With 401, clients of MCP begin to look for OAuth, which is not here, and tell their user of that instead.
  return refuse(403, 'this server has no OAuth: send its token as Authorization: Bearer <token>')
}

/** Digests have one length, so that comparing them tells nothing. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export function refuse(status: number, message: string): Response {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_000, message } }
  return Response.json(body, { status })
}
