import { cut, getNamed, isAnswerTo, isHandOver } from '@meup/folds'
import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  getErrorMessage,
  isContextAncestor,
  isThought,
  Kind,
  maxCorrelations,
} from '@meup/protocol'
import { loadGuards } from '#guard'
import { type Answer, type BaseClient, createChat, createNoAnswer } from '../client/base-client.js'
import { abortedError, ConnectionError, openTurnsError } from '../client/errors.js'
import { whenResumed } from '../client/retry.js'
import { streamEvents } from '../client/stream-events.js'
import { type ChatOptions, type Draft, type ThinkingLevel, thinkingLevels } from '../client/types.js'
import type { WaitOptions } from '../client/wait.js'
import type { Arrivals } from './arrivals.js'
import type { Workload } from './control.js'
import type { ConversationLog } from './conversation-log.js'
import {
  askAgent,
  audienceOf,
  createHandOver,
  type Delegator,
  type Draftable,
  questionsOf,
  type Review,
  type ReviewOptions,
  reviewDraft,
} from './delegation.js'
import type { Deltas, LiveText } from './deltas.js'
import { agentErrors } from './errors.js'
import {
  type History,
  type MemoryBounds,
  resolveBounds,
  takeLatest,
  toHistoryMessages,
  toText,
} from './history.js'
import {
  ParallelGroups,
  type Reasoning,
  ReasoningContext,
  type ReasonOptions,
  type Think,
  thinkIn,
} from './reasoning.js'
import type { SpaceTools } from './space-tools.js'
import type { Turn } from './turn.js'

/** Maximum characters of a streamed answer: about the limit of an envelope. */
const maxAnswerChars = 250_000
/** Maximum characters of the reason for a missing answer. */
const maxReasonChars = 500

/** Parts of a client that its turns share. */
interface TurnParts {
  readonly deltas: Deltas
  readonly tools: SpaceTools
  readonly arrivals: Pick<Arrivals, 'take' | 'pass'>
  readonly log: ConversationLog
}

/** A turn, with additional methods for its client. */
export class ClientTurn implements Turn {
  readonly #abort = new AbortController()
  readonly #groups = new ParallelGroups()
  readonly #deltas: Deltas
  readonly #tools: SpaceTools
  readonly #log: ConversationLog
  readonly #runs: ReasoningContext[] = []
  /** Runs disposed without a conclusion; they are cancelled once the reason is known. */
  #left: ReasoningContext[] = []
  #leaving: ReturnType<typeof setTimeout> | undefined
  /** Ids of the messages that the reply answers. */
  readonly #asked: string[]
  #isAnswered = false
  /** Set by an own envelope in the log that answers the trigger, acknowledges it, or hands it over, however it was sent. */
  #isHandled = false
  /** Settles when the answer that is being sent is in the log or refused. */
  #answering: Promise<unknown> | undefined
  readonly #live = new Set<LiveText>()
  #isWithdrawn = false

  constructor(
    readonly space: BaseClient,
    readonly trigger: EnvelopeOf<typeof Kind.chat>,
    { deltas, tools, log }: Pick<TurnParts, 'deltas' | 'tools' | 'log'>,
    readonly isMissed = false,
  ) {
    this.#deltas = deltas
    this.#tools = tools
    this.#log = log
    this.#asked = questionsOf(trigger)
  }

  get text(): string {
    return this.trigger.payload.message
  }

  get thinkingLevel(): ThinkingLevel | undefined {
    const { thinkingLevel } = this.trigger.payload as { readonly thinkingLevel?: unknown }
    return thinkingLevels.find((level) => level === thinkingLevel)
  }

