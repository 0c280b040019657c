import { isObject } from '@meup/folds'
import { correlations, type Envelope, Kind } from '@meup/protocol'

/** A tool, as its server describes it. */
export interface ToolInfo {
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  /** What it says to do: change nothing, write, or delete and overwrite. */
  readonly effect: 'reads' | 'writes' | 'deletes' | 'unknown'
}

interface Listed {
  readonly seq: number
  readonly tools: ReadonlyMap<string, ToolInfo>
}

/** Participants whose tools are remembered. */
const maxOwners = 1000
/** Tools of one of them. */
const maxTools = 1000

/** The tools of participants, from the lists that anybody has asked them for. */
export class ToolCatalog {
  readonly #byOwner = new Map<string, Listed>()

  /** `envelope`: whole. `get`: finds what it answers. */
  apply(envelope: Envelope, get: (id: string) => Envelope | undefined): void {
    if (envelope.kind !== Kind.mcpResponse) return
    const { from, seq = 0, payload } = envelope
    const request = correlations(envelope)
      .flatMap((id) => get(id) ?? [])
      .find((each) => each.payload.method === 'tools/list')
    if (request === undefined || !isObject(payload.result)) return
    const { params } = request.payload
    this.set(from, payload.result.tools, seq, isObject(params) && params.cursor !== undefined)
  }

  /** Takes a list, unless a later one is known. `isMore`: it goes on with the list before it. */
  set(owner: string, tools: unknown, seq: number, isMore = false): void {
    const known = this.#byOwner.get(owner)
    if (!Array.isArray(tools) || (known !== undefined && known.seq > seq)) return
    if (known === undefined && this.#byOwner.size >= maxOwners) return
    const infos = tools.filter(isObject).map(readTool)
    const before = isMore ? [...(known?.tools ?? [])] : []
    const listed = infos.map((info): [string, ToolInfo] => [info.name, info])
    this.#byOwner.set(owner, { seq, tools: new Map([...before, ...listed].slice(0, maxTools)) })
  }

  knows(owner: string): boolean {
    return this.#byOwner.has(owner)
  }

  list(owner: string): readonly ToolInfo[] {
    return [...(this.#byOwner.get(owner)?.tools.values() ?? [])]
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

/** By the annotations of MCP: whoever writes may delete, unless it says that it does not. */
function getEffect({ readOnlyHint, destructiveHint }: Readonly<Record<string, unknown>>): ToolInfo['effect'] {
  if (readOnlyHint === true) return 'reads'
  if (destructiveHint === true) return 'deletes'
  if (destructiveHint === false) return 'writes'
  return 'unknown'
}
