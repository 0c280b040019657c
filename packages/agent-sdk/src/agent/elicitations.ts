// Answers elicitations about the calls and chats of this connection itself; tools.ts offers those about other calls.
import { Bounded, getCancellation, isElicitation } from '@meup/folds'
import { type AnyEnvelope, correlations, type EnvelopeOf, Kind } from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import type { ClientHandler } from '../client/handler.js'
import type { PendingRequests } from '../client/pending-requests.js'
import type { OnElicitation } from '../client/types.js'
import { respond } from './respond.js'

type Request = EnvelopeOf<typeof Kind.mcpRequest>

const decline: OnElicitation = async () => ({ action: 'decline' })

/** Maximum concurrent elicitations per participant; further ones are declined. */
const maxOpen = 16
/** Number of recent own messages for which elicitations are recognized and declined. */
const maxOwn = 1000

/**
 * Answers elicitations about the calls of this connection with the call's handler, or declines them if it has none. Also
 * declines those about its chats, if this program answers questions [MEUP-3.26].
 */
export class AskedElicitations implements ClientHandler {
  readonly #space: Pick<BaseClient, 'id' | 'sendPaced'>
  readonly #requests: Pick<PendingRequests, 'findElicited'>
  /** Whether a program, rather than a person, sends this participant's messages. */
  readonly #isAnswering: () => boolean
  readonly #own = new Bounded<true>(maxOwn)
  readonly #onError: (error: unknown, request: Request) => void
  /** Elicitations that are not answered yet, by envelope id; `abort` informs the call's handler that no answer is needed. */
  readonly #open = new Map<string, { readonly question: Request; readonly abort: AbortController }>()

  constructor(
    space: Pick<BaseClient, 'id' | 'sendPaced'>,
    requests: Pick<PendingRequests, 'findElicited'>,
    isAnswering: () => boolean,
    onError: (error: unknown, request: Request) => void,
  ) {
    this.#space = space
    this.#isAnswering = isAnswering
    this.#requests = requests
    this.#onError = onError
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.chat && envelope.from === this.#space.id) this.#own.set(envelope.id, true)
    const elicited =
      this.#requests.findElicited(envelope) ??
      (this.#isAboutAnswer(envelope) ? { onElicitation: decline } : undefined)
    if (elicited !== undefined) {
      // The elicitation of an approved proposal is addressed to the approver, who made the call; the proposer only receives it.
      if (!envelope.to?.includes(this.#space.id)) return
      const question = envelope as Request
      const open = [...this.#open.values()].filter((each) => each.question.from === question.from)
      const { onElicitation = decline } = open.length < maxOpen ? elicited : {}
      this.#answer(question, onElicitation).catch((error: unknown) => this.#onError(error, question))
    } else if (this.#open.size > 0) this.#end(envelope)
  }

  onClose(): void {
    for (const { abort } of this.#open.values()) abort.abort('the space was closed')
  }

  #isAboutAnswer(envelope: AnyEnvelope): boolean {
    if (envelope.kind !== Kind.mcpRequest || !isElicitation(envelope.payload)) return false
    return this.#isAnswering() && correlations(envelope).some((id) => this.#own.get(id) !== undefined)
  }

  async #answer(question: Request, onElicitation: OnElicitation): Promise<void> {
    const abort = new AbortController()
    this.#open.set(question.id, { question, abort })
    const cancel = { action: 'cancel' } as const
    const result = await onElicitation(question.payload.params ?? {}, abort.signal).catch(
      (error: unknown) => {
        if (!abort.signal.aborted) this.#onError(error, question)
        return cancel
      },
    )
    this.#open.delete(question.id)
    if (!abort.signal.aborted) await respond(this.#space, question, { result: { ...result } })
  }

  /** Ends an elicitation that was withdrawn or answered elsewhere, or whose call has ended. */
  #end(envelope: AnyEnvelope): void {
    for (const [id, { question, abort }] of this.#open) {
      const why = getEnd(envelope, question)
      if (why === undefined) continue
      this.#open.delete(id)
      abort.abort(why)
    }
  }
}

function getEnd(envelope: AnyEnvelope, question: Request): string | undefined {
  const { id, from } = question
  const about = correlations(envelope)
  if (envelope.kind === Kind.mcpResponse) {
    if (about.includes(id)) return 'it was answered elsewhere'
    return correlations(question).some((call) => about.includes(call)) ? 'the call has ended' : undefined
  }
  if (envelope.kind !== Kind.mcpRequest || envelope.from !== from) return undefined
  const cancelled = getCancellation(envelope.payload)
  return cancelled && [...about, cancelled.requestId].includes(id) ? 'the question was taken back' : undefined
}
