import { isObject, Pages, type ToolEffect } from '@meup/folds'
import { correlations, type Envelope, Kind } from '@meup/protocol'

/** A tool, as its server describes it. */
export interface ToolInfo {
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  readonly effect: ToolEffect
}

export const toolEffects: Readonly<Record<ToolEffect, string>> = {
  reads: 'reads only',
  writes: 'writes',
  deletes: 'may delete',
  unknown: 'effect unknown',
}

interface Listed {
  /** Seq of the last complete list; tools that only earlier lists contain are gone. */
  whole: number
  /** Tools, with the seq of the last list that contains them. */
  readonly tools: Map<string, ToolInfo & { readonly seq: number }>
}

/** Maximum number of participants with tools, and of tools per participant. */
const [maxOwners, maxTools] = [1000, 1000]

/** Tools of participants, from responses to any `tools/list` request, in any order. */
export class ToolCatalog {
  readonly #byOwner = new Map<string, Listed>()

  /** Applies an envelope if it answers `tools/list`. It must not be truncated; `get` finds the request that it answers. */
  apply(envelope: Envelope, get: (id: string) => Envelope | undefined): void {
    if (envelope.kind !== Kind.mcpResponse) return
    const request = correlations(envelope)
      .flatMap((id) => get(id) ?? [])
      .find((each) => each.payload.method === 'tools/list')
    const { from, seq = 0, payload } = envelope
    if (request === undefined || !isObject(payload.result)) return
    const { params } = request.payload
    const isFirst = !isObject(params) || params.cursor === undefined
    const isLast = new Pages().next(payload.result) === undefined
    this.set(from, payload.result.tools, seq, isFirst && isLast)
  }

  /** `isWhole`: the list is complete, not one of several pages. */
  set(owner: string, tools: unknown, seq: number, isWhole: boolean): void {
    const known = this.#byOwner.get(owner) ?? { whole: 0, tools: new Map() }
    if (!Array.isArray(tools) || (!this.knows(owner) && this.#byOwner.size >= maxOwners)) return
    this.#byOwner.set(owner, known)
    for (const tool of tools.filter(isObject).map(readTool)) {
      const before = known.tools.get(tool.name)
      const isNews = before === undefined ? known.tools.size < maxTools : before.seq <= seq
      if (isNews) known.tools.set(tool.name, { ...tool, seq })
    }
    if (isWhole) known.whole = Math.max(known.whole, seq)
  }

  knows(owner: string): boolean {
    return this.#byOwner.has(owner)
  }

  /** The participant with a tool of this name, if there is only one. */
  findOwner(name: string): string | undefined {
    const owners = [...this.#byOwner].filter(([, { tools }]) => tools.has(name))
    return owners.length === 1 ? owners[0]?.[0] : undefined
  }

  list(owner: string): readonly ToolInfo[] {
    const { whole, tools } = this.#byOwner.get(owner) ?? { whole: 0, tools: new Map() }
    return [...tools.values()].filter(({ seq }) => seq >= whole)
  }

  get(owner: string, tool: string): ToolInfo | undefined {
    return this.#byOwner.get(owner)?.tools.get(tool)
  }
}

function readTool({
  name,
  description,
  inputSchema,
  annotations,
}: Readonly<Record<string, unknown>>): ToolInfo {
  return {
    name: String(name),
    description: typeof description === 'string' ? description : '',
    inputSchema,
    effect: getEffect(isObject(annotations) ? annotations : {}),
  }
}

/** A tool's effect by its MCP annotations; without them it may do anything. */
function getEffect({ readOnlyHint, destructiveHint }: Readonly<Record<string, unknown>>): ToolEffect {
  if (readOnlyHint === true) return 'reads'
  if (destructiveHint === true) return 'deletes'
  if (destructiveHint === false) return 'writes'
  return 'unknown'
}
