import type { EnvelopeOf, Kind, McpResponsePayload } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import type { Seat } from '../participant/seat.js'
import { Reasoning, type ReasonOptions } from '../reasoning/reasoning.js'
import { Reports } from './reports.js'
import { failure, internalError, respond } from './respond.js'
import { checkInput, type InputOf, type InputSchema, jsonSchemaOf } from './schema.js'

type Request = EnvelopeOf<typeof Kind.mcpRequest>

export interface ToolDefinition<Schema extends InputSchema> {
  readonly description?: string
  /** TypeBox or any Standard Schema; without it the tool takes no arguments. */
  readonly input?: Schema
}

export interface ToolContext {
  /** Aborted when the asker cancels or the space closes. */
  readonly signal: AbortSignal
  readonly request: Request
  /** Tells the asker how far the work is; one that did not ask for it is not told. `value` grows, up to `total`. */
  progress(value: number, total?: number, message?: string): void
  /** Opens a run about this request. */
  reason(message?: string, options?: ReasonOptions): Promise<Reasoning>
}

/** Gives back text, a value for `structuredContent`, or a whole MCP result (an object with `content`). */
export type ToolHandler<Schema extends InputSchema> = (args: InputOf<Schema>, context: ToolContext) => unknown

/** `report` tells the asker of progress, in the words of MCP: `{progress, total?, message?}`. */
export type Fallback = (
  request: Request,
  signal: AbortSignal,
  report: (progress: object) => void,
) => Promise<McpResponsePayload | undefined>

interface Tool {
  readonly description: string | undefined
  readonly input: InputSchema
  readonly handler: (args: never, context: ToolContext) => unknown
}

/** JSON-RPC's own codes. */
const [methodNotFound, invalidParams] = [-32601, -32602]

/** The tools of one participant, served as MCP [MEUP-3.8]. */
export class Tools {
  readonly #space: Seat
  readonly #tools = new Map<string, Tool>()
  readonly #running = new Map<string, { abort: AbortController; answered: Promise<void> }>()
  readonly #onTrouble: (error: unknown, request: Request) => void
  readonly #reports: Reports
  fallback: Fallback | undefined

  constructor(space: Seat, onTrouble: (error: unknown, request: Request) => void) {
    this.#space = space
    this.#onTrouble = onTrouble
    this.#reports = new Reports(space, onTrouble)
  }

  add<Schema extends InputSchema>(
    name: string,
    definition: ToolDefinition<Schema>,
    handler: ToolHandler<Schema>,
  ): void {
    if (this.#tools.has(name)) throw new TypeError(`the tool ${name} is offered already`)
    const { description, input = Type.Object({}) } = definition
    this.#tools.set(name, { description, input, handler: handler as Tool['handler'] })
  }

  /** A request in any context: what is filtered from view must be answered all the same [MEUP-8.3]. */
  take(request: Request): void {
    if (request.from === this.#space.id || !this.#isMine(request)) return
    const { method, params } = request.payload
    if (method === 'notifications/cancelled') {
      this.#running
        .get(`${request.from} ${String(params?.requestId)}`)
        ?.abort.abort(params?.reason ?? 'cancelled by the asker')
      return
    }
    const key = `${request.from} ${String(request.payload.id ?? request.id)}`
    const abort = new AbortController()
    const answered = this.#answer(request, abort.signal)
      .catch((error: unknown) => this.#onTrouble(error, request))
      .finally(() => this.#running.delete(key))
    this.#running.set(key, { abort, answered })
  }

  /** Resolves when everything that is being asked is answered. */
  async settled(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ answered }) => answered))
  }

  close(): void {
    for (const { abort } of this.#running.values()) abort.abort('the space was closed')
  }

  /** What is asked of everyone is answered by those who can. */
  #isMine({ to, payload }: Request): boolean {
    if (to !== undefined) return to.includes(this.#space.id)
    return payload.method === 'tools/call' && this.#tools.has(String(payload.params?.name))
  }

  async #answer(request: Request, signal: AbortSignal): Promise<void> {
    const answer = await this.#outcome(request, signal)
    this.#reports.end(request)
    if (request.payload.method.startsWith('notifications/') || signal.aborted) return
    await respond(this.#space, request, answer)
  }

  async #outcome(request: Request, signal: AbortSignal): Promise<McpResponsePayload> {
    try {
      return (
        (await this.#own(request, signal)) ??
        (await this.fallback?.(request, signal, (progress) => this.#reports.report(request, progress))) ??
        unknown(request)
      )
    } catch (error) {
      return failure(internalError, error instanceof Error ? error.message : String(error))
    }
  }

  async #own(request: Request, signal: AbortSignal): Promise<McpResponsePayload | undefined> {
    const { method, params } = request.payload
    if (this.fallback !== undefined && this.#tools.size === 0) return undefined
    if (method === 'ping') return { result: {} }
    if (method === 'tools/list') return { result: { tools: this.#list() } }
    const tool = this.#tools.get(String(params?.name))
    if (method !== 'tools/call') return undefined
    if (tool === undefined)
      return this.fallback ? undefined : failure(invalidParams, `there is no tool ${String(params?.name)}`)
    return { result: await this.#run(tool, request, signal) }
  }

  async #run(tool: Tool, request: Request, signal: AbortSignal): Promise<Record<string, unknown>> {
    try {
      const checked = await checkInput(tool.input, request.payload.params?.arguments ?? {})
      if ('problem' in checked) return failed(`wrong arguments: ${checked.problem}`)
      signal.throwIfAborted()
      const reason: ToolContext['reason'] = (message, options) =>
        Reasoning.open(this.#space, { trigger: request.id, signal }, message, options)
      const progress: ToolContext['progress'] = (value, total, message) =>
        this.#reports.report(request, {
          progress: value,
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message }),
        })
      return toResult(await tool.handler(checked.value as never, { signal, request, progress, reason }))
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  #list(): object[] {
    return [...this.#tools].map(([name, { description, input }]) => ({
      name,
      ...(description !== undefined && { description }),
      inputSchema: jsonSchemaOf(input),
    }))
  }
}

const text = (value: string) => [{ type: 'text', text: value }]
const failed = (message: string): Record<string, unknown> => ({ content: text(message), isError: true })
const unknown = ({ payload }: Request): McpResponsePayload =>
  failure(methodNotFound, `${payload.method} is not offered here`)

function toResult(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray((value as { content?: unknown }).content)) return value as Record<string, unknown>
    if (!Array.isArray(value)) return { content: text(JSON.stringify(value)), structuredContent: value }
  }
  return { content: text(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')) }
}
