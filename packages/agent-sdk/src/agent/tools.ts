import { isElicitation } from '@meup/folds'
import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  getErrorMessage,
  Kind,
  type McpResponsePayload,
  omitUndefined,
  PROTOCOL,
  parseExact,
  stringifyExact,
  type WelcomePayload,
} from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import type { ClientHandler, OwnCall } from '../client/handler.js'
import { setLongTimeout } from '../client/long-timeout.js'
import type { PendingRequests } from '../client/pending-requests.js'
import { ReplayEnd } from '../client/replay-end.js'
import type { Draft } from '../client/types.js'
import { agentErrors } from './errors.js'
import { GoneAskers } from './gone-askers.js'
import {
  listChangedMethod,
  type Notification,
  progressMethod,
  RequestNotifications,
} from './notifications.js'
import type { OwnTool, ToolContext } from './own-tool.js'
import { ReasoningContext } from './reasoning.js'
import { createErrorResponse, internalError, respond } from './respond.js'
import type { SpaceTools } from './space-tools.js'

type Request = EnvelopeOf<typeof Kind.mcpRequest>

/**
 * Handles requests that do not call a tool. `notify` sends an MCP notification about the request to its asker, until it is
 * answered.
 */
export type Fallback = (
  request: Request,
  signal: AbortSignal,
  notify: (notification: Notification) => void,
) => Promise<McpResponsePayload | undefined>

interface Running {
  readonly request: Request
  /** Characters of the request's payload as JSON. */
  readonly chars: number
  readonly abort: AbortController
  readonly answered: Promise<void>
  /** Called when the request is in the log. */
  onLogged(): void
}

/** Standard codes of JSON-RPC, and one from its implementation-defined range. */
const [methodNotFound, invalidParams, tooManyOpen] = [-32601, -32602, -32000]
/** Maximum open calls per asker, and their maximum characters. Further calls are answered with an error. */
const [maxOwnRunning, maxOwnChars] = [1000, 16 * 1024 * 1024]

const cancelledMethod = 'notifications/cancelled'

/** The tools of a participant, served as MCP [MEUP-3.8]. */
export class Tools implements ClientHandler {
  readonly #space: BaseClient
  readonly #requests: PendingRequests
  readonly #replayed: ReplayedRequests
  readonly #others: SpaceTools
  readonly #tools = new Map<string, OwnTool>()
  /** The result of `tools/list`, computed on demand. */
  #listing: Promise<readonly object[]> | undefined
  /** Running calls by envelope id: JSON-RPC ids are unique only within a connection of the asker, if at all. */
  readonly #running = new Map<string, Running>()
  /** Ids of calls that this client sent to its own participant. */
  readonly #ownCalls = new Set<string>()
  readonly #onError: (error: unknown, request: Request) => void
  readonly #notifications: RequestNotifications
  /** Called when a request has to wait for a handler. */
  readonly #onWaiting: () => void
  #cancelListing: (() => void) | undefined
  /** Askers of the tool list with their latest request: they are notified when the list changes. */
  readonly #readers = new Map<string, Request>()
  readonly #gone = new GoneAskers({
    isAsking: (id) => [...this.#running.values()].some(({ request }) => request.from === id),
    onGone: (isGone) => {
      for (const { request, abort } of this.#running.values())
        if (isGone(request)) abort.abort('its caller has gone')
    },
  })
  #willNotify = false
  #willRelease = false
  #fallback: Fallback | undefined

  /** `others`: the tools that reasoning runs of handlers may call. `holds`: requests wait until the first tool is added. */
  constructor(
    space: BaseClient,
    requests: PendingRequests,
    others: SpaceTools,
    {
      holds,
      onWaiting,
      onError,
    }: {
      readonly holds: boolean
      onWaiting(): void
      onError(error: unknown, request: Request): void
    },
  ) {
    this.#space = space
    this.#others = others
    this.#requests = requests
    this.#replayed = new ReplayedRequests((request) => this.#mayConcern(request), holds, space)
    this.#onWaiting = onWaiting
    this.#onError = onError
    this.#notifications = new RequestNotifications(space, onError)
  }

