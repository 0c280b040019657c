import { isAnswerTo, type Participants, type WaitingChat, WaitingChats } from '@meup/folds'
import { type AnyEnvelope, correlations, type Envelope, type EnvelopeOf, freshId, Kind } from '@meup/protocol'
import { programEndedError } from './errors.js'
import type { ClientHandler } from './handler.js'
import type { ClientContext, Draft } from './types.js'
import { type Waiter, type WaitOptions, wait } from './wait.js'

interface ExpectedReply {
  readonly kind: Kind
  /** The only participant whose answer counts; absent = any. */
  readonly from?: string
}

/** Maximum number of own messages for which it is tracked whether an agent program that may answer them still runs. */
const maxQuestions = 2000

/** Waits for the answers to sent envelopes that are not MCP requests, such as questions and invitations. */
export class Replies implements ClientHandler {
  readonly #client: Pick<ClientContext, 'id' | 'sendPaced'>
  readonly #waiting = new Map<string, ExpectedReply & { readonly waiter: Waiter<AnyEnvelope> }>()
  readonly #questions: WaitingChats
  /** Own messages that no program will answer, because the last envelope reports that the asked one has ended. */
  unanswered: readonly WaitingChat[] = []

  constructor(client: Pick<ClientContext, 'id' | 'sendPaced'>, participants: Participants) {
    this.#client = client
    const isFollowed = ({ id, from, correlationId }: Envelope): boolean =>
      this.#waiting.has(id) || (from === client.id && correlationId === undefined)
    this.#questions = new WaitingChats(participants, { isFollowed, maxChats: maxQuestions })
  }

  /** Sends a draft. Resolves with the first correlated envelope of the expected kind and sender. */
  async ask<K extends Kind>(
    draft: Draft,
    expected: ExpectedReply & { kind: K },
    options: WaitOptions,
  ): Promise<EnvelopeOf<K>> {
    const id = draft.id ?? freshId()
    const over = new AbortController()
    const answer = wait<AnyEnvelope>(
      'answer',
      options,
      (waiter) => {
        this.#waiting.set(id, { ...expected, waiter })
        this.#client.sendPaced({ ...draft, id }, over.signal).catch((error: Error) => waiter.reject(error))
      },
      () => {
        this.#waiting.delete(id)
        over.abort('no one waits for it any more')
      },
    )
    return (await answer) as EnvelopeOf<K>
  }

  /** Resolves waiting envelopes. Returns true for answers to invitations, which hides their token from listeners. */
  onEnvelope(envelope: AnyEnvelope): boolean {
    this.unanswered = this.#questions.apply(envelope as Envelope)
    for (const { id, agent } of this.unanswered)
      this.#waiting.get(id)?.waiter.reject(programEndedError(agent))
    const answered = correlations(envelope)
      .flatMap((id) => this.#waiting.get(this.#questions.getQuestion(id)) ?? [])
      .filter(({ kind, from = envelope.from }) => kind === envelope.kind && from === envelope.from)
      .filter(({ kind }) => kind !== Kind.chat || isAnswerTo(this.#client.id, envelope))
    for (const { waiter } of answered) waiter.resolve(envelope)
    return answered.length > 0 && envelope.kind === Kind.spaceInviteAck
  }

  onClose(reason: Error): void {
    for (const { waiter } of [...this.#waiting.values()]) waiter.reject(reason)
  }
}
