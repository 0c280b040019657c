import {
  Bounded,
  brief,
  type ContextFold,
  defaultGuard,
  isLate,
  isNotification,
  onOneLine,
  payloadText,
  printable,
  redact,
  shownToolName,
  thoughtText,
  withThoughtName,
} from '@meup/folds'
import { type AnyEnvelope, contextParent, correlations, isThought, isToolCall, Kind } from '@meup/protocol'
import { formatDuration } from '../config/notation.js'
import { Conversation, type LineRenderer } from './conversation.js'

/** Calls whose responses may still come. */
const maxOpenCalls = 1000
/** Characters of a text that is not a message. */
const maxTextChars = 300

/** A conversation that is read aloud: sentences, each with its speaker, without signs and without indentation. */
export class SpokenLines implements LineRenderer {
  readonly #contexts: () => ContextFold
  readonly #others = new Conversation()
  readonly #tools = new Bounded<string>(maxOpenCalls)

  constructor(contexts: () => ContextFold) {
    this.#contexts = contexts
  }

  lines(envelope: AnyEnvelope): string[] {
    const { from, kind, id, context } = envelope
    const text = brief(payloadText({ ...envelope.payload }), maxTextChars)
    switch (envelope.kind) {
      case Kind.chat:
        return spoken(from, envelope.payload.message)
      case Kind.reasoningStart:
        return [`${from} begins to think${text && `: ${text}`}`]
      case Kind.reasoningConclusion:
        return [`${from} concludes${text && `: ${text}`}${this.#spent(context)}`]
      case Kind.reasoningCancel:
        return [
          `${from} stops thinking${envelope.payload.reason ? `: ${onOneLine(envelope.payload.reason)}` : ''}`,
        ]
      case Kind.mcpRequest: {
        if (isNotification(envelope.payload)) return []
        const tool = onOneLine(shownToolName(envelope.payload))
        this.#tools.set(id, tool)
        return [`${from} calls ${tool}${formatWhy(envelope)}`]
      }
      case Kind.mcpResponse: {
        const tool = correlations(envelope).flatMap((about) => this.#tools.get(about) ?? [])[0]
        return [`${tool ?? 'a tool'} of ${from} ${envelope.payload.error ? 'fails' : 'answers'}`]
      }
      case Kind.mcpProposal: {
        const tool = [onOneLine(shownToolName(envelope.payload)), envelope.to?.join(' and ')]
        const asked = `${tool.filter(Boolean).join(' of ')} may be called${formatSpokenArguments(envelope.payload.params)}`
        return [
          `${from} asks whether ${asked}${formatWhy(envelope)}. To decide: /approve ${id} or /reject ${id}`,
        ]
      }
    }
    if (isThought(kind)) return [...this.#thought(envelope)]
    return this.#others.lines(envelope).map((line) => line.trim().replace(/^[·✗] /, ''))
  }

  #thought(envelope: AnyEnvelope): string[] {
    const { from, kind, payload } = envelope
    const text = thoughtText({ ...payload })
    if (onOneLine(text) === '') return []
    const isNamed = withThoughtName(kind, text) !== text
    const late = isLate(envelope, (each) => this.#contexts().get(each)) ? ', late' : ''
    return [
      `${from} thinks${late}${isNamed ? ', ' : ': '}${brief(withThoughtName(kind, text), maxTextChars)}`,
    ]
  }

  #spent(context: string | undefined): string {
    if (context === undefined || contextParent(context) !== undefined) return ''
    const view = this.#contexts().get(context)
    if (view?.duration == null) return ''
    return `. It took ${formatDuration(view.duration)} and ${view.counts.calls === 1 ? '1 tool' : `${view.counts.calls} tools`}`
  }
}

function formatWhy(call: AnyEnvelope): string {
  if (call.rationale) return `, because: ${brief(call.rationale, maxTextChars)}`
  return isToolCall(call) ? ', no reason given' : ''
}

/** Repeats the speaker on each line, so that no line can be attributed to somebody else. */
const spoken = (from: string, message: string): string[] =>
  printable(message)
    .split('\n')
    .map((line, at) => `${from} ${at === 0 ? 'says' : 'goes on'}: ${line}`)

/** Arguments are read out, because a listener has to decide on them. */
function formatSpokenArguments(params: Readonly<Record<string, unknown>> | undefined): string {
  const given = params?.arguments
  if (given === undefined) return ''
  return ` with ${brief(JSON.stringify(redact(given, defaultGuard).value), maxTextChars)}`
}