  get isOffering(): boolean {
    return this.#tools.size > 0 || this.#fallback !== undefined
  }

  /** Adds a tool. Throws `TypeError` if another tool has this name. */
  add(tool: OwnTool): void {
    const known = this.#tools.get(tool.name)
    if (known === tool) return
    if (known !== undefined) throw agentErrors.offeredTool(tool.name)
    this.#tools.set(tool.name, tool)
    this.#listing = undefined
    this.#onOffered()
  }

  /** Sets the handler of requests that do not call a tool. */
  serve(handler: Fallback): void {
    this.#fallback = handler
    this.#onOffered()
  }

  /** Answers tool listings even if no tool is added yet. */
  answerListings(): void {
    for (const request of this.#replayed.allow(isListing)) this.#onRequest(request)
  }

  /** Handles the held requests, and holds no more. Returns how many expect an answer from this client. */
  handleHeld(): number {
    const held = this.#replayed.allow(() => true)
    for (const request of held) this.#onRequest(request)
    return held.filter(
      (request) =>
        request.to && !request.payload.method.startsWith('notifications/') && this.#isMine(request),
    ).length
  }

  onClose(): void {
    this.#gone.onClose()
    this.#cancelListing?.()
    for (const { abort } of this.#running.values()) abort.abort('the space was closed')
  }

  /** Called when a tool or a handler is added. Handles the held requests once those added in the same tick are known too. */
  #onOffered(): void {
    if (!this.#willRelease) {
      this.#willRelease = true
      setLongTimeout(0, () => {
        this.#willRelease = false
        this.handleHeld()
      })
    }
    if (this.#readers.size === 0 || this.#willNotify) return
    this.#willNotify = true
    queueMicrotask(() => this.#notifyReaders()) // Notifies once for tools that are added in a row.
  }

  #notifyReaders(): void {
    this.#willNotify = false
    const [last] = [...this.#readers.values()].slice(-1)
    const to = [...this.#readers.keys()]
    this.#readers.clear() // Interested readers request the list again.
    const change: Draft = {
      kind: Kind.mcpRequest,
      to,
      payload: { jsonrpc: '2.0', method: listChangedMethod },
    }
    if (last === undefined || !this.#space.can(change)) return
    this.#space.send(change).catch((error: unknown) => this.#onError(error, last))
  }

  onEnvelope(envelope: AnyEnvelope): void {
    this.#gone.onEnvelope(envelope)
    if (this.#requests.isNotification(envelope) || isAboutCall(envelope)) return
    for (const request of this.#replayed.onEnvelope(envelope)) this.#onRequest(request)
    if (this.#replayed.isHolding) this.#onHeld()
  }

  onWelcome(welcome: WelcomePayload): void {
    this.#gone.onWelcome(welcome)
    const isHuman = welcome.participants.some(({ id, kind }) => id === this.#space.id && kind === 'human')
    if (isHuman) this.#replayed.allow(() => true)
    for (const request of this.#replayed.onWelcome(welcome)) this.#onRequest(request)
  }

  #onHeld(): void {
    this.#onWaiting()
    this.#cancelListing ??= setLongTimeout(listingMs, () => this.answerListings())
  }

  /**
   * Handles a request in any context: a subscription that filters its view does not change which requests need answers
   * [MEUP-8.3].
   */
  #onRequest(request: Request): void {
    if (!this.#isMine(request)) return
    const running = this.#running.get(request.id)
    if (running !== undefined) {
      running.onLogged()
      return
    }
    if (request.payload.method === cancelledMethod) {
      this.#cancelled(request)?.abort.abort(request.payload.params?.reason ?? 'cancelled by the asker')
      return
    }
    this.#begin(request, Promise.resolve(), () => {})
  }

  onOwnCall(call: OwnCall, over: AbortSignal): void {
    this.#ownCalls.add(call.id)
    over.addEventListener('abort', () => this.#ownCalls.delete(call.id))
    this.#runAtOnce(call, over)
  }

  /**
   * Runs a read-only tool immediately. Its result is held until the call is in the log, and dropped if the gateway refuses the
   * call.
   */
  #runAtOnce({ id, to, context, payload }: OwnCall, over: AbortSignal): void {
    const tool = this.#tools.get(String(payload.params?.name))
    if (payload.method !== 'tools/call' || tool?.annotations?.readOnlyHint !== true) return
    const json = stringifyExact(payload)
    if (!this.#hasRoom(this.#space.id, json.length)) return
    const ts = new Date(this.#space.gatewayTime()).toISOString()
    const request: Request = {
      ...{ protocol: PROTOCOL, id, ts, from: this.#space.id, to: [...to], kind: Kind.mcpRequest },
      ...omitUndefined({ context }),
      payload: parseExact(json) as Request['payload'],
    }
    let onLogged = (): void => {}
    const logged = new Promise<void>((resolve) => {
      onLogged = () => {
        over.removeEventListener('abort', drop)
        resolve()
      }
    })
    const drop = (): void => {
      abort?.abort(over.reason)
      onLogged()
    }
    const abort = this.#begin(request, logged, onLogged)
    over.addEventListener('abort', drop)
  }

  /** `logged`: resolves when the request is in the log. */
  #begin(request: Request, logged: Promise<void>, onLogged: () => void): AbortController | undefined {
    const chars = JSON.stringify(request.payload).length
    const hasRoom = this.#hasRoom(request.from, chars)
    const abort = new AbortController()
    const answering = hasRoom ? this.#answer(request, logged, abort.signal) : this.#decline(request)
    const answered = answering
      .catch((error: unknown) => this.#onError(error, request))
      .finally(() => this.#running.delete(request.id))
    if (hasRoom) this.#running.set(request.id, { request, chars, abort, answered, onLogged })
    return abort
  }

  /** Limits the open calls of one asker, so that others can still be served. */
  #hasRoom(asker: string, chars: number): boolean {
    if (this.#running.size === 0) return true
    let [count, sum] = [1, chars]
    for (const { request, chars: own } of this.#running.values()) {
      if (request.from !== asker) continue
      count++
      sum += own
    }
    return count <= maxOwnRunning && sum <= maxOwnChars
  }

  async #decline(request: Request): Promise<void> {
    if (request.payload.method.startsWith('notifications/')) return
    const message = `${request.from} has too many calls open here; call again when some have ended`
    await respond(this.#space, request, createErrorResponse(tooManyOpen, message))
  }

  /** Resolves when all pending requests are answered. */
  async settled(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ answered }) => answered))
  }

  /** Finds the call that a cancellation refers to. A JSON-RPC id alone must match exactly one call. */
  #cancelled(notification: Request): Running | undefined {
    const ids = correlations(notification)
    const { requestId } = notification.payload.params ?? {}
    const own = [...this.#running.values()].filter(({ request }) => request.from === notification.from)
    const meant = own.filter(({ request: { id, payload } }) =>
      ids.length > 0 ? ids.includes(id) : requestId === (payload.id ?? id),
    )
    return meant.length === 1 ? meant[0] : undefined
  }

  /**
   * Whether this client answers a request. A request to everyone is answered only by participants that have the tool. A request
   * of this participant to itself may be only a log entry, which its sender answers: this client answers it only if it has the
   * tool, or sent the request as a call.
   */
  #isMine(request: Request): boolean {
    if (!this.#mayConcern(request)) return false
    const { id, from, to, payload } = request
    if (payload.method === 'tools/call' && this.#tools.has(String(payload.params?.name))) return true
    if (from !== this.#space.id) return to !== undefined
    return payload.method === cancelledMethod || this.#ownCalls.has(id)
  }

  /**
   * Whether a request is addressed to this participant. If this participant also sent the request and it has a session, that
   * must be the session of this client [MEUP-2.14].
   */
  #mayConcern({ from, to, session }: Request): boolean {
    const { id, welcome } = this.#space
    if (from !== id) return to?.includes(id) !== false
    return to?.includes(id) === true && (session === undefined || session === welcome.you.session)
  }

  async #answer(request: Request, logged: Promise<void>, signal: AbortSignal): Promise<void> {
    const answer = await this.#outcome(request, signal)
    await logged
    this.#notifications.end(request, !signal.aborted)
    if (request.payload.method.startsWith('notifications/') || signal.aborted) return
    await respond(this.#space, request, answer)
  }

  async #outcome(request: Request, signal: AbortSignal): Promise<McpResponsePayload> {
    try {
      return (
        (await this.#own(request, signal)) ??
        (await this.#fallback?.(request, signal, (notification) =>
          this.#notifications.notify(request, notification),
        )) ??
        unknown(request)
      )
    } catch (error) {
      return createErrorResponse(internalError, getErrorMessage(error))
    }
  }

  async #own(request: Request, signal: AbortSignal): Promise<McpResponsePayload | undefined> {
    const { method, params } = request.payload
    if (this.#fallback !== undefined && this.#tools.size === 0) return undefined
    if (method === 'ping') return { result: {} }
    if (method === 'initialize') return this.#fallback ? undefined : { result: this.#introduce(params) }
    if (method === 'tools/list') {
      this.#readers.set(request.from, request)
      return { result: { tools: await this.list() } }
    }
    const tool = this.#tools.get(String(params?.name))
    if (method !== 'tools/call') return undefined
    if (tool === undefined)
      return this.#fallback
        ? undefined
        : createErrorResponse(invalidParams, `there is no tool ${String(params?.name)}`)
    return { result: await this.#run(tool, request, signal) }
  }

  /** Answers `initialize`, which is optional [MEUP-3.21]; the asker chooses the MCP revision. */
  #introduce({ protocolVersion = '2025-06-18' }: Record<string, unknown> = {}): Record<string, unknown> {
    const serverInfo = { name: this.#space.id, version: PROTOCOL }
    return { protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo }
  }

  async #run(tool: OwnTool, request: Request, signal: AbortSignal): Promise<Record<string, unknown>> {
    try {
      const checked = await tool.input.check(request.payload.params?.arguments ?? {}, 'the arguments')
      if ('problem' in checked) return failed(`wrong arguments: ${checked.problem}`)
      signal.throwIfAborted()
      const reason: ToolContext['reason'] = (message, options) =>
        ReasoningContext.open(
          this.#space,
          { trigger: request.id, signal, tools: this.#others },
          message,
          options,
        )
      const progress: ToolContext['progress'] = (value, total, message) =>
        this.#notifications.notify(request, {
          method: progressMethod,
          params: { progress: value, ...omitUndefined({ total, message }) },
        })
      return toResult(await tool.handler(checked.value as never, { signal, request, progress, reason }))
    } catch (error) {
      return failed(getErrorMessage(error))
    }
  }

  /** The tools in the form of `tools/list`. A tool that cannot be described is omitted and reported. */
  list(): Promise<readonly object[]> {
    this.#listing ??= Promise.all([...this.#tools.values()].map((tool) => this.#describe(tool))).then(
      (described) => described.flatMap((each) => each ?? []),
    )
    return this.#listing
  }

  async #describe({ name, description, annotations, input }: OwnTool): Promise<object | undefined> {
    try {
      return { name, ...omitUndefined({ description, annotations }), inputSchema: await input.jsonSchema }
    } catch (error) {
      this.#others.onError(error)
      return undefined
    }
  }
}

/** Whether a request is an elicitation about a call. The connection that made the call handles it, not the tools. */
const isAboutCall = ({ kind, payload, correlationId }: AnyEnvelope): boolean =>
  kind === Kind.mcpRequest && isElicitation({ ...payload }) && correlationId !== undefined

const text = (value: string) => [{ type: 'text', text: value }]
const failed = (message: string): Record<string, unknown> => ({ content: text(message), isError: true })
const unknown = ({ payload }: Request): McpResponsePayload =>
  createErrorResponse(methodNotFound, `${payload.method} is not offered here`)

function toResult(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray((value as { content?: unknown }).content)) return value as Record<string, unknown>
    if (!Array.isArray(value)) return { content: text(stringifyExact(value)), structuredContent: value }
  }
  return { content: text(typeof value === 'string' ? value : (stringifyExact(value) ?? '')) }
}

/** Requests that every participant sends to a new one. They are answered early, because askers wait at most five seconds. */
const isListing = ({ payload }: Request): boolean =>
  ['tools/list', 'initialize', 'ping'].includes(payload.method)
/** Milliseconds that listing requests wait for the first tool. */
const listingMs = 1000

/** Maximum requests that wait for the end of a replay or for a tool; the oldest are dropped. */
const maxWaiting = 10_000

/**
 * Holds requests that cannot be handled yet. Those of a replay wait for its end, because their answer or cancellation may
 * follow [MEUP-13.6]. With `holds`, all wait until `allow`.
 */
export class ReplayedRequests {
  readonly #concerns: (request: Request) => boolean
  readonly #client: { readonly id: string }
  readonly #waiting = new Map<string, Request>()
  #passes: (request: Request) => boolean
  readonly #replay = new ReplayEnd()

  constructor(concerns: (request: Request) => boolean, holds: boolean, client: { readonly id: string }) {
    this.#concerns = concerns
    this.#client = client
    this.#passes = () => !holds
  }

  /** Whether requests are held although no replay is in progress. */
  get isHolding(): boolean {
    return !this.#replay.isReplaying && this.#waiting.size > 0
  }

  /** Adds a predicate for requests that need not wait. Returns those to handle now. */
  allow(passes: (request: Request) => boolean): readonly Request[] {
    const before = this.#passes
    this.#passes = (request) => passes(request) || before(request)
    return this.#replay.isReplaying ? [] : this.#release()
  }

  /** Returns the requests to handle now. */
  onWelcome(welcome: WelcomePayload): readonly Request[] {
    if (welcome.resume.status === 'lost') this.#waiting.clear()
    this.#replay.onWelcome(welcome)
    return this.#replay.isReplaying ? [] : this.#release()
  }

  /** Returns the requests to handle now. */
  onEnvelope(envelope: AnyEnvelope): readonly Request[] {
    const { kind, from } = envelope
    if (!this.#replay.isReplaying && this.#waiting.size === 0) {
      if (kind !== Kind.mcpRequest) return []
      if (this.#passes(envelope)) return [envelope]
    }
    if (kind === Kind.mcpRequest) this.#hold(envelope)
    else if (kind === Kind.mcpResponse && from === this.#client.id) {
      for (const id of correlations(envelope)) this.#waiting.delete(id)
    }
    this.#replay.onEnvelope(envelope)
    return this.#replay.isReplaying ? [] : this.#release()
  }

  #hold(request: Request): void {
    if (!this.#concerns(request)) return
    const { id, from, payload } = request
    if (payload.method === cancelledMethod) {
      const cancelled = correlations(request).filter((each) => this.#waiting.get(each)?.from === from)
      for (const each of cancelled) this.#waiting.delete(each)
      if (cancelled.length > 0) return
    }
    this.#waiting.set(id, request)
    if (this.#waiting.size > maxWaiting) this.#waiting.delete(this.#waiting.keys().next().value ?? '')
  }

  #release(): readonly Request[] {
    const released = [...this.#waiting.values()].filter((request) => this.#passes(request))
    for (const { id } of released) this.#waiting.delete(id)
    return released
  }
}
