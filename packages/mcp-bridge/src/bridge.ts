import type { Space } from '@meup/agent-sdk'
import { Kind, type McpRequestPayload } from '@meup/protocol'
import { type McpServerOptions, startMcpServer } from './start-mcp-server.js'

export type BridgeOptions = McpServerOptions & {
  /** Takes the seat of the participant that the server becomes; called once the server is ready to answer. */
  readonly connect: () => Promise<Space>
}

export interface Bridge {
  /** Resolves when the server has ended or the space was closed. */
  readonly ended: Promise<{ reason: string }>
  close(): Promise<void>
}

/**
 * Makes an MCP server a participant: requests addressed to it are relayed as they stand, and so are the responses
 * [MEUP-3.8]. What the server announces (`notifications/…`) is told to everyone.
 */
export async function bridgeMcpServer({ connect, ...options }: BridgeOptions): Promise<Bridge> {
  let announce = (_payload: McpRequestPayload): void => {} // Nobody is there to be told before the seat is taken.
  const relay = await startMcpServer(options, (payload) => announce(payload))
  let space: Space
  try {
    space = await connect()
  } catch (error) {
    await relay.close()
    throw error
  }
  announce = (payload) => {
    space.send({ kind: Kind.mcpRequest, payload }).catch((error: Error) => {
      options.log?.(`the notification ${payload.method} was refused: ${error.message}`)
    })
  }
  space.serve(async ({ payload }, signal, report) => {
    if (!payload.method.startsWith('notifications/')) {
      return relay.request(payload, { signal, onProgress: ({ params = {} }) => report(params) })
    }
    await relay.notify(payload)
    return undefined
  })
  const left = new Promise<{ reason: string }>((resolve) => {
    space.on('closed', (error) => resolve({ reason: error?.message ?? 'the space was closed' }))
  })
  const close = async (): Promise<void> => {
    space.close()
    await relay.close()
  }
  return {
    ended: Promise.race([relay.closed, left]).then(async (outcome) => {
      await space.leave() // Calls that the server's end cut off are answered with an error first.
      await relay.close()
      return outcome
    }),
    close,
  }
}
