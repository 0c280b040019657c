import { createStatusLines, type Style } from '@meup/folds'
import { type AnyEnvelope, contextRoot, Kind } from '@meup/protocol'
import { Conversation, type Lines } from './conversation.js'

/** Runs that are remembered to answer somebody. */
const remembered = 1000

/**
 * A conversation at a terminal. While an agent works on an answer, its calls are told by what goes on, `○ tool` and
 * `● tool`: with what and why they were called follows the answer.
 */
export class LiveConversation implements Lines {
  readonly #conversation = new Conversation()
  readonly #status: (envelope: AnyEnvelope) => string[]
  readonly #answering = new Set<string>()

  constructor(style: Style) {
    this.#status = createStatusLines(style)
  }

  lines(envelope: AnyEnvelope): string[] {
    const said = this.#conversation.lines(envelope)
    const { kind, context, id, correlationId } = envelope
    if (kind === Kind.reasoningStart && context === undefined) {
      if (correlationId !== undefined) this.#remember(id)
      return [...said, ...this.#status(envelope)]
    }
    const isOfAnswer = context !== undefined && this.#answering.has(contextRoot(context))
    if (kind === Kind.mcpRequest && !isOfAnswer) return said
    const status = this.#status(envelope)
    return status.length === 0 ? said : status
  }

  #remember(run: string): void {
    this.#answering.add(run)
    if (this.#answering.size > remembered) {
      const [oldest = ''] = this.#answering
      this.#answering.delete(oldest)
    }
  }
}
