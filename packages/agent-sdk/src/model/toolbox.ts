import { type AnyEnvelope, Kind, PROTOCOL } from '@meup/protocol'
import { compileSafety, defaultSafety, type Safety } from '@meup/safety'
import type { BaseClient } from '../client/base-client.js'
import { ConnectionError, ToolError } from '../client/errors.js'
import { isRecord, withRationale } from './rationale.js'
import { compileChoices, type SpaceTool, type ToolChoice } from './tool-choice.js'

/** A tool as it is offered to a model. */
export interface OfferedTool extends SpaceTool {
  /** The name of the argument that asks for a reason. */
  readonly rationaleKey: string
}

/** What a model may call. */
export interface Offer {
  /** By the names that the model sees. */
  readonly tools: ReadonlyMap<string, OfferedTool>
  /** What the owners of these tools say of how to use them, by participant. */
  readonly instructions: ReadonlyMap<string, string>
}

/** How a participant is asked about its tools: in so many milliseconds it says what it has. */
const asking = { timeoutMs: 5000, propose: false }
/** Tools that a model gets: some providers refuse requests with more. */
const maxOffered = 128
/** Characters of the instructions of one participant, which the model receives at each step. */
const maxInstructionsChars = 4096
/** Pages of a list that are read of one participant. */
const maxPages = 20
/** Tools of one participant, and characters of them as JSON, that are read. */
const [maxTools, maxToolChars] = [256, 256 * 1024]

/** What the other participants of a space offer, as tools of a model. Asked for once, and again when it changes. */
export class Toolbox {
  readonly #space: BaseClient
  /** Known already. */
  readonly #own: readonly SpaceTool[]
  readonly #isWanted: ReturnType<typeof compileChoices>
  readonly #onError: (error: unknown) => void
  #hasWarned = false
  readonly #known = new Map<string, Promise<Listed>>()

  /** Without choices: everything that participants offer who may be asked. Throws `PatternError`. */
  constructor(
    space: BaseClient,
    choices: readonly ToolChoice[] | undefined,
    onError: (error: unknown) => void,
  ) {
    this.#space = space
    this.#own = choices?.filter((choice) => typeof choice !== 'string') ?? []
    this.#isWanted = compileChoices(choices)
    this.#onError = onError
  }

