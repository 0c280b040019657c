import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, Pages } from '@meup/folds'
import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'
import { relayError } from '../errors.js'
import { cancelledError, type RelayedCallOptions, withRequestId } from './calls.js'
import type { McpRelay } from './relay.js'

/**
 * In milliseconds: how long the server keeps a task; minimum and maximum polling interval; timeout of the request for a result.
 */
const [ttlMs, minPollMs, maxPollMs, resultTimeoutMs] = [24 * 60 * 60 * 1000, 100, 60_000, 24 * 60 * 60 * 1000]
/** Maximum pages read of the tool list. */
const maxPages = 20

/** Calls tools that require an MCP task. Polls the task, so that callers see an ordinary call. */
export class ServerTasks {
  readonly #name: string
  readonly #relay: McpRelay
  /** Names of the tools that require a task; `undefined` = the list has to be read. */
  #needed: Promise<ReadonlySet<string>> | undefined

  /** `name`: that of the server in error messages. */
  constructor(name: string, relay: McpRelay) {
    this.#name = name
    this.#relay = relay
  }

  /** Like `McpRelay.request`. Status messages of the task become progress notifications. */
  async request(payload: McpRequestPayload, options: RelayedCallOptions): Promise<McpResponsePayload> {
    const isCall = payload.method === 'tools/call' && hasTasks(this.#relay)
    if (!isCall || !(await this.#listNeeded()).has(payload.params?.name))
      return this.#relay.request(payload, options)
    const params = { ...payload.params, task: { ttl: ttlMs } }
    // The request is not cancelled before the server has responded, because a cancellation needs the id of the task.
    const { signal: _, ...creating } = options
    const created = await this.#relay.request({ ...payload, params }, creating)
    const task = readTask(created.result?.task)
    if (task === undefined) return created
    return withRequestId(payload, await this.#follow(payload, task, options))
  }

  /** Called when the server has changed its tool list. */
  onListChanged(): void {
    this.#needed = undefined
  }

  #listNeeded(): Promise<ReadonlySet<unknown>> {
    this.#needed ??= this.#readNeeded()
    return this.#needed
  }

  async #readNeeded(): Promise<ReadonlySet<string>> {
    const names = new Set<string>()
    const pages = new Pages()
    let params: Record<string, unknown> | undefined = {}
    for (let page = 0; page < maxPages && params !== undefined; page++) {
      const { result } = await this.#relay.request({ jsonrpc: '2.0', method: 'tools/list', params })
      if (result === undefined) {
        this.#needed = undefined // Retried at the next call.
        break
      }
      for (const tool of Array.isArray(result.tools) ? result.tools : []) {
        const { name, execution } = Object(tool) as { name?: unknown; execution?: { taskSupport?: unknown } }
        if (typeof name === 'string' && execution?.taskSupport === 'required') names.add(name)
      }
      params = pages.next(result)
    }
    return names
  }

  async #follow(
    payload: McpRequestPayload,
    created: Task,
    options: RelayedCallOptions,
  ): Promise<McpResponsePayload> {
    const { taskId } = created
    const { signal } = options
    const name = this.#name
    const ask = (method: string, more: RelayedCallOptions = {}): Promise<McpResponsePayload> =>
      this.#relay.request({ jsonrpc: '2.0', method, params: { taskId } }, { ...options, ...more })
    try {
      const report = createReport(payload, options)
      for (let task = created; ; ) {
        report(task.statusMessage)
        // Polling also ends at `input_required`: the server sends its elicitations during the request for the result.
        if (task.status !== 'working') break
        await sleep(clamp(task.pollInterval), undefined, { ...(signal && { signal }) })
        const response = await ask('tasks/get')
        const read = readTask(response.result)
        if (read === undefined)
          return response.error ? response : relayError('no_status', { name, task: taskId })
        task = read
        if (task.status === 'cancelled')
          return relayError('cancelled_by_server', { name, reason: task.statusMessage ?? `task ${taskId}` })
      }
      const response = await ask('tasks/result', { timeoutMs: resultTimeoutMs })
      if (signal?.aborted) await this.#cancel(taskId)
      return response
    } catch (error) {
      if (!signal?.aborted) throw error
      await this.#cancel(taskId)
      return cancelledError(signal)
    }
  }

  async #cancel(taskId: string): Promise<void> {
    // The response is ignored, because the caller no longer waits.
    await this.#relay.request({ jsonrpc: '2.0', method: 'tasks/cancel', params: { taskId } })
  }
}

function hasTasks({ server }: McpRelay): boolean {
  const { tasks } = server.capabilities as { readonly tasks?: { requests?: { tools?: { call?: unknown } } } }
  return isObject(tasks?.requests?.tools?.call)
}

interface Task {
  readonly taskId: string
  readonly status: string
  readonly statusMessage: string | undefined
  readonly pollInterval: unknown
}

function readTask(value: unknown): Task | undefined {
  const { taskId, status, statusMessage, pollInterval } = Object(value) as Record<string, unknown>
  if (typeof taskId !== 'string' || typeof status !== 'string') return undefined
  const message = typeof statusMessage === 'string' ? statusMessage : undefined
  return { taskId, status, statusMessage: message, pollInterval }
}

const clamp = (ms: unknown): number =>
  Math.min(Math.max(typeof ms === 'number' ? ms : 1000, minPollMs), maxPollMs)

/** Creates a function that sends changed status messages as progress, if the caller wants progress. */
function createReport({ params }: McpRequestPayload, { onNotification }: RelayedCallOptions) {
  const { progressToken } = Object(params?._meta) as { readonly progressToken?: unknown }
  let [progress, last]: [number, string | undefined] = [0, undefined]
  return (message: string | undefined): void => {
    if (progressToken === undefined || message === undefined || message === last) return
    last = message
    const report = { progressToken, progress: ++progress, message }
    onNotification?.({ jsonrpc: '2.0', method: 'notifications/progress', params: report })
  }
}
