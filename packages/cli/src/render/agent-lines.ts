import { stripVTControlCharacters } from 'node:util'
import {
  brief,
  Calls,
  type ContextFold,
  colourStyle,
  cut,
  defaultGuard,
  formatDuration,
  getStopWords,
  isElicitation,
  isNotification,
  isObject,
  onOneLine,
  printable,
  RecentCalls,
  readResult,
  type Style,
  summaryText,
  type ThoughtSummaries,
} from '@meup/folds'
import {
  type AnyEnvelope,
  contextDepth,
  contextParent,
  contextRoot,
  correlations,
  type EnvelopeOf,
  Kind,
  namespaceOf,
} from '@meup/protocol'
import { getResultText } from '../lib/result-text.js'
import { Conversation, type LineRenderer } from './conversation.js'
import { colourMarkdown, plainMarkdown, renderMarkdown } from './markdown.js'
import { CallDescriber, callText, outcomeMark, type ShownCall } from './tool-line.js'
import { measureWidth, truncate, wrapLine } from './width.js'

type McpRequest = EnvelopeOf<typeof Kind.mcpRequest>

/** Lines that are printed below an envelope. */
export interface Following {
  /** The beginning of a tool result. */
  readonly preview: readonly string[]
  /** The reasoning of the turn that the envelope ends: why its tools were called. */
  readonly block: readonly string[]
}

interface AgentLinesOptions {
  readonly style: Style
  /** Highlights a participant's name; `name` may be truncated. */
  readonly highlight: (name: string, id: string) => string
  /** The reader's id: elicitations addressed to the reader are shown as forms, not as calls. */
  readonly self?: string
  /** Width of the terminal. */
  readonly columns: () => number
  /** The runs and their nested contexts, as of the envelope that is rendered. */
  readonly contexts: () => ContextFold
  /** Per run, how many thoughts the gateway did not send, because they are hidden or filtered out. */
  readonly summaries?: () => Pick<ThoughtSummaries, 'get'>
  /** Whether this reader may grant the capability that a refused call lacked. */
  readonly mayAllow?: (refusal: AnyEnvelope) => boolean
}

/** Maximum indentation; deeper contexts are named by their path. */
const maxIndentDepth = 3
/** Maximum characters of a text, and maximum lines of a tool's output. */
const [maxTextChars, maxOutputLines] = [20_000, 200]
/** Maximum number of remembered calls without a response, and of remembered finished calls. */
const maxCalls = 1000
const spoken: ReadonlySet<string> = new Set(
  [Kind.chat, Kind.reasoningStart, Kind.mcpRequest].map(namespaceOf),
)

interface AgentCall {
  readonly agent: string
  readonly context: string | undefined
  readonly shown: ShownCall
  /** The run ended without a result for this call. */
  readonly isLeft?: true
  /** An elicitation addressed to the reader, which is shown as a form. */
  readonly isForm: boolean
}
type Caller = Pick<AgentCall, 'agent' | 'context'>

/**
 * Renders a conversation for a terminal. Rows start with a name, except for the reasoning of a turn below its answer. A call in
 * a run is printed once it has ended; until then the footer shows it.
 */
