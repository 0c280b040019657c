import type { Diff, ToolCallLocation, ToolCallUpdate } from '@agentclientprotocol/sdk'
import { cut, isObject } from '@meup/folds'
import type { McpResponsePayload } from '@meup/protocol'

/** Characters of the texts, and of the diffs, in a result. */
const maxResultChars = 1024 * 1024
/** Characters of what a command has put out so far. */
const maxOutputChars = 256 * 1024

const order = ['pending', 'in_progress', 'completed', 'failed']

/** One call of one of the agent's own tools, as its messages describe it, in whatever order they come. */
export class AgentCall {
  readonly id: string
  /** What the space calls the tool. */
  readonly name: string
  #status = 'pending'
  readonly #fields: {
    title?: string
    kind?: string
    rawInput?: unknown
    rawOutput?: unknown
    locations?: readonly ToolCallLocation[]
  } = {}
  #texts: readonly string[] = []
  #diffs: readonly Diff[] = []
  /** What came piece by piece. */
  #output = ''
  #exitCode: number | undefined
  #hasBegun = false

  constructor(id: string, name: string) {
    this.id = id
    this.name = name
  }

  /** Takes over what a message says. What it leaves out stays. */
  update(fields: ToolCallUpdate): void {
    const { title, kind, rawInput, rawOutput, locations, content, status, _meta } = fields
    if (title) this.#fields.title = title
    if (kind) this.#fields.kind = kind
    if (isFilled(rawInput)) this.#fields.rawInput = rawInput
    if (rawOutput !== undefined) this.#fields.rawOutput = rawOutput
    if (locations) this.#fields.locations = locations
    if (content) {
      const diffs = content.filter((each) => each.type === 'diff')
      const texts = content.flatMap((each) =>
        each.type === 'content' && each.content.type === 'text' ? each.content.text : [],
      )
      if (diffs.length > 0) this.#diffs = diffs
      if (texts.length > 0) this.#texts = texts
    }
    this.#readTerminal(_meta)
    this.#exitCode ??= findExitCode(rawOutput, 0)
    if (status === 'in_progress') this.#hasBegun = true
    // One agent goes back to `pending` while it asks.
    if (status && order.indexOf(status) > order.indexOf(this.#status)) this.#status = status
  }

  /** Whether the agent has said that it runs, or did. Some say so before they ask. */
  get hasBegun(): boolean {
    return this.#hasBegun || this.isOver
  }

  get isOver(): boolean {
    return this.#status === 'completed' || this.#status === 'failed'
  }

  get isCompleted(): boolean {
    return this.#status === 'completed'
  }

  get title(): string {
    return this.#fields.title ?? this.name
  }

  get rawInput(): unknown {
    return this.#fields.rawInput
  }

  /** What it is called with. A change of a file stands in it, since who approves it approves what stands there. */
  get arguments(): object {
    const { title, rawInput, locations = [] } = this.#fields
    const diffs = this.#diffs.length > 0 ? { diffs: this.#diffs.map(toDiff) } : {}
    if (isObject(rawInput)) return { ...rawInput, ...diffs }
    const input = isFilled(rawInput) ? { input: rawInput } : { title: title ?? this.name }
    return { ...input, ...diffs, ...(locations.length > 0 && { locations: locations.map(toLocation) }) }
  }

  /** What a request of it has beside that, for who wants to find it in the agent's own records. */
  get meta(): object {
    const { title, kind } = this.#fields
    return { toolCallId: this.id, ...(title && { title }), ...(kind && { kind }) }
  }

  /** `ending`: why it says no more, where it has not said how it ended. */
  getResult(ending?: string): McpResponsePayload {
    const { rawOutput, locations = [] } = this.#fields
    const said = this.#texts.length > 0 ? this.#texts.join('\n') : this.#output
    const text = said || (typeof rawOutput === 'string' ? rawOutput : '')
    const status = this.isOver ? this.#status : 'unknown'
    const shown = [text, ...(ending === undefined ? [] : [`(${ending})`])].filter((each) => each !== '')
    return {
      result: {
        content: [{ type: 'text', text: cut(shown.join('\n'), maxResultChars) }],
        structuredContent: {
          status,
          ...(this.#exitCode !== undefined && { exitCode: this.#exitCode }),
          ...(locations.length > 0 && { locations: locations.map(toLocation) }),
          ...(this.#diffs.length > 0 && { diffs: limitDiffs(this.#diffs.map(toDiff)) }),
        },
        ...(this.#status !== 'completed' && { isError: true }),
      },
    }
  }

  /** Commands of one agent put out in `_meta` what others give as content. */
  #readTerminal(meta: ToolCallUpdate['_meta']): void {
    const { terminal_output_delta: delta, terminal_exit: exit } = meta ?? {}
    if (isObject(delta) && typeof delta.data === 'string')
      this.#output = `${this.#output}${delta.data}`.slice(-maxOutputChars)
    if (isObject(exit) && typeof exit.exit_code === 'number') this.#exitCode = exit.exit_code
  }
}

type ShownDiff = Pick<Diff, 'path' | 'newText'> & { readonly oldText: string }

const toDiff = ({ path, oldText, newText }: Diff): ShownDiff => ({ path, oldText: oldText ?? '', newText })
const toLocation = ({ path, line }: ToolCallLocation): object => ({ path, ...(line != null && { line }) })
const isFilled = (value: unknown): boolean =>
  value !== undefined && value !== null && !(isObject(value) && Object.keys(value).length === 0)

/** A result that is too large names the files that it leaves out. */
function limitDiffs(diffs: readonly ShownDiff[]): object[] {
  let left = maxResultChars
  return diffs.map((diff) => {
    left -= diff.oldText.length + diff.newText.length
    return left >= 0 ? diff : { path: diff.path, leftOut: `${diff.newText.length} characters` }
  })
}

const exitCodes = ['exit', 'exitCode', 'exit_code']

/** Agents give it in different places. */
function findExitCode(value: unknown, depth: number): number | undefined {
  if (depth > 4 || typeof value !== 'object' || value === null) return undefined
  for (const [key, each] of Object.entries(value)) {
    const found = exitCodes.includes(key) && typeof each === 'number' ? each : findExitCode(each, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
