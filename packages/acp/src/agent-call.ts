import { cut, isObject } from '@meup/folds'
import { copyNumberTexts, type McpResponsePayload, omitUndefined } from '@meup/protocol'
import type { AgentCallFields, CallStatus, FileDiff, Location } from './agent-updates.js'
import { type AcpBlock, countBlockChars, describeMedia } from './content-blocks.js'

/** Maximum characters of the texts of a result; the same limit applies to its diffs. */
const maxResultChars = 1024 * 1024
/** Default maximum bytes of a result; bytes reserved for the envelope around it. */
const [defaultResultBytes, envelopeBytes] = [4 * 1024 * 1024, 8 * 1024]
/** Maximum kept characters of a command's output; the oldest are dropped. */
const maxOutputChars = 256 * 1024

const order: readonly CallStatus[] = ['pending', 'in_progress', 'completed', 'failed']

/** A call of one of the agent's own tools, assembled from ACP messages that may arrive in any order. */
export class AgentCall {
  readonly id: string
  /** The tool's name in the space. */
  readonly name: string
  #status: CallStatus = 'pending'
  #title: string | undefined
  #kind: string | undefined
  #rawInput: unknown
  #inputChars = 0
  #locations: readonly Location[] = []
  #content: readonly AcpBlock[] = []
  #diffs: readonly FileDiff[] = []
  /** The output of a command that the agent streams in `_meta`. */
  #output = ''
  /** The `rawOutput` of the call if it is a text. */
  #rawText = ''
  #exitCode: number | undefined
  #hasBegun = false

  constructor(id: string, name: string) {
    this.id = id
    this.name = name
  }