  /** Forgets the tools of participants that join or change their list. */
  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.systemPresence && envelope.payload.event === 'join') {
      this.#known.delete(envelope.payload.participant.id)
    } else if (envelope.kind === Kind.mcpRequest) {
      if (envelope.payload.method === 'notifications/tools/list_changed') this.#known.delete(envelope.from)
    }
  }

  /** Tools that a participant does not list in time are left out. */
  async offered(): Promise<Offer> {
    const here = this.#space.participants
      .filter(({ id, status }) => status === 'present' && this.#isChosen(id))
      .sort((a, b) => (a.id < b.id ? -1 : 1)) // Whoever came first: the model's request begins as the last one did.
    const lists = await Promise.all(here.map(async ({ id }) => ({ id, ...(await this.#listTools(id)) })))
    const found = lists
      .flatMap(({ tools }) => tools)
      .filter(({ participant, name }) => this.#isChosen(participant, name))
    const kept = [...this.#own, ...takeInTurn(found, maxOffered - this.#own.length)].slice(0, maxOffered)
    this.#warnOfLeftOut(this.#own.length + found.length)
    const tools = kept.map((tool) => {
      const { schema, key } = withRationale(tool.inputSchema)
      return { ...tool, inputSchema: schema, rationaleKey: key }
    })
    const owners = new Set(tools.map(({ participant }) => participant))
    const instructions = lists.flatMap(({ id, instructions: text }) =>
      owners.has(id) && text !== '' ? [[id, text] as const] : [],
    )
    return { tools: nameTools(tools), instructions: new Map(instructions) }
  }

  #warnOfLeftOut(count: number): void {
    if (count <= maxOffered || this.#hasWarned) return
    this.#hasWarned = true
    const advice = "choose with the option tools, such as ['files/read_*', '!files/write_*']"
    this.#onError(new Error(`there are ${count} tools, and the model gets ${maxOffered} of them: ${advice}`))
  }

  /** Whether some tool of a participant, or this one, is among the choices. */
  #isChosen(participant: string, tool?: string): boolean {
    return participant !== this.#space.id && this.#isWanted(participant, tool)
  }

  #listTools(id: string): Promise<Listed> {
    if (!this.#mayAsk(id, 'tools/list', {})) return Promise.resolve({ tools: [], instructions: '' })
    const known = this.#known.get(id) ?? this.#ask(id)
    this.#known.set(id, known)
    return known
  }

  #mayAsk(id: string, method: string, params: Record<string, unknown>): boolean {
    const payload = { jsonrpc: '2.0', method, params }
    return this.#space.can({ kind: Kind.mcpRequest, to: [id], payload })
  }

  /** Outside of any run: to know of tools is no decision of the model, and serves more than one turn. */
  async #ask(id: string): Promise<Listed> {
    const tools = await this.#askTools(id)
    const isWanted = tools.some(({ name }) => this.#isChosen(id, name))
    return { tools, instructions: isWanted ? await this.#askInstructions(id) : '' }
  }

  /** `''`: it has none. A space is no session of MCP: anybody may ask for them again [MEUP-3.21]. */
  async #askInstructions(id: string): Promise<string> {
    const clientInfo = { name: 'meup', version: PROTOCOL }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    if (!this.#mayAsk(id, 'initialize', params)) return ''
    try {
      const { instructions } = await this.#space.request(id, 'initialize', params, asking)
      return typeof instructions === 'string' ? guardInstructions(instructions).trim() : ''
    } catch (error) {
      this.#onFailure(id, error)
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
          chars += JSON.stringify(tool).length
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
      this.#onFailure(id, error)
    }
    return [...tools.values()]
  }

  #onFailure(id: string, error: unknown): void {
    if (isFinal(error)) return
    this.#known.delete(id) // Next time it may be had.
    this.#onError(error)
  }
}

/** What a participant says of its tools. */
interface Listed {
  readonly tools: readonly SpaceTool[]
  readonly instructions: string
}

let safety: Safety | undefined

/** What a model reads of instructions: without secrets and prompt markers, and not more than so much. */
function guardInstructions(text: string): string {
  safety ??= compileSafety({ ...defaultSafety, maxLength: maxInstructionsChars })
  return safety.guard(text).text
}

/** A participant without tools, or without an answer, is asked again only after it joins again. */
const isFinal = (error: unknown): boolean =>
  error instanceof ToolError || (error instanceof ConnectionError && error.code === 'timeout')

/** The tools of a list, as far as they can be called. */
function readTools(participant: string, list: unknown): SpaceTool[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((each: unknown) => {
    if (!isRecord(each) || typeof each.name !== 'string') return []
    const { name, description, inputSchema } = each
    const schema = isRecord(inputSchema) ? inputSchema : {}
    return { participant, name, inputSchema: schema, ...(typeof description === 'string' && { description }) }
  })
}

/** At most so many tools: the first of each participant, then the second ones, and so on. Their order stays. */
function takeInTurn(tools: readonly SpaceTool[], max: number): readonly SpaceTool[] {
  const counts = new Map<string, number>()
  const ranked = tools.map((tool) => {
    const rank = counts.get(tool.participant) ?? 0
    counts.set(tool.participant, rank + 1)
    return { tool, rank }
  })
  const first = ranked.sort((a, b) => a.rank - b.rank).slice(0, Math.max(0, max))
  const taken = new Set(first.map(({ tool }) => tool))
  return tools.filter((tool) => taken.has(tool))
}

/** What every provider accepts as the name of a tool: at most this many letters, digits, `_` and `-`. */
const maxNameChars = 64

/**
 * Names by which a model calls the tools: `participant__tool`, without what providers refuse. Where two would be alike,
 * or one too long, the later ones get a number. The same tools in the same order have the same names.
 */
function nameTools<Tool extends Pick<SpaceTool, 'participant' | 'name'>>(
  tools: readonly Tool[],
): Map<string, Tool> {
  const named = new Map<string, Tool>()
  for (const tool of tools) {
    const plain = `${tool.participant}__${tool.name}`.replace(/[^\w-]/g, '_')
    const wanted = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`
    named.set(freeName(wanted, named), tool)
  }
  return named
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`
    const name = `${wanted.slice(0, maxNameChars - suffix.length)}${suffix}`
    if (!taken.has(name)) return name
  }
}
