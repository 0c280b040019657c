import { createTranscript, type Questions, type TranscriptMessage } from '@meup/folds'
import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  getErasure,
  getErrorMessage,
  Kind,
  type WelcomePayload,
} from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import { Notice } from '../client/errors.js'
import type { ClientHandler } from '../client/handler.js'
import type { HttpClient } from '../http/http-client.js'
import { audienceOf } from './delegation.js'

type Chat = EnvelopeOf<typeof Kind.chat>

/** Kinds that change the conversation: messages, cancellations, erasures, prunings, and requests to clear the memory. */
const kinds = [Kind.chat, Kind.chatCancel, Kind.participantClear, Kind.systemSpace]
/** Milliseconds after a failed read of the log until the next one: turns wait for a read, which may take until its timeout. */
const retryMs = 60_000
/** Envelopes per page, and pages per call. For each page the gateway scans at most 10,000 envelopes. */
const [pageSize, maxPages] = [200, 10]
/** Maximum characters of kept messages, and the characters counted per envelope in addition to its text. */
const [maxChars, envelopeChars] = [1_000_000, 500]

interface Parts {
  readonly http: Pick<HttpClient, 'readLogPage'>
  /** Records which questions this participant asked earlier. */
  readonly questions: Questions
  /** Called when the log cannot be read, but not again until it has been read successfully. */
  onError(error: unknown): void
}

/**
 * The chats outside of contexts (the main conversation), as far as this participant may read them: those received since the
 * first use, and older ones read from the log on demand.
 */
export class ConversationLog implements ClientHandler {
  readonly #client: BaseClient
  readonly #parts: Parts
  /** Envelopes by seq, in log order; `undefined` = not used yet, so nothing is recorded. */
  #known: Map<number, AnyEnvelope> | undefined
  #chars = 0
  /** Set when `maxChars` is reached: older messages would be dropped immediately. */
  #isFull = false
  /** All messages from this seq on are in `#known`. */
  #from = Number.POSITIVE_INFINITY
  /** Envelopes before this seq are forgotten, after a request to clear the memory. */
  #cleared = 0
  #reading: Promise<unknown> = Promise.resolve()
  #looking: Promise<unknown> = Promise.resolve()
  /** After a failure, the log is not read before this time, in ms since 1970. */
  #readableAt = 0
  #hasFailed = false

  constructor(client: BaseClient, parts: Parts) {
    this.#client = client
    this.#parts = parts
  }

  /** All messages from this seq on are known; `Infinity` = none was read yet. */
  get knownFrom(): number {
    return this.#from <= this.#cleared ? 0 : this.#from
  }