  /** Applies the fields of an ACP message. Absent fields stay unchanged. */
  update(fields: AgentCallFields): void {
    const { title, kind, rawInput, rawOutput, locations, content = [], diffs = [], status, meta } = fields
    if (title) this.#title = title
    if (kind) this.#kind = kind
    if (hasInput(rawInput)) {
      this.#rawInput = rawInput
      this.#inputChars = JSON.stringify(rawInput).length
    }
    if (locations) this.#locations = locations
    if (diffs.length > 0) this.#diffs = diffs
    if (content.length > 0) this.#content = joinTexts(content)
    this.#readTerminal(meta)
    if (typeof rawOutput === 'string') this.#rawText = cut(rawOutput, maxResultChars)
    this.#exitCode ??=
      findExitCode(rawOutput, 0) ?? readExitCode(content[0]?.type === 'text' ? content[0].text : '')
    if (status === 'in_progress') this.#hasBegun = true
    // The status never goes back: one agent reports `pending` again while it asks for permission.
    if (status && order.indexOf(status) > order.indexOf(this.#status)) this.#status = status
  }

  /** Drops the arguments and the result of the call, which may be large, when they are no longer needed. */
  release(): void {
    this.#rawInput = undefined
    this.#inputChars = 0
    this.#content = []
    this.#diffs = []
    this.#locations = []
    this.#output = ''
    this.#rawText = ''
  }

  /** Whether the agent reported that the call runs or ran. Some agents report that before they ask for permission. */
  get hasBegun(): boolean {
    return this.#hasBegun || this.isOver
  }

  /** Whether the call failed without having run. Agents report a call in this way if they refuse it themselves. */
  get failedUnrun(): boolean {
    const hasRun = this.#hasBegun || this.#exitCode !== undefined || this.#output !== ''
    return this.#status === 'failed' && !hasRun && this.#diffs.length === 0
  }

  get isOver(): boolean {
    return this.#status === 'completed' || this.#status === 'failed'
  }

  get isCompleted(): boolean {
    return this.#status === 'completed'
  }

  /** Number of kept characters of this call. */
  get chars(): number {
    const texts = [this.#title ?? '', this.#output, this.#rawText, ...this.#locations.map(({ path }) => path)]
    const diffs = this.#diffs.flatMap(({ path, oldText, newText }) => [path, oldText, newText])
    const chars = this.#content.reduce((sum, block) => sum + countBlockChars(block), this.#inputChars)
    return [...texts, ...diffs].reduce((sum, { length }) => sum + length, chars)
  }

  get title(): string {
    return this.#title ?? this.name
  }

  get rawInput(): unknown {
    return this.#rawInput
  }

  /** The call's arguments, and its file changes, since approvers decide about those too. */
  get arguments(): object {
    const rawInput = this.#rawInput
    const diffs = this.#diffs.length > 0 ? { diffs: this.#diffs } : {}
    if (isObject(rawInput)) return copyNumberTexts({ ...rawInput, ...diffs }, rawInput)
    const input = hasInput(rawInput) ? { input: rawInput } : { title: this.title }
    return { ...input, ...diffs, ...(this.#locations.length > 0 && { locations: this.#locations }) }
  }

  /** `_meta` of the request, which identifies the call in the agent's own records. */
  get meta(): object {
    const [title, kind] = [this.#title, this.#kind]
    return { toolCallId: this.id, ...(title && { title }), ...(kind && { kind }) }
  }

  /**
   * The call's result for the log. `ending`: the reason why the agent has not reported the end of the call. `maxBytes`: the
   * space's limit for a result.
   */
  getResult(ending?: string, maxBytes = defaultResultBytes): McpResponsePayload {
    const said = this.#output || this.#rawText
    const blocks = this.#content.length > 0 ? this.#content : said === '' ? [] : [toTextBlock(said)]
    const all = joinTexts([...blocks, ...(ending === undefined ? [] : [toTextBlock(`(${ending})`)])])
    const structuredContent = {
      status: this.isOver ? this.#status : 'unknown',
      ...omitUndefined({ exitCode: this.#exitCode }),
      ...(this.#locations.length > 0 && { locations: this.#locations }),
      ...(this.#diffs.length > 0 && { diffs: limitDiffs(this.#diffs) }),
    }
    const left = maxBytes - envelopeBytes - countBytes(structuredContent)
    return {
      result: {
        content: all.length === 0 ? [toTextBlock('')] : limitBlocks(all, left),
        structuredContent,
        ...(this.#status !== 'completed' && { isError: true }),
      },
    }
  }

  /** One agent sends the output of commands in `_meta` instead of `content`. */
  #readTerminal({ terminal_output_delta: delta, terminal_exit: exit }: AgentCallFields['meta']): void {
    if (isObject(delta) && typeof delta.data === 'string')
      this.#output = `${this.#output}${delta.data}`.slice(-maxOutputChars)
    if (isObject(exit) && typeof exit.exit_code === 'number') this.#exitCode = exit.exit_code
  }
}

export const hasInput = (value: unknown): boolean =>
  value !== undefined && value !== null && !(isObject(value) && Object.keys(value).length === 0)

const toTextBlock = (text: string): AcpBlock => ({ type: 'text', text })

/** Joins consecutive text blocks. */
function joinTexts(blocks: readonly AcpBlock[]): readonly AcpBlock[] {
  const joined: AcpBlock[] = []
  for (const block of blocks) {
    const before = joined.at(-1)
    if (block.type !== 'text' || before?.type !== 'text') joined.push(block)
    else joined[joined.length - 1] = toTextBlock(`${before.text}\n${block.text}`)
  }
  return joined.map((block) => (block.type === 'text' ? toTextBlock(cut(block.text, maxResultChars)) : block))
}

/** Replaces blocks that exceed `maxBytes` by a line that names them. */
function limitBlocks(blocks: readonly AcpBlock[], maxBytes: number): readonly AcpBlock[] {
  const texts = blocks.filter(({ type }) => type === 'text')
  let left = maxBytes - texts.reduce((sum, text) => sum + countBytes(text), 0)
  return joinTexts(
    blocks.map((block) => {
      if (block.type === 'text') return block
      const bytes = countBytes(block)
      if (bytes > left) return toTextBlock(describeMedia(block, 'left out: it is too large for the log'))
      left -= bytes
      return block
    }),
  )
}

const countBytes = (value: object): number => Buffer.byteLength(JSON.stringify(value))

/** Replaces files beyond the limit by their path and size. */
function limitDiffs(diffs: readonly FileDiff[]): object[] {
  let left = maxResultChars
  return diffs.map((diff) => {
    left -= diff.oldText.length + diff.newText.length
    return left >= 0 ? diff : { path: diff.path, leftOut: `${diff.newText.length} characters` }
  })
}

const exitCodes = ['exit', 'exitCode', 'exit_code']

/** Searches an exit code in a `rawOutput`: its location differs between agents. */
function findExitCode(value: unknown, depth: number): number | undefined {
  if (depth > 4 || typeof value !== 'object' || value === null) return undefined
  for (const [key, each] of Object.entries(value)) {
    const found = exitCodes.includes(key) && typeof each === 'number' ? each : findExitCode(each, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** Reads the exit code that one agent puts as text before a command's output. */
function readExitCode(text = ''): number | undefined {
  const [, code] = /^\W*Exit code (\d{1,3})\b/.exec(text.slice(0, 50)) ?? []
  return code === undefined ? undefined : Number(code)
}