export class AgentLines implements LineRenderer {
  /** Whether tool results are shown in full. */
  showsOutput = false
  readonly #options: AgentLinesOptions
  readonly #conversation: Conversation
  readonly #describer = new CallDescriber()
  readonly #calls = new Calls<AgentCall>({
    store: new RecentCalls({ open: maxCalls, over: maxCalls }),
    reduce: ({ what, call }, envelope) => {
      if (what !== 'asked') return call.data
      const { from: agent, to = [], context, payload } = envelope
      const shown = this.#describer.describe(envelope as AnyEnvelope)
      const isForm = isElicitation(payload) && to.includes(this.#options.self ?? '')
      return shown && { agent, context, shown, isForm }
    },
  })
  #latestOutput: () => string[] = () => []

  constructor(options: AgentLinesOptions) {
    this.#options = options
    const style = options.style === colourStyle ? colourMarkdown : plainMarkdown
    this.#conversation = new Conversation((text) => renderMarkdown(text, style))
  }

  lines(envelope: AnyEnvelope): string[] {
    const { kind, context } = envelope
    this.#calls.apply(envelope)
    if (kind === Kind.mcpRequest && !isNotification(envelope.payload)) return this.#onCall(envelope)
    if (kind === Kind.mcpResponse) return this.#onResult(envelope)
    const isOver = isEnd(kind) && context !== undefined && contextParent(context) === undefined
    return [...(isOver ? this.#endCalls(context) : []), ...this.#said(envelope)]
  }

  /** Renders the lines below an envelope: a preview of a tool result, and the reasoning of the turn that ended. */
  after(envelope: AnyEnvelope, { preview, block }: Following): string[] {
    const caller = this.#findCalls(envelope)[0] ?? { agent: envelope.from, context: envelope.context }
    // The reasoning below an answer needs no name, and below a message that is taken back, the sender's would be wrong.
    const isNameless = envelope.kind === Kind.chat || envelope.kind === Kind.chatCancel
    return [
      ...this.#status(preview, caller),
      ...(isNameless ? this.#plain(block) : this.#block(this.#findEnded(envelope), block)),
    ]
  }

  #said(envelope: AnyEnvelope): string[] {
    const { from, kind, context, seq } = envelope
    const said = this.#conversation.lines(shortened(envelope))
    const lines = this.#options.mayAllow?.(envelope) ? said.map((line) => `${line} · /allow ${seq}`) : said
    // Envelopes other than chats, reasoning and calls are shown as a sentence, as are runs that the gateway ends.
    if (!spoken.has(namespaceOf(kind)) || getStopWords(envelope) !== undefined) {
      return lines.flatMap((line) => wrapLine(line, this.#options.columns(), 2))
    }
    const [first = '', ...rest] = lines
    const spokenBy = first.trimStart()
    if (!spokenBy.startsWith(from)) return this.#status(lines, { agent: from, context })
    const depth = context === undefined ? 0 : contextDepth(context)
    const inset = '  '.repeat(Math.min(isEnd(kind) ? depth - 1 : depth, maxIndentDepth))
    const head = `${spokenBy.slice(from.length)}${formatModel(envelope)}${this.#closing(envelope)}`
    const placed = head.startsWith(' ') ? `${inset || ' '}${this.#crumbs(context)}${head.slice(1)}` : head
    const below = rest.map((line) => `${inset}${line.slice(2 * depth)}`)
    return this.#block(from, [placed, ...below])
  }

  /** A call outside of any run is printed at once, because the footer does not show it. */
  #onCall({ id, context }: McpRequest): string[] {
    const call = context === undefined ? this.#calls.get(id) : undefined
    return call === undefined ? [] : this.#callLine(call.data, '○', '')
  }

  #onResult(response: EnvelopeOf<typeof Kind.mcpResponse>): string[] {
    const calls = this.#findCalls(response)
    const [call] = calls
    const lines = calls.flatMap((each) => this.#callLine(each, '●', ` ${outcomeMark(response)}`))
    return [
      ...(call === undefined ? this.#said(response) : lines),
      ...this.#output(response, call?.agent ?? response.from),
    ]
  }

  /** Lines for calls of a run that ended without their results. */
  #endCalls(root: string): string[] {
    return [...this.#calls.all()].flatMap(({ id, data, answeredBy }) => {
      const { context = '', isLeft } = data
      if (answeredBy.length > 0 || isLeft || contextRoot(context) !== root) return []
      this.#calls.setData(id, { ...data, isLeft: true })
      return this.#callLine(data, '○', ' · no result')
    })
  }

  #callLine(call: AgentCall, mark: string, end: string): string[] {
    const { style } = this.#options
    if (call.isForm) return []
    return this.#status([`  ${callText(call.shown, mark, style)}${style.section(end)}`], call)
  }

  /** The agent whose turn this envelope ends. */
  #findEnded(envelope: AnyEnvelope): string {
    const { kind, from, to, context } = envelope
    if (kind === Kind.mcpProposal) return from
    if (kind === Kind.mcpRequest) return to?.[0] ?? from
    return (context && this.#options.contexts().get(context)?.owner) || from
  }

  /** Starts each line of a turn's reasoning with the agent's name, except empty lines. */
  #block(agent: string, lines: readonly string[]): string[] {
    return lines.flatMap((line) => (line === '' ? [''] : this.#under(agent, line)))
  }

  /** The full output of the last tool. */
  latestOutput(): string[] {
    return this.#latestOutput()
  }

  #status(lines: readonly string[], { agent, context }: Caller): string[] {
    const inset = getIndent(context).slice(2)
    return this.#block(
      agent,
      lines.map((line) => `${inset}${line}`),
    )
  }

  /** Starts a line with the agent's name; wraps long lines with an indentation. */
  #under(agent: string, line: string): string[] {
    const columns = this.#options.columns()
    const name = truncate(agent, Math.max(8, Math.floor(columns / 3)))
    const [mark = ''] = /^ *│ /.exec(stripVTControlCharacters(line)) ?? []
    const width = columns - measureWidth(name) - mark.length
    const rows = line.startsWith(mark)
      ? wrapHanging(line.slice(mark.length), width).map((row) => `${mark}${row}`.trimEnd())
      : wrapHanging(line, width)
    return rows.map((row) => `${this.#options.highlight(name, agent)}${row}`)
  }

  #plain(lines: readonly string[]): string[] {
    return lines.flatMap((line) => wrapHanging(line, this.#options.columns()))
  }

  /** Calls that this response answers. */
  #findCalls(envelope: AnyEnvelope): AgentCall[] {
    if (envelope.kind !== Kind.mcpResponse) return []
    return correlations(envelope).flatMap((about) => this.#calls.get(about)?.data ?? [])
  }

  #output(response: Parameters<typeof resultText>[0], agent: string): string[] {
    this.#latestOutput = () => {
      const text = resultText(response)
      const shown = text.slice(0, maxTextChars).split('\n').slice(0, maxOutputLines)
      const whole = isObject(response.payload.result) ? getResultText(response.payload.result) : text
      const more = whole.split('\n').length - shown.length
      const left = whole.length - shown.join('\n').length
      const isCut = more > 0 || text.length > maxTextChars || text.endsWith('…')
      const what = more > 0 ? `${formatNumber(more)} more lines` : `${formatNumber(left)} more characters`
      const end = isCut ? [`… ${what} · meup watch --from ${response.seq} --json has all`] : []
      return this.#block(
        agent,
        [...shown, ...end].map((line) => `    │ ${line}`),
      )
    }
    return this.showsOutput ? this.#latestOutput() : []
  }

  /** The path of contexts deeper than the maximum indentation. */
  #crumbs(context: string | undefined): string {
    if (context === undefined || contextDepth(context) <= maxIndentDepth) return ''
    const names: string[] = []
    for (
      let at: string | undefined = context;
      at !== undefined && contextDepth(at) > maxIndentDepth;
      at = contextParent(at)
    ) {
      const title = this.#options.contexts().get(at)?.opening?.text
      names.unshift(brief(title || (at.split('/').at(-1) ?? ''), 20))
    }
    return `… › ${names.join(' › ')} `
  }

  /** The end of a run's last line: duration, number of tool calls, and withheld thoughts. */
  #closing({ kind, context }: AnyEnvelope): string {
    if (!isEnd(kind) || context === undefined || contextParent(context) !== undefined) return ''
    const { duration, counts } = this.#options.contexts().get(context) ?? { duration: null }
    if (duration === null) return ''
    const { calls = 0 } = counts ?? {}
    const tools = calls === 0 ? '' : calls === 1 ? ' · 1 tool' : ` · ${calls} tools`
    const summary = this.#options.summaries?.().get(context)
    const thoughts = summary === undefined ? '' : ` · ${summaryText(summary)}`
    return ` · ${formatDuration(duration)}${tools}${thoughts}`
  }
}

