import { type McpRelay, type McpServerOptions, startMcpServer } from '@meup/mcp-bridge'
import type { McpRequestPayload } from '@meup/protocol'
import { afterEach } from 'vitest'
import { fixtures } from './processes.js'

type CommandOptions = Extract<McpServerOptions, { command: string }>
type Options = Partial<CommandOptions> & { argument?: string }

export interface Running {
  readonly relay: McpRelay
  readonly lines: string[]
  readonly notifications: McpRequestPayload[]
}

const relays: McpRelay[] = []

afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close()))
})

/** Starts a fixture as an MCP server named `files`; it is closed at the end of the test. */
export async function serve(
  program: 'oddServer' | 'rawServer' | 'sdkServer',
  { argument, ...options }: Options = {},
): Promise<Running> {
  const lines: string[] = []
  const notifications: McpRequestPayload[] = []
  const relay = await startMcpServer(
    {
      name: 'files',
      command: process.execPath,
      args: [fixtures[program], ...(argument ? [argument] : [])],
      env: {},
      log: (line) => lines.push(line),
      ...options,
    },
    { onNotification: (payload) => notifications.push(payload) },
  )
  relays.push(relay)
  return { relay, lines, notifications }
}

export const call = (name: string, args: object = {}, rest: object = {}): McpRequestPayload => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name, arguments: args, ...rest },
})