  get from(): string {
    return this.trigger.from
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get isAnswered(): boolean {
    return this.#isAnswered
  }

  async history(bounds: MemoryBounds = {}): Promise<History> {
    const resolved = resolveBounds(bounds)
    const all = await this.#log.recall(this.trigger, (all) => takeLatest(all, resolved).length < all.length)
    const messages = takeLatest(all, resolved)
    return { messages: toHistoryMessages(messages, this.space.id), text: toText(messages) }
  }

  /** Whether the asker can expect a reply that was neither sent nor shown to be missing. */
  get isUnanswered(): boolean {
    const isOver = this.#isWithdrawn || this.signal.aborted || this.space.ended !== undefined
    return !this.#isAnswered && !this.#isHandled && !isOver
  }

  abort(reason: string): void {
    this.#abort.abort(reason)
  }

  /** Applies an envelope of this participant. */
  onOwn(envelope: AnyEnvelope): void {
    if (!correlations(envelope).includes(this.trigger.id)) return
    const { kind } = envelope
    if (kind === Kind.chat) this.#isHandled ||= isHandOver(envelope) || isAnswerTo(this.from, envelope)
    else if (kind === Kind.chatAcknowledge) this.#isHandled = true
  }

  /** Whether the context is a run of this turn, or nested in one. */
  hasRun(context: string): boolean {
    return this.#runs.some((run) => run.context === context || isContextAncestor(run.context, context))
  }

  /** Aborts the turn because the sender has retracted the trigger. */
  withdraw(reason: string): void {
    this.#isWithdrawn = true
    this.abort(reason)
  }

  /** Adds a message that the reply answers too. Returns `false` if the reply already answers the maximum number of messages. */
  answerAlso(id: string): boolean {
    if (this.#asked.length >= maxCorrelations) return false
    this.#asked.push(id)
    return true
  }

  reason(message?: string, options?: ReasonOptions): Promise<Reasoning>
  reason<Value>(message: string | undefined, think: Think<Value>, options?: ReasonOptions): Promise<Value>
  reason(message?: string, first?: ReasonOptions | Think<unknown>, second?: ReasonOptions): Promise<unknown> {
    return thinkIn(first, second, (options) => this.#openRun(message, options))
  }

  async reply(
    answer: string | AsyncIterable<string>,
    options: Pick<ChatOptions, 'to' | 'format' | 'data'> = {},
  ): Promise<AnyEnvelope> {
    await this.#endLeft()
    if (typeof answer === 'string') return this.#send(answer, options)
    const live = this.#write(options)
    try {
      let text = ''
      for await (const piece of untilAborted(answer, this.signal)) {
        text += piece
        if (text.length > maxAnswerChars) throw agentErrors.longAnswer(maxAnswerChars)
        live.push(piece)
      }
      // Deltas must not be sent after the answer.
      live.close()
      return await this.#send(text, options)
    } finally {
      live.close()
    }
  }

  write(options: Pick<ChatOptions, 'to'> = {}): LiveText {
    return this.#write(options, () => this.#isHidden())
  }

  ask(agent: string, text: string, options: WaitOptions = {}): Promise<Answer> {
    return askAgent(this.#delegator(), agent, text, options)
  }

  async handOver(agent: string, note?: string): Promise<AnyEnvelope> {
    await this.#endLeft()
    return this.#answer(createHandOver(this.trigger, this.space.id, agent, note))
  }

  review(draft: Draftable, options: ReviewOptions): Promise<Review> {
    return reviewDraft(this.#delegator(), draft, options)
  }

  #delegator(): Delegator {
    const run = this.#runs.findLast(({ isClosed }) => !isClosed)
    return { space: this.space, trigger: this.trigger, signal: this.signal, run }
  }

  async acknowledge(status?: string): Promise<AnyEnvelope> {
    const payload = status === undefined ? {} : { status }
    this.#isHandled = true
    return this.space.send({
      kind: Kind.chatAcknowledge,
      to: [this.from],
      correlationId: this.trigger.id,
      payload,
    })
  }

  /**
   * Ends the turn: closes open runs with the reason, and answers an unanswered question with the reason why there is no answer.
   * `failure`: the error that ended the turn; absent = it completed.
   */
  async settle(failure?: { readonly error: unknown }): Promise<void> {
    const { aborted, reason } = this.signal
    // Aborts work that still runs, so that its results have no effect.
    if (failure) this.abort(getErrorMessage(failure.error))
    for (const live of this.#live) live.close()
    await this.#answering
    const why = aborted ? String(reason) : failure && (await guardMessage(failure.error))
    if (why !== undefined) this.#left.push(...this.#runs)
    const left = await this.#endLeft(why).catch((error: unknown) => ({ error }))
    const isAwaited = !this.#isAnswered && !this.#isWithdrawn && !this.space.ended
    if (why !== undefined && isAwaited) {
      const text = `${aborted ? 'I was stopped' : 'I could not answer'}: ${cut(why, maxReasonChars)}`
      const kind = aborted ? 'stopped' : 'failed'
      const say = (about: ChatOptions): Promise<AnyEnvelope> =>
        this.space.sendWhenAllowed(createNoAnswer(kind, text, about))
      const [, ...first] = questionsOf(this.trigger)
      await say(this.#about()).catch((error: unknown) => {
        // If this chat was refused because of too many hops between agents, it can still answer the original question of a
        // person [MEUP-7.4].
        if (first.length === 0) throw error
        return say({ ...this.#about(), correlationId: first })
      })
    }
    if (left !== undefined) throw left.error
  }

  #write({ to }: Pick<ChatOptions, 'to'>, isHidden?: () => boolean): LiveText {
    const about = { ...this.#addressees(), ...(to && { to }), correlationId: this.trigger.id }
    const live = this.#deltas.open(about, isHidden)
    this.#live.add(live)
    return live
  }

  async #send(message: string, options: Pick<ChatOptions, 'to' | 'format' | 'data'>): Promise<AnyEnvelope> {
    return this.#answer(createChat(message, { ...this.#about(), ...options }))
  }

  async #answer(chat: Draft): Promise<AnyEnvelope> {
    if (this.signal.aborted) throw abortedError(this.signal)
    const answer = this.space.sendWhenAllowed(chat, this.signal).then((sent) => {
      this.#isAnswered = true
      return sent
    })
    this.#answering = answer.catch(() => {})
    return answer
  }

  /** The correlation ids and recipients of an answer. */
  #about(): Pick<ChatOptions, 'to' | 'correlationId'> {
    const [first = this.trigger.id, ...more] = this.#asked
    return { ...this.#addressees(), correlationId: more.length === 0 ? first : [first, ...more] }
  }

  #addressees(): Pick<ChatOptions, 'to'> {
    return audienceOf(this.trigger, this.space.id)
  }

  async #openRun(message: string | undefined, options: ReasonOptions | undefined): Promise<ReasoningContext> {
    if (this.signal.aborted) throw abortedError(this.signal)
    const { trigger, signal } = this
    const onLeft = (run: ReasoningContext): void => this.#onLeft(run)
    const origin = {
      ...this.#addressees(),
      trigger: trigger.id,
      groups: this.#groups,
      signal,
      onLeft,
      tools: this.#tools,
    }
    const run = await ReasoningContext.open(this.space, origin, message, options)
    this.#runs.push(run)
    const follow = (): void => this.abort(String(run.signal.reason))
    if (run.signal.aborted) follow()
    else run.signal.addEventListener('abort', follow)
    return run
  }

  #isHidden(): boolean {
    return this.space.runs.some(
      ({ context, reasoningVisible }) =>
        !reasoningVisible && this.#runs.some((run) => run.context === context),
    )
  }

  /**
   * Cancels the run in the next tick. If an error ends the handler before, `settle` cancels it with that error as the reason.
   */
  #onLeft(run: ReasoningContext): void {
    this.#left.push(run)
    this.#leaving ??= setTimeout(() => {
      this.#endLeft().catch((error: unknown) => console.error('a run could not be cancelled:', error))
    })
  }

  async #endLeft(why?: string): Promise<void> {
    clearTimeout(this.#leaving)
    this.#leaving = undefined
    // The innermost run is cancelled first, because nested runs are disposed before the runs that contain them.
    const failures: unknown[] = []
    for (const run of this.#left.splice(0)) await run.leave(why).catch((error) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
}

/** Aborts a turn from outside its handler. */
export function abortTurn(turn: Turn, reason: string): void {
  if (turn instanceof ClientTurn) turn.abort(reason)
}

/** Yields values until the signal is aborted, then throws the reason. */
export async function* untilAborted<Value>(
  values: AsyncIterable<Value>,
  signal: AbortSignal,
): AsyncGenerator<Value, void> {
  const iterator = values[Symbol.asyncIterator]()
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(abortedError(signal))
  })
  aborted.catch(() => {})
  signal.addEventListener('abort', abort)
  try {
    if (signal.aborted) abort()
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), aborted])
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', abort)
    // Not awaited, because the iterator may never settle.
    void Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