const formatNumber = (value: number): string => value.toLocaleString('en')

/** Wraps a line with a hanging indent of two more columns. */
function wrapHanging(line: string, columns: number): string[] {
  const hang = Math.min(/^[: ]*/.exec(line)?.[0].length ?? 0, 8) + 2
  return wrapLine(line.replaceAll('\t', '  '), columns, hang).map((row) => row.trimEnd())
}

/** Model and thinking level of a run, as reported by its agent. */
function formatModel({ kind, context, payload }: AnyEnvelope): string {
  if (kind !== Kind.reasoningStart || context !== undefined) return ''
  const { provider, model, thinkingLevel } = (payload.metadata ?? {}) as Readonly<Record<string, unknown>>
  const name = [provider, model].filter((part) => typeof part === 'string').join('/')
  const parts = [
    name === '' ? undefined : name,
    typeof thinkingLevel === 'string' ? `thinking ${thinkingLevel}` : undefined,
  ]
  const texts = parts.filter((part) => typeof part === 'string')
  return texts.length === 0 ? '' : ` · ${brief(onOneLine(texts.join(', ')), 80)}`
}

const isEnd = (kind: string): boolean => kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel

const getIndent = (context: string | undefined): string =>
  '  '.repeat(context === undefined ? 0 : Math.min(contextDepth(context), maxIndentDepth))

/** Truncates long texts, because a terminal is not suited for megabytes. */
function shortened(envelope: AnyEnvelope): AnyEnvelope {
  const payload: Readonly<Record<string, unknown>> = { ...envelope.payload }
  const isLong = (value: unknown): value is string => typeof value === 'string' && value.length > maxTextChars
  if (!Object.values(payload).some(isLong)) return envelope
  const short = Object.entries(payload).map(([key, value]) => [
    key,
    isLong(value) ? cut(value, maxTextChars) : value,
  ])
  return { ...envelope, payload: Object.fromEntries(short) } as AnyEnvelope
}

/** Formats a tool result for a terminal, with secrets redacted. */
const resultText = ({ payload }: EnvelopeOf<typeof Kind.mcpResponse>): string =>
  printable(readResult(payload, defaultGuard).text)
