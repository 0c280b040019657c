import { cut } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import { guardText } from '../agent/guard-text.js'
import { SpaceTools } from '../agent/space-tools.js'
import { compileChoices, type SpaceTool, type ToolChoice } from '../agent/tool-choice.js'
import type { BaseClient } from '../client/base-client.js'
import { withRationale } from './rationale.js'

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

/** Tools that a model gets: some providers refuse requests with more. */
const maxOffered = 128
/** Characters of the instructions of one participant, which the model receives at each step. */
const maxInstructionsChars = 4096

/** What the other participants of a space offer, as tools of a model. */
export class Toolbox {
  readonly #found: SpaceTools
  /** Known already. */
  readonly #own: readonly SpaceTool[]
  readonly #isWanted: ReturnType<typeof compileChoices>
  readonly #onError: (error: unknown) => void
  #hasWarned = false

  /** Without choices: everything that participants offer who may be asked. Throws `PatternError`. */
  constructor(
    space: BaseClient,
    choices: readonly ToolChoice[] | undefined,
    onError: (error: unknown) => void,
  ) {
    this.#found = new SpaceTools(space, onError)
    this.#own = choices?.filter((choice) => typeof choice !== 'string') ?? []
    this.#isWanted = compileChoices(choices)
    this.#onError = onError
  }

  onEnvelope(envelope: AnyEnvelope): void {
    this.#found.onEnvelope(envelope)
  }

  /** Reads the lists ahead of the first turn, so that too many tools are reported at the start. */
  async prepare(): Promise<void> {
    await this.offered()
    this.#found.forgetEmpty()
  }

  /** Tools that a participant does not list in time are left out. */
  async offered(): Promise<Offer> {
    // In one order, so that a model's request begins as the last one did.
    const lists = await Promise.all(this.#found.present(this.#isWanted).map((id) => this.#found.list(id)))
    const found = lists.flat().filter(({ participant, name }) => this.#isWanted(participant, name))
    const kept = [...this.#own, ...takeInTurn(found, maxOffered - this.#own.length)].slice(0, maxOffered)
    this.#warnOfLeftOut(this.#own.length + found.length)
    const tools = kept.map((tool) => {
      const { schema, key } = withRationale(tool.inputSchema)
      return { ...tool, inputSchema: schema, rationaleKey: key }
    })
    const owners = [...new Set(found.map(({ participant }) => participant))]
    const instructions = await Promise.all(
      owners.map(
        async (id) =>
          [id, cut(guardText(await this.#found.instructions(id)), maxInstructionsChars).trim()] as const,
      ),
    )
    return { tools: nameTools(tools), instructions: new Map(instructions.filter(([, text]) => text !== '')) }
  }

  #warnOfLeftOut(count: number): void {
    if (count <= maxOffered || this.#hasWarned) return
    this.#hasWarned = true
    const advice = "choose with the option tools, such as ['files/read_*', '!files/write_*']"
    this.#onError(new Error(`there are ${count} tools, and the model gets ${maxOffered} of them: ${advice}`))
  }
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
export function nameTools<Tool extends Pick<SpaceTool, 'participant' | 'name'>>(
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
