import { ProtocolError, type SpaceClient, ToolError } from '@meup/agent-sdk'
import type { ElicitResult } from '@meup/agent-sdk/internal'
import { isObject } from '@meup/folds'
import { getErrorMessage, Kind, type McpRequestPayload, type McpResponsePayload } from '@meup/protocol'
import { Callers, type Notify, type RelayedCall, type RelayedRequest } from './callers.js'
import { LogLevels } from './log-levels.js'
import { limitLines } from './log-limit.js'
import type { RelayElicitation } from './relay/calls.js'
import { ServerTasks } from './relay/server-tasks.js'
import { type McpServerOptions, startMcpServer } from './relay/start-mcp-server.js'

/** Maximum characters of a logged notification. */
const maxLogChars = 1000
const isListChange = /^notifications\/(?:tools|prompts|resources)\/list_changed$/

export type BridgeOptions = McpServerOptions & {
  /** Connects as the participant of the server; called when the server is ready. */
  readonly connect: () => Promise<SpaceClient>
}

export interface Bridge {
  /** Resolves when the server has ended or the space was closed, and the participant has left. Never rejects. */
  readonly ended: Promise<{ reason: string }>
  /** Stops the server. Answers open calls with an error (-32000), then leaves the space. */
  close(): Promise<void>
}

/**
 * Makes an MCP server a participant: relays requests to it, and its responses unchanged [MEUP-3.8]. Notifications and
 * elicitations about a call are sent to its caller, resource updates to subscribers, and list changes to everyone. If the
 * caller is uncertain, notifications are logged and elicitations declined. Rejects if the server does not start, with an error
 * that names it, or if `connect` fails; in both cases without leaving a process or connection behind.
 */
export async function bridgeMcpServer({ connect, ...options }: BridgeOptions): Promise<Bridge> {
  const log = limitLines(options.log)
  // Until the participant has connected, no one has read a list or subscribed, so list changes are ignored and all else is
  // logged.
  let announce = (payload: McpRequestPayload): void => {
    if (!isListChange.test(payload.method)) log(describeNotification(payload))
  }
  let elicit: RelayElicitation = async () => declined
  const relay = await startMcpServer(options, {
    onNotification: (payload) => announce(payload),
    onElicitation: (params, signal) => elicit(params, signal),
  })
  let space: SpaceClient
  try {
    space = await connect()
  } catch (error) {
    await relay.close()
    throw error
  }
  const callers = new Callers()
  const levels = new LogLevels(relay.server)
  const tasks = new ServerTasks(options.name, relay)
  const resources = new ResourceSubscriptions()
  const announcements = new Announcements(space, log)
  announce = (payload) => {
    if (payload.method === 'notifications/tools/list_changed') tasks.onListChanged()
    if (isListChange.test(payload.method)) announcements.send(payload)
    else if (payload.method === 'notifications/resources/updated') {
      // One envelope per subscriber, because the gateway refuses an envelope if one of its addressees has left.
      for (const each of resources.listSubscribers(payload.params)) announcements.send(payload, each)
    } else if (!callers.notifyOnlyCaller(payload)) {
      log(describeNotification(payload))
    }
  }
  const ask = async (
    { request, over }: RelayedCall,
    params: object,
    taken: AbortSignal,
  ): Promise<ElicitResult> => {
    try {
      return await askCaller(space, request, params, AbortSignal.any([taken, over.signal]))
    } catch (error) {
      if (!taken.aborted && !over.signal.aborted)
        log(`a question to ${request.from} has no answer: ${getErrorMessage(error)}`)
      return { action: 'cancel' }
    }
  }
  elicit = async (params, taken) => {
    const call = callers.findElicited()
    if (call !== undefined) return ask(call, params, taken)
    log(
      'a question of the server was declined: several participants call it, and the question does not name one',
    )
    return declined
  }
  space.serve(async (request, signal, notifyCaller) => {
    const { from, payload } = request
    if (payload.method.startsWith('notifications/')) {
      await relay.notify(payload)
      return undefined
    }
    const notify: Notify = (notification) => {
      if (levels.isWanted(from, notification)) notifyCaller(notification)
    }
    return callers.run(request, notify, signal, async (call) => {
      const local = levels.answer(from, payload) ?? resources.answer(from, payload)
      const response =
        local ??
        (await tasks.request(levels.prepare(from, payload), {
          signal,
          onNotification: notify,
          onElicitation: (params, taken) => ask(call, params, taken),
        }))
      resources.onAnswered(from, payload, response)
      return response
    })
  })
  const left = new Promise<{ reason: string }>((resolve) => {
    space.on('closed', (error) => resolve({ reason: error?.message ?? 'the space was closed' }))
  })
  const ended = Promise.race([relay.closed, left]).then(async (outcome) => {
    // Leaves the space before it closes the server's relay, so that calls which the end of the server has interrupted are
    // answered with an error.
    for (const leave of [() => space.leave(), () => relay.close()])
      await leave().catch((error: unknown) => log(getErrorMessage(error)))
    return outcome
  })
  return {
    ended,
    async close() {
      await relay.close()
      await ended
    },
  }
}

