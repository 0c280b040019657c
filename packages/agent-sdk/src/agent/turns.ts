import { type AnyEnvelope, correlations, type EnvelopeOf, Kind, maxCorrelations } from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import { ConnectionError } from '../client/errors.js'
import { retryAfterPause, whenResumed } from '../client/retry.js'
import type { ChatOptions } from '../client/types.js'
import { streamEvents } from '../client/wait.js'
import type { Workload } from './control.js'
import { ParallelGroups, Reasoning, type ReasonOptions } from './reasoning.js'

/** One answer to one trigger [MEUP-11.5]. */
export class Turn {
  readonly #abort = new AbortController()
  readonly #groups = new ParallelGroups()

  constructor(
    readonly space: BaseClient,
    readonly trigger: EnvelopeOf<typeof Kind.chat>,
  ) {}

  /** The text of the trigger. */
  get text(): string {
    return this.trigger.payload.message
  }

  /** The sender of the trigger. */
  get from(): string {
    return this.trigger.from
  }

  /** Aborted when the sender withdraws the trigger, a run of this turn is cancelled, or the client is closed. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  abort(reason: string): void {
    this.#abort.abort(reason)
  }

  /** Opens a run. Its start is visible before any thought. */
  async reason(message?: string, options?: ReasonOptions): Promise<Reasoning> {
    const origin = { trigger: this.trigger.id, groups: this.#groups, signal: this.signal }
    const run = await Reasoning.open(this.space, origin, message, options)
    const follow = (): void => this.abort(String(run.signal.reason))
    if (run.signal.aborted) follow()
    else run.signal.addEventListener('abort', follow)
    return run
  }

  /**
   * Answers in the main conversation; a question that was put to some is answered to its asker. Who is paused answers
   * after that.
   */
  reply(message: string, options: Pick<ChatOptions, 'to' | 'format'> = {}): Promise<AnyEnvelope> {
    const to = this.trigger.to === undefined ? {} : { to: [this.trigger.from] }
    const answer = { ...to, ...options, correlationId: this.trigger.id }
    return retryAfterPause(this.space, () => this.space.chat(message, answer), this.signal)
  }

  /** Acknowledges the message without answering it. */
  acknowledge(status?: string): Promise<AnyEnvelope> {
    const payload = status === undefined ? {} : { status }
    return this.space.send({
      kind: Kind.chatAcknowledge,
      to: [this.from],
      correlationId: this.trigger.id,
      payload,
    })
  }
}

export interface TurnOptions {
  /** Which messages begin a turn; default: those to this participant, and questions to everyone. */
  readonly trigger?: (message: EnvelopeOf<typeof Kind.chat>, space: BaseClient) => boolean
  /** Called for each turn immediately, before its handler. */
  readonly onOpen?: (turn: Turn) => void
  /** Called when a turn fails, and when messages start to be refused; default: prints the error. */
  readonly onError?: (error: unknown, turn: Turn) => void
}

/**
 * Turns that are open, waiting ones included, and characters of what they ask. One asker has a quarter of that at most. A
 * message beyond that is refused: its asker gets an answer that says so.
 */
const [maxOpen, maxOpenChars] = [1000, 4 * 1024 * 1024]
const maxShare = 0.25

/** A message with a correlationId is an answer, and begins no turn. */
export const isAsked = (message: EnvelopeOf<typeof Kind.chat>, space: BaseClient): boolean =>
  message.context === undefined &&
  (message.to === undefined ? message.correlationId === undefined : message.to.includes(space.id))

/** The number of open turns, and the characters of their triggers. */
interface Load {
  readonly turns: number
  readonly chars: number
}

const hasRoom = ({ turns, chars }: Load, { text }: Turn, share: number): boolean =>
  turns < share * maxOpen && chars + text.length <= share * maxOpenChars

/** Creates turns from messages, and aborts turns that are withdrawn. */
export class Turns {
  readonly #space: BaseClient
  readonly #options: TurnOptions
  readonly #workload: Workload
  readonly #open = new Set<Turn>()
  readonly #byAsker = new Map<string, Load>()
  readonly #busyReplies: BusyReplies
  #openChars = 0
  #isFull = false