  /** Seq of the last recorded envelope; 0 = none. */
  get head(): number {
    return [...(this.#known?.keys() ?? [])].at(-1) ?? 0
  }

  /** Starts recording messages. */
  listen(): void {
    this.#known ??= new Map()
  }

  onWelcome({ resume }: WelcomePayload): void {
    this.#readableAt = 0
    if (resume.status !== 'lost') return
    this.#known?.clear()
    this.#chars = 0
    this.#isFull = false
    this.#cleared = 0
    this.#from = Number.POSITIVE_INFINITY
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (this.#known !== undefined) this.#add(envelope)
  }

  /** Reads older messages until `isEnough`, then returns those that a turn may recall, oldest first. */
  async recall(
    trigger: Chat | undefined,
    isEnough: (messages: readonly TranscriptMessage[]) => boolean,
  ): Promise<readonly TranscriptMessage[]> {
    await this.#load(() => isEnough(this.before(trigger)))
    return this.before(trigger)
  }

  /**
   * The known messages before `trigger` (default: all), oldest first. A private message is included only if all readers of the
   * answer may read it.
   */
  before(trigger: Chat | undefined): readonly TranscriptMessage[] {
    const { to: audience } = trigger === undefined ? {} : audienceOf(trigger, this.#client.id)
    const isKnown = ({ source: { from, to = [] } }: TranscriptMessage): boolean =>
      audience?.every((id) => from === id || to.includes(id)) === true
    const end = trigger?.seq ?? Number.POSITIVE_INFINITY
    return this.#messages().filter(
      (message) => message.source.seq < end && (isPublic(message) || isKnown(message)),
    )
  }

  /**
   * Whether the messages up to `through`, as known at seq `asOf`, are unchanged: none was retracted, erased or forgotten since.
   * False if uncertain.
   */
  holds({ through, asOf }: { readonly through: number; readonly asOf: number }): boolean {
    if (this.knownFrom > asOf + 1 || this.#cleared > asOf) return false
    const known = [...(this.#known?.values() ?? [])]
    const byId = new Map(known.map((envelope) => [envelope.id, envelope]))
    return known.every((envelope) => {
      const { seq = 0, kind, from } = envelope
      if (seq <= asOf) return true
      if (kind === Kind.chatCancel) {
        return correlations(envelope).every((id) => {
          const chat = byId.get(id)
          return chat !== undefined && (chat.from !== from || (chat.seq ?? 0) > through)
        })
      }
      const { event, through: pruned } = envelope.payload as { event?: unknown; through?: unknown }
      // A pruning also removes the records of earlier erasures, so after one that reaches beyond `asOf` it is unknown whether
      // messages were erased.
      if (kind === Kind.systemSpace && event === 'pruned') return Number(pruned) <= asOf
      return (getErasure(envelope)?.seq ?? Number.POSITIVE_INFINITY) > through
    })
  }

  /**
   * Messages of other participants in the last `ms`, oldest first, without those that this participant is known to have
   * answered.
   */
  async findMissed(ms: number): Promise<readonly Chat[]> {
    const since = this.#client.gatewayTime() - ms
    const isOld = ({ ts }: TranscriptMessage): boolean => Date.parse(ts) < since
    await this.#load(() => this.#messages().some(isOld))
    const messages = this.#messages()
    const { id } = this.#client
    const answered = new Set(messages.flatMap(({ source, answers }) => (source.from === id ? answers : [])))
    return messages.flatMap((message) => {
      const { source } = message
      const chat = this.#known?.get(source.seq)
      const isOpen = source.from !== id && !answered.has(source.id) && !isOld(message)
      return isOpen && chat?.kind === Kind.chat ? [chat] : []
    })
  }

  /**
   * Returns whether this participant has already answered a question, from any of its clients. Rejects if the log cannot be
   * read.
   */
  isTaken(question: Chat): Promise<boolean> {
    // One lookup at a time, because the gateway limits concurrent requests.
    const found = this.#looking.then(() => this.#isTaken(question))
    this.#looking = found.catch(() => {})
    return found
  }

  async #isTaken({ id, seq = 0 }: Chat): Promise<boolean> {
    const query = { correlationId: id, from: this.#client.id, limit: 1 }
    let after = seq
    for (let pages = 0; pages < maxPages; pages++) {
      const { envelopes, next } = await this.#parts.http.readLogPage({ ...query, after })
      if (envelopes.length > 0) return true
      if (next === undefined) return false
      after = next
    }
    return true // There are more pages to search: the question counts as answered, because no answer is better than two.
  }

  /** The known messages, with `message` of the chat as their text: `createTranscript` appends other fields, such as `data`. */
  #messages(): readonly TranscriptMessage[] {
    const transcript = createTranscript(Number.POSITIVE_INFINITY)
    const known = this.#known ?? new Map<number, AnyEnvelope>()
    const erased = new Set([...known.values()].map((envelope) => getErasure(envelope)?.seq))
    for (const [seq, envelope] of known) {
      if (seq > this.#cleared && !erased.has(seq)) transcript.apply(envelope)
    }
    return transcript.messages().flatMap((message) => {
      const chat = known.get(message.source.seq)
      const isSaid = chat?.kind === Kind.chat && !message.isTakenBack
      return isSaid ? [{ ...message, text: chat.payload.message }] : []
    })
  }

  /** Reads pages of the log, latest first. Concurrent calls run one after another. Never rejects. */
  async #load(isEnough: () => boolean): Promise<void> {
    this.listen()
    const reading = this.#reading.then(() => this.#readUntil(isEnough))
    this.#reading = reading
    await reading
  }

  async #readUntil(isEnough: () => boolean): Promise<void> {
    if (this.#isFull || Date.now() < this.#readableAt) return
    try {
      for (let pages = 0; pages < maxPages; pages++) {
        if (this.knownFrom === 0 || (this.knownFrom < Number.POSITIVE_INFINITY && isEnough())) break
        await this.#readPage()
      }
      this.#hasFailed = false
    } catch (error) {
      this.#readableAt = Date.now() + retryMs
      if (this.#hasFailed || this.#client.ended !== undefined) return
      this.#hasFailed = true
      const message = `earlier messages could not be read from the log, and are not remembered: ${getErrorMessage(error)}`
      this.#parts.onError(new Notice(message, { cause: error }))
    }
  }

  async #readPage(): Promise<void> {
    const before = Number.isFinite(this.#from) ? { before: this.#from } : {}
    const page = await this.#parts.http.readLogPage({
      kind: kinds,
      order: 'desc',
      limit: pageSize,
      ...before,
    })
    const isThisLog = page.epoch === this.#client.welcome.space.epoch
    if (!isThisLog) throw new Error('the log was replaced')
    const live = this.#known ?? new Map<number, AnyEnvelope>()
    this.#known = new Map()
    this.#chars = 0
    this.#from = page.next ?? 0
    for (const envelope of page.envelopes.toReversed()) {
      this.#parts.questions.apply(envelope, this.#client.id)
      this.#add(envelope)
    }
    for (const envelope of live.values()) this.#add(envelope)
  }

  #add(envelope: AnyEnvelope): void {
    const { seq, kind, to } = envelope
    if (seq === undefined || !(kinds as readonly string[]).includes(kind)) return
    if (kind === Kind.participantClear && to?.includes(this.#client.id))
      this.#cleared = Math.max(this.#cleared, seq)
    if (this.#known?.has(seq) !== false) return
    this.#known.set(seq, envelope)
    this.#chars += countChars(envelope)
    for (const [oldest, each] of this.#known) {
      if (this.#chars <= maxChars || this.#known.size === 1) break
      this.#isFull = true
      this.#known.delete(oldest)
      this.#chars -= countChars(each)
      this.#from = Math.max(this.#from, oldest + 1)
    }
  }
}

/** Whether everyone may read the message. */
export const isPublic = ({ source }: TranscriptMessage): boolean => source.to === undefined

const countChars = (envelope: AnyEnvelope): number =>
  envelopeChars + (envelope.kind === Kind.chat ? envelope.payload.message.length : 0)
