import { Bounded, dropToolNulls, isObject, Pages, suggest } from '@meup/folds'
import { type AnyEnvelope, type Capability, Kind, makeCompilable, PROTOCOL, SELF } from '@meup/protocol'
import { loadGuards } from '#guard'
import type { BaseClient } from '../client/base-client.js'
import { Notice, ToolError } from '../client/errors.js'
import type { ClientHandler } from '../client/handler.js'
import { OwnCapabilities } from '../client/space-state.js'
import type { ToolResult } from '../client/tool-result.js'
import type { CallOptions } from '../client/types.js'
import { Answers, Patience } from './answers.js'
import { guardDefinition, isPlainName, maxSchemaChars } from './guard-definition.js'
import { listChangedMethod } from './notifications.js'
import { compileChoices, type SpaceTool, type ToolChoice } from './tool-choice.js'

/** A tool of the space that this participant may call or propose. */
export interface CallableTool extends SpaceTool {
  /**
   * Calls or proposes the tool, like `call` of the client or run that listed it. `why`: the public reason; models may omit it.
   */
  call(args: object, options?: Pick<CallOptions, 'signal' | 'timeoutMs' | 'why'>): Promise<ToolResult>
}

type Call = (tool: string, args: object, options?: CallOptions) => Promise<ToolResult>

/** Milliseconds that a participant gets to list its tools. */
const askMs = 5000
const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'meup', version: PROTOCOL },
}
/** Maximum pages read of a participant's list. */
const maxPages = 20
/** Maximum tools per participant, and their maximum characters as JSON. */
const [maxTools, maxToolChars] = [1000, 8 * 1024 * 1024]
/** The JSON-RPC code for unknown methods. */
const methodNotFound = -32601

/** Maximum characters of the tool definitions that are remembered to notice when an offered tool changes. */
const maxOfferedChars = 4e6

