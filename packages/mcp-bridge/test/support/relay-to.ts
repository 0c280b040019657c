import { type McpRelay, startMcpServer } from '@meup/mcp-bridge'
import type { McpRequestPayload } from '@meup/protocol'
import { onTestFinished } from 'vitest'
import type { HttpServer } from './http-server.js'
import { eventually } from './processes.js'

export interface Connected {
  readonly relay: McpRelay
  readonly lines: string[]
  readonly notifications: McpRequestPayload[]
}

export interface ConnectOptions {
  readonly headers?: Record<string, string>
  readonly startTimeoutMs?: number
  readonly signal?: AbortSignal
}

/** Connects a relay to an MCP server over HTTP, named `remote`; it is closed at the end of the test. */
export async function relayTo(
  { url }: Pick<HttpServer, 'url'>,
  options: ConnectOptions = {},
): Promise<Connected> {
  const lines: string[] = []
  const notifications: McpRequestPayload[] = []
  const relay = await startMcpServer(
    { name: 'remote', url, log: (line) => lines.push(line), ...options },
    { onNotification: (payload) => notifications.push(payload) },
  )
  onTestFinished(() => relay.close())
  return { relay, lines, notifications }
}

/** Repeats a change of the server's tools until a notification arrives: earlier ones are lost if no stream was open. */
export async function untilNotified(server: HttpServer, notifications: readonly unknown[]): Promise<void> {
  const known = notifications.length
  const isNotified = await eventually(() => {
    server.happenings.emit('changed')
    return notifications.length > known
  })
  if (!isNotified) throw new Error('nobody was told of the change')
}
