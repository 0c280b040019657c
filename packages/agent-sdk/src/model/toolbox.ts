import { cut } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import type { Patience } from '../agent/answers.js'
import { guardText } from '../agent/guard-text.js'
import { SpaceTools } from '../agent/space-tools.js'
import type { compileChoices, SpaceTool, ToolChoice } from '../agent/tool-choice.js'
import type { BaseClient } from '../client/base-client.js'
import { Notice } from '../client/errors.js'
import { type AgentOptions, isOwnTool } from './options.js'
import { type AskedArguments, askArguments } from './rationale.js'

export type OfferedTool = Omit<SpaceTool, 'inputSchema'> & AskedArguments

/** The tools and their instructions in a request to a model. */
export interface Offer {
  /** The tools, by the names that the model sees. */
  readonly tools: ReadonlyMap<string, OfferedTool>
  /** The instructions of participants for their tools, by participant. */
  readonly instructions: ReadonlyMap<string, string>
}

/** Maximum tools per request: some providers refuse more. */
const maxOffered = 128
/** Maximum characters of a participant's tools as JSON, since every request contains them. */
const maxParticipantChars = 256 * 1024
/** Maximum characters of a participant's instructions, since every request contains them. */
const maxInstructionsChars = 4096

/** Collects the tools of a space that are offered to a model. */
export class Toolbox {
  readonly #found: SpaceTools
  readonly #self: string
  /** Tools of other participants that were passed as objects. */
  readonly #known: readonly SpaceTool[]
  /** Names of own tools that were passed as objects; they are always offered. */
  readonly #given: ReadonlySet<string>
  readonly #isWanted: ReturnType<typeof compileChoices>
  readonly #onError: (error: unknown) => void
  /** Tools in the form for the model, cached so that they are the same in each step. */
  readonly #asked = new WeakMap<SpaceTool, OfferedTool>()
  readonly #chars = new WeakMap<SpaceTool, number>()
  /** Participants whose tools were reported as too large. */
  readonly #cut = new Set<string>()
  #hasWarned = false

  /** Without `choices`: own tools, and those of participants of kind `mcp`. Throws `PatternError`. */
  constructor(
    space: BaseClient,
    choices: AgentOptions['tools'],
    listOwn: () => Promise<readonly object[]>,
    onError: (error: unknown) => void,
  ) {
    this.#found = new SpaceTools(space, listOwn, onError)
    this.#self = space.id
    this.#given = new Set(choices?.filter(isOwnTool).map(({ name }) => name))
    const others = choices?.filter((choice): choice is ToolChoice => !isOwnTool(choice))
    this.#known = others?.filter((choice) => typeof choice !== 'string') ?? []
    this.#isWanted = this.#found.compile(others, (id) => id === space.id || this.#found.isDefault(id))
    this.#onError = onError
  }

  onEnvelope(envelope: AnyEnvelope): void {
    this.#found.onEnvelope(envelope)
  }

  /** Requests the tool lists before the first turn, so that too many tools are reported at the start. */
  async prepare(): Promise<void> {
    await this.#find(this.createPatience())
    this.#found.expireEmpty()
  }

  /** Creates the time budget for tool lists during one turn. */
  createPatience(): Patience {
    return this.#found.createPatience()
  }

