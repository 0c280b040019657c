import { getNamed } from '@meup/folds'
import { type AnyEnvelope, correlations, type EnvelopeOf, Kind, type WelcomePayload } from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import type { ClientHandler } from '../client/handler.js'
import { setLongTimeout } from '../client/long-timeout.js'
import { ReplayEnd } from '../client/replay-end.js'
import type { Unhandled } from '../client/types.js'

type Chat = EnvelopeOf<typeof Kind.chat>
type Receive = (envelope: AnyEnvelope) => void

interface Kept {
  readonly chat: Chat
  readonly chars: number
  /** The message was sent after this client connected, and asks this participant. */
  readonly isQuestion: boolean
}

/** Maximum number of kept messages, and maximum characters of their frames; the oldest are dropped. */
const [maxKept, maxKeptChars] = [1000, 8_000_000]
/** Milliseconds within which a program is expected to register handlers. */
const setUpMs = 10_000

interface Parts {
  readonly isAsked: (chat: Chat) => boolean
  /** Whether the program has tools, or serves requests itself. */
  readonly offersTools: () => boolean
  /** Answers held requests with errors, and holds no more. Returns their number. */
  declineRequests(): number
  onUnhandled(unhandled: Unhandled): void
  onError(error: unknown, envelope: AnyEnvelope): void
}

/**
 * Keeps messages that arrive before the program has registered handlers. The first handler, and those registered in the same
 * tick, get them in log order. Unhandled messages are reported once, after ten seconds. Messages of a replay are kept until its
 * end, because their answers may follow.
 */
export class Arrivals implements ClientHandler {
  readonly #space: BaseClient
  readonly #parts: Parts
  readonly #receivers = new Set<Receive>()
  /** Messages that wait for a handler, by envelope id. */
  readonly #kept = new Map<string, Kept>()
  #chars = 0
  readonly #replay = new ReplayEnd()
  #isTaken: boolean
  #willRelease = false
  #hasReported = false
  /** Last seq of the log when this client connected: only later messages can be reported as unhandled questions. */
  #head: number | undefined
  #cancelReport: (() => void) | undefined

  /** `keeps`: messages are kept until a handler is registered. */
  constructor(space: BaseClient, keeps: boolean, parts: Parts) {
    this.#space = space
    this.#isTaken = !keeps
    this.#parts = parts
  }

  /** Whether a handler for chats is registered. */
  get isAnswered(): boolean {
    return this.#receivers.size > 0
  }

