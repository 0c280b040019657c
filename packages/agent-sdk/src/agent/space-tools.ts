import { isObject } from '@meup/folds'
import { type AnyEnvelope, type Capability, Kind, PROTOCOL } from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import { ConnectionError, ToolError } from '../client/errors.js'
import type { ClientHandler } from '../client/handler.js'
import { OwnCapabilities } from '../client/space-state.js'
import type { ToolResult } from '../client/tool-result.js'
import type { CallOptions } from '../client/types.js'
import { listChangedMethod } from './notifications.js'
import { compileChoices, type SpaceTool } from './tool-choice.js'

/** A tool of another participant that can be called or proposed. */
export interface CallableTool extends SpaceTool {
  /** As `call` of the client or run that listed it. `why`: the reason, for everyone to read; a model may give none. */
  call(args: object, options?: Pick<CallOptions, 'signal' | 'timeoutMs' | 'why'>): Promise<ToolResult>
}

type Call = (tool: string, args: object, options?: CallOptions) => Promise<ToolResult>

/** How a participant is asked about its tools: in so many milliseconds it says what it has. */
const asking = { timeoutMs: 5000, propose: false }
const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'meup', version: PROTOCOL },
}
/** Pages of a list that are read of one participant. */
const maxPages = 20
/** Tools of one participant, and characters of them as JSON, that are read. */
const [maxTools, maxToolChars] = [256, 256 * 1024]

/** What the other participants of a space offer. Asked for once, and again when it changes. */
export class SpaceTools implements ClientHandler {
  readonly #space: BaseClient
  readonly #onError: (error: unknown) => void
  readonly #onChange: () => void
  readonly #lists = new Map<string, Promise<readonly SpaceTool[]>>()
  readonly #instructions = new Map<string, Promise<string>>()
  /** What this participant may do with some arguments. */
  readonly #rights = new OwnCapabilities()

  constructor(space: BaseClient, onError: (error: unknown) => void, onChange: () => void = () => {}) {
    this.#space = space
    this.#onError = onError
    this.#onChange = onChange
  }

  /** Forgets the tools of participants that come, leave, or change their list. */
  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.systemPresence && envelope.payload.event !== 'update') {
      this.#forget(envelope.payload.participant.id)
    } else if (envelope.kind === Kind.mcpRequest) {
      if (envelope.payload.method === listChangedMethod) this.#forget(envelope.from)
    }
  }

  /** Those that may be called or proposed, and are chosen, with what calls them. */
  async callable(choices: readonly string[] | undefined, call: Call): Promise<readonly CallableTool[]> {
    const isWanted = compileChoices(choices)
    const lists = await Promise.all(this.present(isWanted).map((id) => this.list(id)))
    this.#rights.update(this.#space.capabilities.map(withAnyArguments))
    return lists
      .flat()
      .filter(({ participant, name }) => isWanted(participant, name) && this.#mayCall(participant, name))
      .map((tool) => ({
        ...tool,
        call: (args, options) => call(`${tool.participant}/${tool.name}`, args, options),
      }))
  }

  /** Participants that are here and of which some tool can be chosen, by their ids. */
  present(isWanted: (participant: string) => boolean): string[] {
    const { id: own, participants } = this.#space
    const here = participants.filter(({ id, status }) => status === 'present' && id !== own && isWanted(id))
    return here.map(({ id }) => id).sort()
  }

  /** Nothing, where a participant does not answer in time, or may not be asked. */
  list(id: string): Promise<readonly SpaceTool[]> {
    if (!this.#mayAsk(id, 'tools/list', {})) return Promise.resolve([])
    const known = this.#lists.get(id) ?? this.#askTools(id)
    this.#lists.set(id, known)
    return known
  }

  /** How a participant says its tools are used; `''`: it does not. A space is no session of MCP: anybody may ask [MEUP-3.21]. */
  instructions(id: string): Promise<string> {
    if (!this.#mayAsk(id, 'initialize', initialize)) return Promise.resolve('')
    const known = this.#instructions.get(id) ?? this.#askInstructions(id)
    this.#instructions.set(id, known)
    return known
  }

  /** Asks those again who gave no tool, or no answer in time: everything may be starting. */
  forgetEmpty(): void {
    for (const [id, list] of [...this.#lists])
      void list.then((tools) => {
        if (tools.length === 0 && this.#lists.get(id) === list) this.#lists.delete(id)
      })
  }

  #forget(id: string): void {
    this.#lists.delete(id)
    this.#instructions.delete(id)
    if (id !== this.#space.id) this.#onChange()
  }

  #mayAsk(id: string, method: string, params: Record<string, unknown>): boolean {
    const payload = { jsonrpc: '2.0', method, params }
    return this.#space.can({ kind: Kind.mcpRequest, to: [id], payload })
  }

  #mayCall(id: string, name: string): boolean {
    const payload = { jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: {} } }
    return [Kind.mcpRequest, Kind.mcpProposal].some((kind) => this.#rights.allow({ kind, to: [id], payload }))
  }

  async #askInstructions(id: string): Promise<string> {
    try {
      const { instructions } = await this.#space.request(id, 'initialize', initialize, asking)
      return typeof instructions === 'string' ? instructions : ''
    } catch (error) {
      this.#onFailure(this.#instructions, id, error)
      return ''
    }
  }

  async #askTools(id: string): Promise<readonly SpaceTool[]> {
    const tools = new Map<string, SpaceTool>()
    let chars = 0
    try {
      let cursor: unknown
      for (let page = 0; page < maxPages; page++) {
        const params = typeof cursor === 'string' ? { cursor } : {}
        const list = await this.#space.request(id, 'tools/list', params, asking)
        for (const tool of readTools(id, list.tools)) {
          chars += JSON.stringify(tool.definition).length
          if (tools.size === maxTools || chars > maxToolChars) {
            const bounds = `${maxTools} tools, or ${maxToolChars} characters of them`
            this.#onError(new Error(`${id} offers more than ${bounds}; the rest is left out`))
            return [...tools.values()]
          }
          if (!tools.has(tool.name)) tools.set(tool.name, tool)
        }
        cursor = list.nextCursor
        if (cursor === undefined) break
      }
    } catch (error) {
      this.#onFailure(this.#lists, id, error)
    }
    return [...tools.values()]
  }

  #onFailure(known: Map<string, unknown>, id: string, error: unknown): void {
    if (isFinal(error)) return
    known.delete(id) // Next time it may be had.
    this.#onError(error)
  }
}

/** A participant without tools, or without an answer, is asked again only after it joins again. */
const isFinal = (error: unknown): boolean =>
  error instanceof ToolError || (error instanceof ConnectionError && error.code === 'timeout')

/** The tools of a list, as far as they can be called. */
function readTools(participant: string, list: unknown): SpaceTool[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((each: unknown) => {
    if (!isObject(each) || typeof each.name !== 'string') return []
    const { name, description, inputSchema, annotations } = each
    return {
      participant,
      name,
      inputSchema: isObject(inputSchema) ? inputSchema : {},
      ...(typeof description === 'string' && { description }),
      ...(isObject(annotations) && { annotations }),
      definition: each,
    }
  })
}

/** Whether a tool can be called at all is known before its arguments are. */
function withAnyArguments(capability: Capability): Capability {
  if (typeof capability === 'string') return capability
  if ('tool' in capability) return { tool: capability.tool }
  const { payload } = capability
  if (!isObject(payload) || !isObject(payload.params)) return capability
  const { arguments: _, ...params } = payload.params
  return { ...capability, payload: { ...payload, params } } as Capability
}