  /**
   * The tools for the next request, except those of participants that do not list them in time. `changed`: tools whose
   * definition has changed since they were last offered.
   */
  async offered(patience: Patience): Promise<Offer & { readonly changed: readonly string[] }> {
    const { found, kept } = await this.#find(patience)
    const tools = kept.map((tool) => this.#ask(tool))
    const owners = [...new Set(found.map(({ participant }) => participant))]
    const texts = [...(await this.#found.instructions(owners, patience))].map(
      ([id, text]) => [id, cut(guardText(text), maxInstructionsChars).trim()] as const,
    )
    return {
      tools: nameTools(tools),
      instructions: new Map(texts.filter(([, text]) => text !== '')),
      changed: this.#found.noteOffered(kept),
    }
  }

  #ask(tool: SpaceTool): OfferedTool {
    const asked = this.#asked.get(tool) ?? { ...tool, ...askArguments(tool.inputSchema) }
    this.#asked.set(tool, asked)
    return asked
  }

  /**
   * Returns the tools that were `found` in the space, and those `kept` for the request. Their order is stable, because the
   * prompt cache of providers requires that requests begin alike.
   */
  async #find(patience: Patience): Promise<Record<'found' | 'kept', readonly SpaceTool[]>> {
    const isGiven = ({ participant, name }: SpaceTool): boolean =>
      participant === this.#self && this.#given.has(name)
    const given = this.#given.size === 0 ? [] : (await this.#found.own()).filter(isGiven)
    const lists = await this.#found.list(this.#found.present(this.#isWanted), patience)
    const found = lists.flatMap((list) =>
      this.#fit(list.filter((tool) => this.#isWanted(tool.participant, tool.name) && !isGiven(tool))),
    )
    const first = [...given, ...this.#known]
    const kept = [...first, ...takeInTurn(found, maxOffered - first.length)].slice(0, maxOffered)
    this.#warnOfLeftOut(first.length + found.length)
    return { found, kept }
  }

  /** Selects the tools of one participant that fit in the limit. */
  #fit(tools: readonly SpaceTool[]): readonly SpaceTool[] {
    let chars = 0
    const kept = tools.filter((tool) => {
      const size = this.#chars.get(tool) ?? JSON.stringify([tool.description, tool.inputSchema]).length
      this.#chars.set(tool, size)
      chars += size
      return chars <= maxParticipantChars
    })
    const [{ participant } = { participant: '' }] = tools
    if (kept.length < tools.length && !this.#cut.has(participant)) {
      this.#cut.add(participant)
      const sizes = `${tools.length} tools of ${participant} have ${chars} characters, and the model gets ${kept.length} of them`
      const advice = `Choose with the option tools, such as ['${participant}/read_*'], or have ${participant} exclude some`
      this.#onError(new Notice(`${sizes}: ${maxParticipantChars} characters are the limit. ${advice}`))
    }
    return kept
  }

  #warnOfLeftOut(count: number): void {
    if (count <= maxOffered || this.#hasWarned) return
    this.#hasWarned = true
    const advice = "choose with the option tools, such as ['files/read_*', '!files/write_*']"
    this.#onError(new Notice(`there are ${count} tools, and the model gets ${maxOffered} of them: ${advice}`))
  }
}

/**
 * Takes at most `max` tools: the first tool of each participant, then the second ones, and so on. Keeps their original order.
 */
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

/**
 * Maximum characters of a tool name. Providers accept 64 letters, digits, `_` and `-`; MCP clients add a prefix such as
 * `mcp__meup__`.
 */
const maxNameChars = 48

/**
 * Names tools for models, MCP clients and coding agents: `participant__tool`. If that is too long, has other characters, or is
 * ambiguous, it ends with `--` and a hash. So a name does not depend on other tools, except that the second of two equal names
 * gets a number.
 */
export function nameTools<Tool extends Pick<SpaceTool, 'participant' | 'name'>>(
  tools: readonly Tool[],
): Map<string, Tool> {
  const named = new Map<string, Tool>()
  for (const tool of tools) named.set(freeName(createName(tool), named), tool)
  return named
}

const isHashed = /--[0-9a-z]{7}$/

function createName({ participant, name }: Pick<SpaceTool, 'participant' | 'name'>): string {
  const plain = `${participant}__${name}`
  // The name of the participant must end at the first `__`.
  const isUnambiguous = !/__|_$/.test(participant) && !isHashed.test(plain)
  if (isUnambiguous && plain.length <= maxNameChars && /^[A-Za-z][\w-]*$/.test(plain)) return plain
  const safe = plain.replace(/[^\w-]/g, '_').replace(/^(?![A-Za-z])/, '_')
  const suffix = `--${hash(JSON.stringify([participant, name]))}`
  return `${safe.slice(0, maxNameChars - suffix.length)}${suffix}`
}

/** The FNV-1a hash as seven characters of `0-9 a-z`. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value.toString(36).padStart(7, '0')
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`
    const name = `${wanted.slice(0, maxNameChars - suffix.length)}${suffix}`
    if (!taken.has(name)) return name
  }
}
