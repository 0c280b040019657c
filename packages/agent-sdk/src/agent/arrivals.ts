import { type AnyEnvelope, correlations, type EnvelopeOf, Kind, type WelcomePayload } from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import type { ClientHandler } from '../client/handler.js'
import { ReplayEnd } from '../client/replay-end.js'
import type { Unhandled } from '../client/types.js'
import { setLongTimeout } from '../client/wait.js'

type Chat = EnvelopeOf<typeof Kind.chat>
type Receive = (envelope: AnyEnvelope) => void

interface Kept {
  readonly chat: Chat
  readonly chars: number
  /** It came while this client was here, and asks it. */
  readonly isQuestion: boolean
}

/** Messages that are kept, and characters of their frames; the oldest are dropped. */
const [maxKept, maxKeptChars] = [1000, 8_000_000]
/** Milliseconds in which a program may set up what answers. */
const setUpMs = 10_000

interface Parts {
  readonly isAsked: (chat: Chat) => boolean
  /** Answers the requests that were held, and holds no more. Returns how many it declined. */
  declineRequests(): number
  onUnhandled(unhandled: Unhandled): void
  onError(error: unknown, envelope: AnyEnvelope): void
}

/**
 * Messages that came before anything answers them: they are kept, in the order of the log, for what takes them first, and for all that is
 * added in the same tick. What nothing takes in ten seconds is reported once. Those of a replay are kept until its end: their answer may
 * still come.
 */
export class Arrivals implements ClientHandler {
  readonly #space: BaseClient
  readonly #parts: Parts
  readonly #receivers = new Set<Receive>()
  /** By id. */
  readonly #kept = new Map<string, Kept>()
  #chars = 0
  readonly #replay = new ReplayEnd()
  #isTaken: boolean
  #willRelease = false
  #hasReported = false
  /** Last seq that was in the log when this client came. */
  #head: number | undefined
  #cancelReport: (() => void) | undefined

  /** `keeps`: whether anything is kept, before something takes it. */
  constructor(space: BaseClient, keeps: boolean, parts: Parts) {
    this.#space = space
    this.#isTaken = !keeps
    this.#parts = parts
  }

  /** Whether something answers questions. */
  get isAnswered(): boolean {
    return this.#receivers.size > 0
  }

  /** Has chats and cancellations passed on, those that were kept first. Returns the function that ends it. */
  take(receive: Receive): () => void {
    this.#receivers.add(receive)
    if (this.#kept.size === 0) this.#isTaken = true
    else if (!this.#isTaken && !this.#willRelease) {
      this.#willRelease = true
      setLongTimeout(0, () => this.#release())
    }
    return () => this.#receivers.delete(receive)
  }

  /** Something came that waits for what answers it. */
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
      // Its messages are for eyes.
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
      // What was begun before a replay may be taken back in it.
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

  /** `from`: absent = this participant has answered them. */
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

  /** An error is one of a callback of the program, such as `trigger`: it is reported. */
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
    this.#hasReported = true
    const requests = this.#parts.declineRequests()
    // Who listens to envelopes answers by hand.
    const answersByHand = this.#space.listenerCount('envelope') > 0
    const questions =
      answersByHand || this.#isTaken
        ? 0
        : [...this.#kept.values()].filter(({ isQuestion }) => isQuestion).length
    if (answersByHand && !this.#isTaken) {
      this.#isTaken = true
      this.#clear()
    }
    if (questions + requests > 0) this.#parts.onUnhandled({ questions, requests })
  }
}

/** Names what is missing. */
export function formatUnhandled(id: string, { questions, requests }: Unhandled): string {
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
  const parts = [
    questions > 0 &&
      `${id} was asked ${count(questions, 'question')}, and has no answer(), turns() or agent()`,
    requests > 0 && `${id} declined ${count(requests, 'request')}, as it has no tool() and no serve()`,
  ]
  return `${parts.filter(Boolean).join('; ')}. Add one, or connect with unhandled: 'decline' to watch only.`
}