export type AnswersOption =
  | 'asked'
  | 'all'
  | ((message: EnvelopeOf<typeof Kind.chat>, space: BaseClient) => boolean)

/** Converts the `answers` option to a predicate. */
export const toTest = (answers: AnswersOption = 'asked'): Exclude<AnswersOption, string> =>
  typeof answers === 'function'
    ? answers
    : (message, space) => space.isAsked(message, { frontDesk: answers === 'asked' })

export interface TurnOptions {
  /**
   * Selects the messages that start a turn. `asked`, the default: messages that ask this participant (`space.isAsked`). `all`:
   * also messages without addressee in a space where another participant is the front desk.
   */
  readonly answers?: AnswersOption
  /** Limits of open turns, including waiting ones; further questions are answered with "busy". */
  readonly queue?: {
    /** Maximum turns per asker; default 8. */
    readonly asker?: number
    /** Maximum turns of all askers; default 64. */
    readonly all?: number
  }
  /**
   * Also answers questions that were missed in this many recent milliseconds, oldest first: those that `answers` selects, and
   * that no run, answer or acknowledgement of this participant correlates with. Default: `false`.
   */
  readonly answerMissed?: number | false
  /** Called immediately for each turn, before its handler. */
  readonly onOpen?: (turn: Turn) => void
  /**
   * Called for each thought that another participant adds to a run of a turn with `contribute`. `correlationId` of the thought:
   * the thought that it answers.
   */
  readonly onContribution?: (contribution: EnvelopeOf<typeof Kind.reasoningThought>, turn: Turn) => void
  /**
   * Called when a turn fails, and for the first message that is refused because too many turns are open. Default: prints the
   * error.
   */
  readonly onError?: (error: unknown, turn: Turn) => void
}

