import { ProtocolError, type SpaceClient } from '@meup/agent-sdk'
import { type EnvelopeOf, Kind, type McpRequestPayload } from '@meup/protocol'
import { getErrorMessage } from './child/lines.js'
import { type McpServerOptions, startMcpServer } from './relay/start-mcp-server.js'

/** Characters of a notification in the log. */
const maxLogChars = 1000
const isListChange = /^notifications\/(?:tools|prompts|resources)\/list_changed$/

export type BridgeOptions = McpServerOptions & {
  /** Connects as the participant that the server becomes; called when the server is ready. */
  readonly connect: () => Promise<SpaceClient>
}

export interface Bridge {
  /** Resolves when the server has ended or the space was closed. */
  readonly ended: Promise<{ reason: string }>
  close(): Promise<void>
}

/**
 * Makes an MCP server a participant: requests addressed to it are relayed as they stand, and so are the responses
 * [MEUP-3.8]. Notifications about a call go to its caller, changes of a resource to its subscribers, changes of lists to
 * everyone. Notifications that cannot be attributed for certain go to the log.
 */
export async function bridgeMcpServer({ connect, ...options }: BridgeOptions): Promise<Bridge> {
  let announce = (_payload: McpRequestPayload): void => {} // Dropped until the participant is connected.
  const relay = await startMcpServer(options, (payload) => announce(payload))
  let space: SpaceClient
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
      // One envelope each: the gateway refuses an envelope to a participant who has left.
      for (const each of resources.listSubscribers(payload)) announcements.send(payload, each)
    } else if (!callers.notifyOnlyCaller(payload)) {
      log(`${payload.method}, told to no caller: ${JSON.stringify(payload.params)}`.slice(0, maxLogChars))
    }
  }
  space.serve(async (request, signal, notify) => {
    const { from, payload } = request
    if (payload.method.startsWith('notifications/')) {
      await relay.notify(payload)
      return undefined
    }
    const end = callers.begin(request, notify)
    try {
      // The server knows one client: it would end the subscriptions of all.
      const response = resources.endsForOneOnly(from, payload)
        ? { result: {} }
        : await relay.request(payload, { signal, onNotification: notify })
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

/** Limits of resource subscriptions: in all, and of one participant. */
const [maxSubscriptions, maxOwnSubscriptions] = [1000, 100]
/** The longest URI of a subscription. */
const maxUriChars = 2048
/** Milliseconds between two announcements about one resource or list. */
const minIntervalMs = 1000

const isOk = (response: object): boolean => !('error' in response)

/** The subscribers of the resources of a server. */
class ResourceSubscriptions {
  readonly #byUri = new Map<string, Set<string>>()

  /** Handles an answered subscribe or unsubscribe request. */
  onAnswered(from: string, { method, params }: McpRequestPayload, response: object): void {
    const uri = params?.uri
    if (typeof uri !== 'string' || !isOk(response)) return
    const subscribers = this.#byUri.get(uri) ?? new Set()
    if (method === 'resources/unsubscribe') {
      subscribers.delete(from)
      if (subscribers.size === 0) this.#byUri.delete(uri)
    } else if (method === 'resources/subscribe' && this.#hasRoom(from, uri)) {
      this.#byUri.set(uri, subscribers.add(from))
    }
  }

  /** Whether other participants are still subscribed after this request. */
  endsForOneOnly(from: string, { method, params }: McpRequestPayload): boolean {
    if (method !== 'resources/unsubscribe') return false
    return [...(this.#byUri.get(String(params?.uri)) ?? [])].some((each) => each !== from)
  }

  #hasRoom(from: string, uri: string): boolean {
    if (uri.length > maxUriChars || (this.#byUri.size >= maxSubscriptions && !this.#byUri.has(uri)))
      return false
    return [...this.#byUri.values()].filter((each) => each.has(from)).length < maxOwnSubscriptions
  }

  listSubscribers({ params }: McpRequestPayload): string[] {
    return [...(this.#byUri.get(String(params?.uri)) ?? [])]
  }
}

/** Announces changes. Of rapid changes to one resource, the first and the last are sent. */
class Announcements {
  readonly #space: Pick<SpaceClient, 'send'>
  readonly #log: (line: string) => void
  /** The payload to send next, by method, URI and addressee. */
  readonly #sending = new Map<string, McpRequestPayload | undefined>()

  constructor(space: Pick<SpaceClient, 'send'>, log: (line: string) => void) {
    this.#space = space
    this.#log = log
  }

  /** `to`: absent = everyone. */
  send(payload: McpRequestPayload, to?: string): void {
    const key = JSON.stringify([payload.method, payload.params?.uri, to])
    const isSending = this.#sending.has(key)
    this.#sending.set(key, isSending ? payload : undefined)
    if (!isSending) void this.#send(key, payload, to)
  }

  async #send(key: string, payload: McpRequestPayload, to: string | undefined): Promise<void> {
    let again: McpRequestPayload | undefined
    let waitMs = minIntervalMs
    try {
      await this.#space.send({ kind: Kind.mcpRequest, ...(to !== undefined && { to: [to] }), payload })
    } catch (error) {
      const retryMs = retryAfterMs(error)
      if (retryMs === undefined)
        this.#log(`the notification ${payload.method} was refused: ${getErrorMessage(error)}`)
      else [again, waitMs] = [payload, Math.max(retryMs, minIntervalMs)]
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
    again = this.#sending.get(key) ?? again
    this.#sending.delete(key)
    if (again !== undefined) this.send(again, to)
  }
}

function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof ProtocolError) || error.code !== 'rate_limited') return undefined
  const { retryAfterMs: ms } = error.details
  return typeof ms === 'number' ? ms : undefined
}

type Request = EnvelopeOf<typeof Kind.mcpRequest>
type Notify = (notification: McpRequestPayload) => void

/** Milliseconds in which a server may still send notifications about a finished or cancelled call. */
const quietMs = 60_000

/**
 * Finds the call that a notification without a reference is about, such as a log message over stdio. To keep private calls
 * private, it is attributed only if one call is running and no other participant has called lately.
 */
class Callers {
  readonly #running = new Map<Request, Notify>()
  /** When the last call of each participant ended. */
  readonly #endedAt = new Map<string, number>()

  /** Returns the function that ends the call. */
  begin(request: Request, notify: Notify): () => void {
    this.#running.set(request, notify)
    return () => {
      this.#running.delete(request)
      this.#endedAt.delete(request.from)
      this.#endedAt.set(request.from, Date.now())
    }
  }

  /** Notifies the only possible caller; returns `false` if there is none or several. */
  notifyOnlyCaller(notification: McpRequestPayload): boolean {
    const [only, ...more] = this.#running
    if (only === undefined || more.length > 0) return false
    const [{ from }, notify] = only
    for (const [participant, endedAt] of this.#endedAt) {
      if (Date.now() - endedAt >= quietMs) this.#endedAt.delete(participant)
      else if (participant !== from) return false
    }
    notify(notification)
    return true
  }
}