function describeNotification({ method, params }: McpRequestPayload): string {
  return `${method}, sent to no caller: ${JSON.stringify(params)}`.slice(0, maxLogChars).toWellFormed()
}

const declined = { action: 'decline' } as const
/** Milliseconds that a caller gets to answer an elicitation. */
const answerTimeoutMs = 240_000

/** Forwards an elicitation to the caller [MEUP-3.26]. Declines if the caller is absent, or does not support elicitations. */
async function askCaller(
  space: SpaceClient,
  { id, from, context }: RelayedRequest,
  params: object,
  signal: AbortSignal,
): Promise<ElicitResult> {
  if (!space.participants.some((each) => each.id === from && each.status === 'present')) return declined
  try {
    const options = { signal, timeoutMs: answerTimeoutMs, propose: false, correlationId: id }
    const about = context === undefined ? options : { ...options, context }
    const { action, content } = await space.request(from, 'elicitation/create', params, about)
    if (action === 'accept' && isObject(content)) return { action, content }
    return action === 'decline' ? declined : { action: 'cancel' }
  } catch (error) {
    if (error instanceof ToolError) return declined
    throw error
  }
}

/** Maximum subscribed resources of a server, and per participant. */
const [maxSubscriptions, maxOwnSubscriptions] = [1000, 100]
/** Maximum characters of a subscribed URI. */
const maxUriChars = 2048
/** Minimum milliseconds between two announcements about the same resource or list. */
const minIntervalMs = 1000

const isOk = (response: object): boolean => !('error' in response)

/** The subscribers to the resources of a server, by URI. */
class ResourceSubscriptions {
  readonly #byUri = new Map<string, Set<string>>()

  /** Updates the subscribers when the server has answered a subscribe or unsubscribe request. */
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

  /**
   * Answers an unsubscribe request in place of the server while other participants are subscribed: the server has only one
   * client, so it would end the subscriptions of all participants.
   */
  answer(from: string, { method, params }: McpRequestPayload): McpResponsePayload | undefined {
    if (method !== 'resources/unsubscribe') return undefined
    return this.listSubscribers(params).some((each) => each !== from) ? { result: {} } : undefined
  }

  #hasRoom(from: string, uri: string): boolean {
    if (uri.length > maxUriChars || (this.#byUri.size >= maxSubscriptions && !this.#byUri.has(uri)))
      return false
    return [...this.#byUri.values()].filter((each) => each.has(from)).length < maxOwnSubscriptions
  }

  listSubscribers(params: McpRequestPayload['params']): string[] {
    const uri = params?.uri
    return typeof uri === 'string' ? [...(this.#byUri.get(uri) ?? [])] : []
  }
}

/** Sends notifications about changes. If a resource or list changes quickly, sends only the first and the last one. */
class Announcements {
  readonly #space: Pick<SpaceClient, 'send'>
  readonly #log: (line: string) => void
  /** The notification to send after the current one, if any, by method, URI and addressee. */
  readonly #sending = new Map<string, McpRequestPayload | undefined>()

  constructor(space: Pick<SpaceClient, 'send'>, log: (line: string) => void) {
    this.#space = space
    this.#log = log
  }

  /** Sends a notification to a participant; without `to`, to everyone. */
  send(payload: McpRequestPayload, to?: string): void {
    const key = JSON.stringify([payload.method, payload.params?.uri, to])
    const isSending = this.#sending.has(key)
    this.#sending.set(key, isSending ? payload : undefined)
    if (isSending) return
    this.#send(key, payload, to).catch((error: unknown) => this.#log(getErrorMessage(error)))
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