/** Turn options for use within this package. */
export type OpenTurnOptions = Omit<TurnOptions, 'onOpen'> & { readonly onOpen?: (turn: ClientTurn) => void }

/** Creates turns from messages, and aborts a turn when its trigger is retracted. */
export class Turns {
  readonly #space: BaseClient
  readonly #options: OpenTurnOptions
  readonly #workload: Workload
  readonly #open = new Set<ClientTurn>()
  readonly #parts: TurnParts
  readonly #busyReplies: BusyReplies
  #isFull = false

  constructor(space: BaseClient, options: OpenTurnOptions, workload: Workload, parts: TurnParts) {
    this.#space = space
    this.#options = options
    this.#workload = workload
    this.#parts = parts
    this.#busyReplies = new BusyReplies(space, (error) => {
      if (!isClosing(space, error)) console.error('a message could not be refused:', error)
    })
  }

  /** Yields one turn at a time. A turn ends when the next one is requested. */
  sequence(): AsyncIterableIterator<ClientTurn> {
    return this.#oneByOne(this.#arrivals())
  }

  /** Runs a handler for each turn, concurrently. Resolves when the client is closed and all turns have ended. */
  async each(handler: (turn: ClientTurn) => Promise<unknown>, concurrency: number): Promise<void> {
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

  #arrivals(): AsyncIterableIterator<ClientTurn> {
    return this.#inTime(streamEvents<ClientTurn>(this.#space, (push) => this.#listen(push)))
  }

  /** Delays turns until a pause ends, because a paused participant cannot answer. */
  async *#inTime(turns: AsyncIterableIterator<ClientTurn>): AsyncGenerator<ClientTurn, void> {
    for await (const turn of turns) {
      await whenResumed(this.#space)
      if (this.#workload.isClosed) return
      yield turn
    }
  }

  async *#oneByOne(turns: AsyncIterableIterator<ClientTurn>): AsyncGenerator<ClientTurn, void> {
    for await (const turn of turns) {
      if (await this.#isTaken(turn)) continue
      if (turn.signal.aborted) {
        await this.#settle(turn, undefined)
        continue
      }
      this.#workload.begin(turn)
      let failure: { readonly error: unknown } | undefined = { error: 'the agent left the question' }
      try {
        yield turn
        failure = undefined
      } finally {
        await this.#settle(turn, failure)
      }
    }
  }

  async #handle(turn: ClientTurn, handler: (turn: ClientTurn) => Promise<unknown>): Promise<void> {
    if (await this.#isTaken(turn)) return
    this.#workload.begin(turn)
    let failure: { readonly error: unknown } | undefined
    try {
      // A question that was retracted while waiting in the queue needs no answer.
      if (!turn.signal.aborted) await Promise.race([handler(turn), gaveTime(turn.signal)])
    } catch (error) {
      failure = { error }
      if (!isClosing(this.#space, error, turn.signal) && !isAbort(error, turn)) this.#report(error, turn)
    }
    await this.#settle(turn, failure)
  }

  /**
   * Returns true, and ends the turn, if another program of this participant has answered a missed question in the meantime, or
   * if the log cannot be read, because no answer is better than two.
   */
  async #isTaken(turn: ClientTurn): Promise<boolean> {
    if (!turn.isMissed) return false
    try {
      if (!(await this.#parts.log.isTaken(turn.trigger))) return false
    } catch (error) {
      if (!isClosing(this.#space, error)) this.#report(error, turn)
    }
    this.#end(turn)
    return true
  }

  /** Whether the asker expects the reply from this participant: it is named, the front desk, or the only agent that is here. */
  #isAwaited({ trigger, from }: ClientTurn): boolean {
    if (!this.#space.isAsked(trigger)) return false
    const { id, participants, welcome } = this.#space
    if (getNamed(trigger) !== undefined || welcome.space.frontDesk === id) return true
    return !participants.some(
      (each) =>
        each.status === 'present' &&
        each.kind !== 'human' &&
        each.kind !== 'mcp' &&
        each.id !== id &&
        each.id !== from,
    )
  }

  /** Settles a turn. A failure to notify its asker is reported, and does not affect other turns. */
  async #settle(turn: ClientTurn, failure: { readonly error: unknown } | undefined): Promise<void> {
    try {
      await turn.settle(failure)
      // No `noAnswer` is sent, because the program may still answer, after the handler has returned.
      if (failure === undefined && turn.isUnanswered && this.#isAwaited(turn))
        console.warn(formatSilence(turn))
    } catch (error) {
      if (!isClosing(this.#space, error)) this.#report(error, turn)
    }
    this.#end(turn)
  }

  #end(turn: ClientTurn): void {
    this.#open.delete(turn)
    this.#isFull = false
    this.#workload.end(turn)
  }

  #report(error: unknown, turn: ClientTurn): void {
    const print = (failure: unknown): void => console.error('a turn failed:', failure)
    const { onError = print } = this.#options
    try {
      onError(error, turn)
    } catch (failure) {
      print(failure)
    }
  }

  /**
   * Adds a turn if the limits permit it; otherwise the asker gets a "busy" reply. Reports the first such refusal, and then none
   * until a turn ends.
   */
  #admit(turn: ClientTurn): boolean {
    const { asker = 8, all = 64 } = this.#options.queue ?? {}
    const own = [...this.#open].filter(({ from }) => from === turn.from).length
    if (this.#open.size < all && own < asker) {
      this.#open.add(turn)
      return true
    }
    this.#busyReplies.add(turn.trigger)
    if (!this.#isFull) {
      this.#report(openTurnsError(all, this.#open.size, own, turn.from), turn)
    }
    this.#isFull = true
    return false
  }

  #listen(push: (turn: ClientTurn) => void): () => void {
    const { answers, answerMissed = false } = this.#options
    const isMine = toTest(answers)
    const open = (chat: Message, isMissed: boolean): void => {
      if (chat.from === this.#space.id || !isMine(chat, this.#space)) return
      const turn = new ClientTurn(this.#space, chat, this.#parts, isMissed)
      if (!this.#admit(turn)) return
      try {
        this.#options.onOpen?.(turn)
      } catch (error) {
        this.#report(error, turn)
      }
      push(turn)
    }
    const onEnvelope = (envelope: AnyEnvelope): void => {
      if (envelope.from !== this.#space.id) this.#onThought(envelope)
      else for (const turn of this.#open) turn.onOwn(envelope)
    }
    this.#space.on('envelope', onEnvelope)
    const { arrivals, log } = this.#parts
    const missed = new Set<string>()
    /** Messages that arrive during the search for missed questions; their turns start after the missed ones. */
    let held: AnyEnvelope[] | undefined = answerMissed ? [] : undefined
    const receive = (envelope: AnyEnvelope): void => {
      if (held !== undefined) held.push(envelope)
      else if (envelope.kind === Kind.chatCancel) this.#onCancel(envelope)
      else if (envelope.kind === Kind.chat && !missed.has(envelope.id)) open(envelope, false)
    }
    const takeUp = (found: readonly Message[]): void => {
      const arrived = held ?? []
      held = undefined
      for (const chat of found) {
        if (arrived.some(({ id }) => id === chat.id)) continue
        missed.add(chat.id)
        arrivals.pass(chat, () => open(chat, true))
      }
      for (const envelope of arrived) arrivals.pass(envelope, receive)
    }
    if (answerMissed) {
      log.findMissed(answerMissed).then(takeUp, (error: unknown) => {
        console.error('missed questions could not be looked for:', error)
        takeUp([])
      })
    }
    const closed = (): void => {
      this.#busyReplies.close()
      for (const turn of this.#open) turn.abort('the space was closed')
    }
    const leave = arrivals.take(receive)
    this.#space.on('closed', closed)
    return () => {
      leave()
      this.#space.off('envelope', onEnvelope)
      this.#space.off('closed', closed)
    }
  }

  #onThought(envelope: AnyEnvelope): void {
    const { kind, context } = envelope
    const { onContribution } = this.#options
    if (onContribution === undefined || context === undefined) return
    if (!isThought(kind)) return
    for (const turn of this.#open) {
      if (!turn.hasRun(context)) continue
      try {
        // Reasoning kinds unknown to this version count as thoughts.
        onContribution(envelope as EnvelopeOf<typeof Kind.reasoningThought>, turn)
      } catch (error) {
        this.#report(error, turn)
      }
    }
  }

  #onCancel(cancel: EnvelopeOf<typeof Kind.chatCancel>): void {
    const taken = new Set(correlations(cancel))
    for (const turn of this.#open) {
      if (taken.has(turn.trigger.id) && turn.from === cancel.from)
        turn.withdraw(cancel.payload.reason ?? 'taken back')
    }
  }
}

const formatSilence = ({ from, trigger }: ClientTurn): string =>
  `a turn ended without a reply: ${from} gets no answer to ${trigger.id}. Call turn.reply(), or turn.acknowledge() if the message needs none.`

/** Milliseconds that the handler of an aborted turn gets to end; after that its result is ignored. */
const graceMs = 1000

/** Rejects `graceMs` after the abort. */
const gaveTime = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const aborted = (): void => void setTimeout(() => reject(abortedError(signal)), graceMs)
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted)
  })

/** Whether an error is only a consequence of the closed connection, which `closed` reports. */
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

/** Whether an error is a consequence of aborting the turn, rather than a failure of the agent. */
export const isAbort = (error: unknown, { signal }: Pick<Turn, 'signal'>): boolean =>
  signal.aborted &&
  (error === signal.reason || (error instanceof Error && (error.name === 'AbortError' || isAborted(error))))

const isAborted = (error: Error): boolean => error instanceof ConnectionError && error.code === 'aborted'

/** Masks an error message; hides it completely if the masking rules cannot be loaded. */
const guardMessage = (error: unknown): Promise<string> =>
  loadGuards().then(
    ({ guardText }) => guardText(getErrorMessage(error)),
    () => 'its error could not be checked for secrets',
  )

type Message = EnvelopeOf<typeof Kind.chat>

/** Maximum queued "busy" replies; further refused messages get no reply. */
const maxQueued = 1000
/** Milliseconds between two "busy" replies to one participant, to stay within the rate limit. */
const refusalIntervalMs = 1000

/** Replies "busy" to messages that are refused because too many turns are open. One chat answers several messages. */
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
    const message = 'I am busy: I have too many questions open to take this one. Ask again later.'
    const busy = createNoAnswer('busy', message, { to: [asker], correlationId })
    this.#client.sendWhenAllowed(busy).catch(this.#onError)
  }
}
