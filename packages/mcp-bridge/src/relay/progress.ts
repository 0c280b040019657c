import type { McpRequestPayload } from '@meup/protocol'

type Token = string | number

/** By this an asker knows its progress notifications; another asker may have the same. */
export function tokenOf({ params }: McpRequestPayload): Token | undefined {
  const { _meta } = (params ?? {}) as { _meta?: { progressToken?: unknown } | null }
  const token = _meta?.progressToken
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}

/** The request with this token for the asker's own. One that asks for no progress stays as it is. */
export function withToken(request: McpRequestPayload, token: Token): McpRequestPayload {
  if (tokenOf(request) === undefined) return request
  const { params } = request
  return { ...request, params: { ...params, _meta: { ...(params?._meta as object), progressToken: token } } }
}

/** A notification with this token for the one it came under, if it came under one. */
export function underToken(notification: McpRequestPayload, token: Token | undefined): McpRequestPayload {
  if (notification.params?.progressToken === undefined) return notification
  return { ...notification, params: { ...notification.params, progressToken: token } }
}