  constructor(space: BaseClient, options: TurnOptions, workload: Workload) {
    this.#space = space
    this.#options = options
    this.#workload = workload
    this.#busyReplies = new BusyReplies(space, (error) => {
      if (!isClosing(space, error)) console.error('a message could not be refused:', error)
    })
  }

  /** One turn at a time: a turn ends when the next one is requested. */
  sequence(): AsyncIterableIterator<Turn> {
    return this.#oneByOne(this.#arrivals())
  }

  /** Concurrent turns. Resolves when the client is closed and every turn has ended. */
  async each(handler: (turn: Turn) => Promise<void>, concurrency: number): Promise<void> {
    const running = new Set<Promise<void>>()
    try {
      for await (const turn of this.#arrivals()) {
        const run = this.#handle(turn, handler).finally(() => running.delete(run))
        running.add(run)
        while (running.size >= concurrency) await Promise.race(running)
      }
    } finally {
      await Promise.all(running)
    }
  }

  #arrivals(): AsyncIterableIterator<Turn> {
    return this.#inTime(streamEvents<Turn>(this.#space, (push) => this.#listen(push)))
  }

  /** Turns wait for the end of a pause, since a paused participant cannot answer. */
  async *#inTime(turns: AsyncIterableIterator<Turn>): AsyncGenerator<Turn, void> {
    for await (const turn of turns) {
      await whenResumed(this.#space)
      if (this.#workload.isClosed) return
      yield turn
    }
  }

  async *#oneByOne(turns: AsyncIterableIterator<Turn>): AsyncGenerator<Turn, void> {
    for await (const turn of turns) {
      this.#workload.begin(turn)
      try {
        yield turn
      } finally {
        this.#end(turn)
      }
    }
  }

  async #handle(turn: Turn, handler: (turn: Turn) => Promise<void>): Promise<void> {
    this.#workload.begin(turn)
    try {
      await handler(turn)
    } catch (error) {
      if (!isClosing(this.#space, error, turn.signal)) this.#report(error, turn)
    } finally {
      this.#end(turn)
    }
  }

  #end(turn: Turn): void {
    if (this.#open.delete(turn)) this.#count(turn, -1)
    this.#isFull = false
    this.#workload.end(turn)
  }

  #report(error: unknown, turn: Turn): void {
    const { onError = (failure) => console.error('a turn failed:', failure) } = this.#options
    onError(error, turn)
  }

  /** Whether the turn fits the limits. The first refusal is reported, until there is room again. */
  #admit(turn: Turn): boolean {
    if (hasRoom({ turns: this.#open.size, chars: this.#openChars }, turn, 1) && this.#hasShareLeft(turn)) {
      this.#open.add(turn)
      this.#count(turn, 1)
      return true
    }
    this.#busyReplies.add(turn.trigger)
    if (!this.#isFull) {
      const own = this.#byAsker.get(turn.from)?.turns ?? 0
      const message = `${this.#open.size} turns are open, ${own} of ${turn.from}; messages are refused until one has ended`
      this.#report(new ConnectionError('queue_full', message), turn)
    }
    this.#isFull = true
    return false
  }

  #hasShareLeft(turn: Turn): boolean {
    const own = this.#byAsker.get(turn.from)
    return own === undefined || hasRoom(own, turn, maxShare)
  }

  #count({ from, text }: Turn, by: 1 | -1): void {
    const { turns, chars } = this.#byAsker.get(from) ?? { turns: 0, chars: 0 }
    this.#openChars += by * text.length
    if (turns + by === 0) this.#byAsker.delete(from)
    else this.#byAsker.set(from, { turns: turns + by, chars: chars + by * text.length })
  }

  #listen(push: (turn: Turn) => void): () => void {
    const { trigger = isAsked } = this.#options
    const receive = (envelope: AnyEnvelope): void => {
      if (envelope.kind === Kind.chat && envelope.from !== this.#space.id && trigger(envelope, this.#space)) {
        const turn = new Turn(this.#space, envelope)
        if (!this.#admit(turn)) return
        this.#options.onOpen?.(turn)
        push(turn)
      } else if (envelope.kind === Kind.chatCancel) this.#onCancel(envelope)
    }
    const closed = (): void => {
      this.#busyReplies.close()
      for (const turn of this.#open) turn.abort('the space was closed')
    }
    this.#space.on('envelope', receive)
    this.#space.on('closed', closed)
    return () => {
      this.#space.off('envelope', receive)
      this.#space.off('closed', closed)
    }
  }

  #onCancel(cancel: EnvelopeOf<typeof Kind.chatCancel>): void {
    const taken = new Set(correlations(cancel))
    for (const turn of this.#open) {
      if (taken.has(turn.trigger.id) && turn.from === cancel.from)
        turn.abort(cancel.payload.reason ?? 'taken back')
    }
  }
}

/** Whether the error is only a consequence of the closed connection, which `closed` reports. */
export function isClosing(
  { ended }: Pick<BaseClient, 'ended'>,
  error: unknown,
  signal?: AbortSignal,
): boolean {
  if (ended === undefined) return false
  if (error instanceof ConnectionError) return true
  if (signal?.aborted !== true) return false
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}

type Message = EnvelopeOf<typeof Kind.chat>

/** Refused messages that wait for their reply; beyond this they get none. */
const maxQueued = 1000
/** Milliseconds between two replies to one participant, so that refusals do not exhaust the rate limit. */
const refusalIntervalMs = 1000

/** Replies to messages that are refused for lack of room, several in one chat. */
class BusyReplies {
  readonly #client: BaseClient
  readonly #onError: (error: unknown) => void
  readonly #byAsker = new Map<string, string[]>()
  #size = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(client: BaseClient, onError: (error: unknown) => void) {
    this.#client = client
    this.#onError = onError
  }

  add({ id, from }: Message): void {
    if (this.#size >= maxQueued) return
    this.#size++
    this.#byAsker.set(from, [...(this.#byAsker.get(from) ?? []), id])
    this.#timer ??= setTimeout(() => this.#flush(), 0)
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #flush(): void {
    for (const [asker, ids] of this.#byAsker) {
      const refused = ids.splice(0, maxCorrelations)
      this.#size -= refused.length
      if (ids.length === 0) this.#byAsker.delete(asker)
      this.#refuse(asker, refused)
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#size > 0) this.#flush()
    }, refusalIntervalMs)
  }

  #refuse(asker: string, correlationId: readonly string[]): void {
    const message = 'I have too many questions open to take this one. Ask again later.'
    retryAfterPause(this.#client, () => this.#client.chat(message, { to: [asker], correlationId })).catch(
      this.#onError,
    )
  }
}