  /** Adds a handler for chats and cancellations, and passes kept messages to it. Returns a function that removes it. */
  take(receive: Receive): () => void {
    this.#receivers.add(receive)
    if (this.#kept.size === 0) this.#isTaken = true
    else if (!this.#isTaken && !this.#willRelease) {
      this.#willRelease = true
      setLongTimeout(0, () => this.#release())
    }
    return () => this.#receivers.delete(receive)
  }

  /** Called when a question or request arrives that has to wait for a handler. Starts the timer of the report. */
  onWaiting(): void {
    if (this.#hasReported) return
    this.#cancelReport ??= setLongTimeout(setUpMs, () => this.#report())
  }

  onWelcome(welcome: WelcomePayload): void {
    const { space, you, participants, resume } = welcome
    if (resume.status === 'lost') this.#clear()
    this.#replay.onWelcome(welcome)
    if (this.#head === undefined) {
      this.#head = space.head
      // A human's client only displays messages, so none are kept.
      if (participants.find(({ id }) => id === you.id)?.kind === 'human') this.#isTaken = true
    }
    this.#passKept()
  }

  onEnvelope(envelope: AnyEnvelope, _: unknown, frame: string): void {
    if (envelope.kind === Kind.chat || envelope.kind === Kind.chatCancel) this.#onMessage(envelope, frame)
    this.#replay.onEnvelope(envelope)
    this.#passKept()
  }

  #onMessage(envelope: Chat | EnvelopeOf<typeof Kind.chatCancel>, frame: string): void {
    if (envelope.kind === Kind.chatCancel) {
      this.#forget(correlations(envelope), envelope.from)
      // A cancellation does not wait for the end of the replay: it may concern a turn that began before the replay.
      if (this.#isTaken) this.#pass(envelope)
    } else if (this.#isTaken && !this.#replay.isReplaying) this.#pass(envelope)
    else if (envelope.from === this.#space.id) {
      this.#forget(correlations(envelope))
    } else this.#keep(envelope, frame.length)
  }

  onClose(): void {
    this.#cancelReport?.()
    this.#isTaken = true
    this.#clear()
  }

  #keep(chat: Chat, chars: number): void {
    const isQuestion = (chat.seq ?? 0) > (this.#head ?? 0) && this.#parts.isAsked(chat)
    this.#kept.set(chat.id, { chat, chars, isQuestion })
    this.#chars += chars
    if (isQuestion && !this.#isTaken) this.onWaiting()
    for (const [id] of this.#kept) {
      if (this.#kept.size <= maxKept && this.#chars <= maxKeptChars) break
      this.#drop(id)
    }
  }

  /** Drops kept messages with these ids: those sent by `from`, or all if it is absent. */
  #forget(ids: readonly string[], from?: string): void {
    for (const id of ids) {
      if (from === undefined || this.#kept.get(id)?.chat.from === from) this.#drop(id)
    }
  }

  #drop(id: string): void {
    this.#chars -= this.#kept.get(id)?.chars ?? 0
    this.#kept.delete(id)
  }

  #clear(): void {
    this.#kept.clear()
    this.#chars = 0
  }

  #release(): void {
    this.#willRelease = false
    if (this.#receivers.size === 0) return
    this.#isTaken = true
    this.#passKept()
  }

  #passKept(): void {
    if (!this.#isTaken || this.#replay.isReplaying || this.#kept.size === 0) return
    const kept = [...this.#kept.values()]
    this.#clear()
    for (const { chat } of kept) this.#pass(chat)
  }

  /**
   * Passes a message to one handler. Reports exceptions, which come from callbacks of the program such as its function
   * `answers`.
   */
  pass(envelope: AnyEnvelope, receive: Receive): void {
    try {
      receive(envelope)
    } catch (error) {
      this.#parts.onError(error, envelope)
    }
  }

  #pass(envelope: AnyEnvelope): void {
    for (const receive of [...this.#receivers]) this.pass(envelope, receive)
  }

  #report(): void {
    this.#cancelReport = undefined
    const requests = this.#parts.declineRequests()
    // A program that listens to `envelope` events may answer without handlers, so its questions are not reported.
    const answersByHand = this.#space.listenerCount('envelope') > 0
    // A question to everyone is not meant for a program that only offers tools.
    const isMeant = ({ chat, isQuestion }: Kept): boolean =>
      isQuestion && (!this.#parts.offersTools() || getNamed(chat) !== undefined)
    const questions = answersByHand || this.#isTaken ? 0 : [...this.#kept.values()].filter(isMeant).length
    if (answersByHand && !this.#isTaken) {
      this.#isTaken = true
      this.#clear()
    }
    if (questions + requests === 0) return
    this.#hasReported = true
    this.#parts.onUnhandled({ questions, requests })
  }
}

/** Formats the report of messages for which no handler is registered. */
export function formatUnhandled(id: string, { questions, requests }: Unhandled): string {
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
  const parts = [
    questions > 0 &&
      `${id} was asked ${count(questions, 'question')}, and has no answer(), turns() or agent()`,
    requests > 0 && `${id} declined ${count(requests, 'request')}, as it has no tool() and no serve()`,
  ]
  return `${parts.filter(Boolean).join('; ')}. Add one, or connect with unhandled: 'decline' to watch only.`
}