/** The tools of the participants of a space. The list of another participant is requested once, and again after changes. */
export class SpaceTools implements ClientHandler {
  readonly #space: BaseClient
  /** Receives errors of requests that no caller awaits. */
  readonly onError: (error: unknown) => void
  readonly #onChange: () => void
  readonly #listOwn: () => Promise<readonly object[]>
  /** This participant's own tools, and the list that they were read from. */
  #own: { readonly listed: readonly object[]; readonly tools: readonly SpaceTool[] } = {
    listed: [],
    tools: [],
  }
  readonly #lists: Answers<readonly SpaceTool[]>
  readonly #instructions: Answers<string>
  /** The definition of each tool when it was last offered, as JSON. */
  readonly #offered = new Bounded<string>(maxOfferedChars, ({ length }) => length)
  readonly #noted = new WeakSet<SpaceTool>()
  /** The capabilities of this participant, to check which tools it may call. */
  readonly #rights = new OwnCapabilities()

  /** `listOwn`: returns the tools of this participant as in `tools/list`; the same array until they change. */
  constructor(
    space: BaseClient,
    listOwn: () => Promise<readonly object[]>,
    onError: (error: unknown) => void,
    onChange: () => void = () => {},
  ) {
    this.#space = space
    this.#listOwn = listOwn
    this.onError = onError
    this.#onChange = onChange
    const onLate = (): void => this.#onChange()
    this.#lists = new Answers({ ask: (id) => this.#askTools(id), none: [], onError, onLate })
    this.#instructions = new Answers({ ask: (id) => this.#askInstructions(id), none: '', onError })
  }

  /** Selects participants whose tools are offered by default: those that the operator configured as tool servers. */
  readonly isDefault = (participant: string): boolean => this.#space.getKind(participant) === 'mcp'

  /** Marks the tools of a participant as stale when it joins, leaves or announces a change. */
  onEnvelope(envelope: AnyEnvelope): void {
    const { from } = envelope
    if (envelope.kind === Kind.systemPresence && envelope.payload.event !== 'update') {
      const { event, participant } = envelope.payload
      this.#expire(participant.id, false)
      // A guest gets another id when it returns, so its answers are dropped.
      if (event === 'leave' && this.#space.getKind(participant.id) === undefined)
        for (const each of [this.#lists, this.#instructions]) each.delete(participant.id)
    } else if (envelope.kind === Kind.systemSpace) {
      if (envelope.payload.event === 'configured') this.#onChange()
    } else if (envelope.kind === Kind.mcpRequest) {
      if (envelope.payload.method === listChangedMethod) this.#expire(from, true)
    }
    for (const each of [this.#lists, this.#instructions]) each.onSent(from)
  }

  /** The chosen tools that this participant may call or propose. */
  async callable(choices: readonly string[] | undefined, call: Call): Promise<readonly CallableTool[]> {
    await makeCompilable(choices ?? [])
    const isWanted = this.compile(choices, this.isDefault)
    const lists = await this.list(this.present(isWanted), this.createPatience())
    this.#rights.update(this.#space.capabilities.map(withAnyArguments))
    return lists
      .flat()
      .filter(({ participant, name }) => isWanted(participant, name) && this.#mayCall(participant, name))
      .map((tool) => ({
        ...tool,
        call: (args, options) => call(`${tool.participant}/${tool.name}`, args, options),
      }))
  }

  /** Compiles patterns of `participant/tool` to a predicate. `me` means this participant, unless another one has that id. */
  compile(
    choices: readonly ToolChoice[] | undefined,
    isDefault: (participant: string) => boolean,
  ): ReturnType<typeof compileChoices> {
    const { id, participants } = this.#space
    const isTaken = participants.some((each) => each.id === SELF)
    return compileChoices(
      choices?.map((each) => (isTaken || typeof each !== 'string' ? each : each.replace(self, `$1${id}$2`))),
      isDefault,
    )
  }

  /** Ids of present participants that may have a chosen tool. */
  present(isWanted: (participant: string) => boolean): string[] {
    const here = this.#space.participants.filter(({ id, status }) => status === 'present' && isWanted(id))
    return here.map(({ id }) => id).sort()
  }

  /** A time budget for the requests of one turn or one list. */
  createPatience(): Patience {
    return new Patience(askMs)
  }

  /** The tools of each participant; empty if it did not answer in time or may not be asked. */
  async list(ids: readonly string[], patience: Patience): Promise<readonly (readonly SpaceTool[])[]> {
    const others = ids.filter((id) => id !== this.#space.id && this.#mayAsk(id, 'tools/list', {}))
    const lists = await this.#lists.read(others, patience)
    const known = new Map(others.map((id, index) => [id, lists[index] ?? []]))
    const own = ids.includes(this.#space.id) ? await this.own() : []
    return ids.map((id) => (id === this.#space.id ? own : (known.get(id) ?? [])))
  }

  /** Adds the nearest tool to the error of a call of an unknown one; returns other errors unchanged. */
  async explainUnknown(tool: string, error: unknown): Promise<unknown> {
    const [, named = '', name = ''] = /^([^/]+)\/(.+)$/s.exec(tool) ?? []
    // Tool servers report an unknown tool in their own words, some as an error and some as a result, so the text is matched.
    if (!(error instanceof ToolError) || !error.message.includes(name)) return error
    if (!/not found|not exist|no tool|unknown/i.test(error.message)) return error
    const id = named === SELF && this.#space.getKind(SELF) === undefined ? this.#space.id : named
    const names = (await this.list([id], this.createPatience())).flat().map((each) => each.name)
    const meant = names.includes(name) ? undefined : suggest(name, names)
    if (meant === undefined) return error
    const { message, code, data, result } = error
    const what = /[.?!]$/.test(message) ? message : `${message}.`
    return new ToolError(`${what} Did you mean ${named}/${meant}?`, code, data, result)
  }

  /** The tools of this participant, in the form for prompts. */
  async own(): Promise<readonly SpaceTool[]> {
    const listed = await this.#listOwn()
    if (listed !== this.#own.listed) {
      const tools = listed.flatMap((each) => this.#read(this.#space.id, each) ?? [])
      this.#own = { listed, tools }
    }
    return this.#own.tools
  }

  /** The participants' instructions for their tools. Asking with `initialize` needs no MCP session [MEUP-3.21]. */
  async instructions(ids: readonly string[], patience: Patience): Promise<ReadonlyMap<string, string>> {
    const asked = ids.filter((id) => id !== this.#space.id && this.#mayAsk(id, 'initialize', initialize))
    const texts = await this.#instructions.read(asked, patience)
    return new Map(asked.map((id, index) => [id, texts[index] ?? '']))
  }

  /** Marks the lists of participants without tools as stale, so that they are requested again: they may have been starting. */
  expireEmpty(): void {
    this.#lists.expireWhere((tools) => tools.length === 0)
  }

  /**
   * Records the tools offered to a model. Returns those whose definition has changed since the last offer, such as `desk/add`:
   * owners may change a tool even after a person has allowed it permanently.
   */
  noteOffered(tools: readonly SpaceTool[]): readonly string[] {
    return tools.flatMap((noted) => {
      // The same object was already compared: a changed list consists of new objects.
      if (this.#noted.has(noted)) return []
      this.#noted.add(noted)
      const { participant, name, definition, ...tool } = noted
      const key = `${participant}/${name}`
      const { description, inputSchema, title, annotations } = {
        ...tool,
        ...definition,
      } as Partial<SpaceTool> & {
        title?: unknown
      }
      const now = JSON.stringify([title, description, inputSchema, annotations])
      const before = this.#offered.get(key)
      this.#offered.renew(key, now)
      return before === undefined || before === now ? [] : [key]
    })
  }

  #expire(id: string, isAnnounced: boolean): void {
    this.#lists.expire(id, { isAnnounced })
    this.#instructions.expire(id, { isAnnounced })
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
    const { instructions } = await this.#ask(id, 'initialize', initialize, performance.now() + askMs)
    return typeof instructions === 'string' ? instructions : ''
  }

  async #askTools(id: string): Promise<readonly SpaceTool[]> {
    await loadGuards()
    const tools = new Map<string, SpaceTool>()
    const deadline = performance.now() + askMs
    let chars = 0
    const pages = new Pages()
    let params: object | undefined = {}
    for (let page = 0; page < maxPages && params !== undefined; page++) {
      const list = await this.#ask(id, 'tools/list', params, deadline, (error) => this.#onUnlisted(id, error))
      for (const each of Array.isArray(list.tools) ? list.tools : []) {
        if (tools.has(String(Object(each).name))) continue
        chars += JSON.stringify(each).length
        if (tools.size === maxTools || chars > maxToolChars) {
          const bounds = `${maxTools} tools, or ${maxToolChars} characters of them`
          const advice = 'Have it offer fewer: many servers take the names of those to include or exclude'
          this.onError(new Notice(`${id} offers more than ${bounds}; the rest is left out. ${advice}`))
          return [...tools.values()]
        }
        const tool = this.#read(id, each)
        if (tool !== undefined) tools.set(tool.name, tool)
      }
      params = pages.next(list)
    }
    return [...tools.values()]
  }

  /** Reads a tool of a list. Reports a tool that a prompt cannot contain. */
  #read(participant: string, each: unknown): SpaceTool | undefined {
    const tool = readTool(participant, each)
    const problem = tool && findProblem(tool)
    if (problem === undefined) return tool
    this.onError(new Notice(`a tool of ${participant} is left out: ${problem}`))
    return undefined
  }

  #onUnlisted(id: string, { code, message }: ToolError): void {
    if (code === methodNotFound) return
    const advice =
      'Have it list fewer at a time, with nextCursor, or raise limits.maxResultBytes in space.yaml'
    const what = message.includes('too large') ? `${message} ${advice}` : message
    this.onError(new Notice(`${id} could not list its tools: ${what}`))
  }

  /** Sends a request. If the participant answers with an error, such as for a missing method, returns an empty object. */
  async #ask(
    id: string,
    method: string,
    params: object,
    deadline: number,
    onRefused: (error: ToolError) => void = () => {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const options = { timeoutMs: Math.max(0, deadline - performance.now()), propose: false }
    return this.#space.request(id, method, params, options).catch((error: unknown) => {
      if (!(error instanceof ToolError)) throw error
      onRefused(error)
      return {}
    })
  }
}

/** Matches `me` as the participant of a choice. */
const self = new RegExp(`^(!?)${SELF}(/|$)`)

/** Reads a callable tool of a list, in the form for prompts. */
function readTool(participant: string, each: unknown): SpaceTool | undefined {
  if (!isObject(each) || typeof each.name !== 'string') return undefined
  const definition = guardDefinition(dropToolNulls(each))
  const { description, inputSchema, annotations } = definition
  return {
    participant,
    name: each.name,
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    ...(typeof description === 'string' && { description }),
    ...(isObject(annotations) && { annotations }),
    definition,
  }
}

function findProblem({ name, inputSchema }: SpaceTool): string | undefined {
  if (!isPlainName(name)) return 'its name cannot be used in a prompt'
  const { length } = JSON.stringify(inputSchema)
  return length > maxSchemaChars
    ? `the schema of ${name} has more than ${maxSchemaChars} characters`
    : undefined
}

/** Removes conditions on arguments, which are not known yet when tools are offered. */
function withAnyArguments(capability: Capability): Capability {
  if (typeof capability === 'string') return capability
  if ('tool' in capability) return { tool: capability.tool }
  const { payload } = capability
  if (!isObject(payload) || !isObject(payload.params)) return capability
  const { arguments: _, ...params } = payload.params
  return { ...capability, payload: { ...payload, params } } as Capability
}
