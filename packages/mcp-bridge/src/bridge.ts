import type { Space } from '@meup/agent-sdk'
import type { McpRequestPayload } from '@meup/protocol'
import { Announcements, ResourceSubscriptions } from './announcements.js'
import { Callers } from './callers.js'
import { type McpServerOptions, startMcpServer } from './start-mcp-server.js'

/** Characters of a notification in the log. */
const maxLogChars = 1000
const isListChange = /^notifications\/(?:tools|prompts|resources)\/list_changed$/

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
 * [MEUP-3.8]. What the server tells of a call goes to its caller, changes of a resource to those who have subscribed to
 * it, changes of its lists to everyone. What nobody may be told for certain goes to the log.
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
  const log = (line: string): void => options.log?.(line)
  const callers = new Callers()
  const resources = new ResourceSubscriptions()
  const announcements = new Announcements(space, log)
  announce = (payload) => {
    if (isListChange.test(payload.method)) announcements.send(payload)
    else if (payload.method === 'notifications/resources/updated') {
      // One by one: an envelope to somebody who has left the space is refused.
      for (const each of resources.subscribersOf(payload)) announcements.send(payload, each)
    } else if (!callers.tellOnly(payload)) {
      log(`${payload.method}, told to no caller: ${JSON.stringify(payload.params)}`.slice(0, maxLogChars))
    }
  }
  space.serve(async (request, signal, tell) => {
    const { from, payload } = request
    if (payload.method.startsWith('notifications/')) {
      await relay.notify(payload)
      return undefined
    }
    const end = callers.begin(request, tell)
    try {
      // The server knows one client: it would end the subscriptions of all.
      const response = resources.endsForOneOnly(from, payload)
        ? { result: {} }
        : await relay.request(payload, { signal, onNotification: tell })
      resources.onAnswered(from, payload, response)
      return response
    } finally {
      end()
    }
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
