import {
  contextParent,
  correlations,
  type DecisionPayload,
  type Envelope,
  erasedMethod,
  GATEWAY,
  getErasure,
  isThought,
  Kind,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { getAttempt, isElicitation, isRefusedCall } from '../mcp/calls.js'
import { getAnswerer } from '../mcp/program-ended.js'
import { getOutcome } from '../mcp/result.js'
import { isAnswerTo, isHandOver } from '../space/answers.js'
import { type Call, type CallChange, Calls, isProposal, RecentCalls } from '../space/calls.js'
import { ContextStates, type OpenedContext } from '../space/contexts.js'
import { thoughtSteps } from '../steps/steps.js'
import { createUlids } from '../steps/ulid.js'
import { type AskedCallsSnapshot, type CallPlace, maxCalls, movePlace, restoreCalls } from './asked-calls.js'
import { FreeQuestions, type FreeQuestionsSnapshot, toKey, toPathKey } from './free-questions.js'
import { type Assigned, type Beginning, Marking, type OpenTurn, Role, unassigned } from './marks.js'

interface Trigger {
  readonly id: string
  readonly seq: number
  readonly kind: string
  readonly from: string
  readonly to?: readonly string[] | undefined
  /** `true` if the chat hands a question over. An answer that names both the question and this chat answers this chat. */
  readonly isHandOver?: true
}

type Entries<Value> = readonly (readonly [key: string, value: Value])[]

/** The state of an `Assigner` as JSON; turns are referred to by their numbers. */
export interface AssignSnapshot {
  readonly seq: number
  readonly latest: string
  readonly last: number
  readonly touches: number
  readonly turns: readonly OpenTurn[]
  /** Open contexts. Snapshots of earlier versions have closed ones too. */
  readonly lifecycle: Entries<Pick<OpenedContext, 'context' | 'state'> & { readonly starter: string }>
  readonly contexts: Entries<number>
  readonly causes: Entries<number>
  readonly triggers: Entries<Trigger>
  readonly triggered: Entries<readonly number[]>
  readonly numbers: Entries<number>
  readonly asked: AskedCallsSnapshot
  /** The state of `FreeQuestions`; absent in snapshots of earlier versions. */
  readonly free?: FreeQuestionsSnapshot
}

/** Maximum number of turns per trigger that a retraction ends; older ones continue. */
const maxTurnsPerTrigger = 100

/**
 * Assigns each envelope to turns and numbers its steps [MEUP-10.5]. A pure fold with bounded memory; needs the log from its
 * start, or from a snapshot on.
 */
export class Assigner {
  readonly #states = new ContextStates({ closed: 0 })
  readonly #contexts = new Bounded<OpenTurn>(40_000)
  readonly #causes = new Bounded<OpenTurn>(40_000)
  readonly #triggers = new Bounded<Trigger>(20_000)
  readonly #triggered = new Bounded<readonly OpenTurn[]>(20_000)
  readonly #numbers = new Bounded<number>(10_000)
  readonly #calls = new Calls<CallPlace>({
    store: new RecentCalls(maxCalls),
    reduce: (change, envelope) => this.#onCall(change, envelope),
  })
  readonly #free = new FreeQuestions()
  readonly #marking = new Marking()
  readonly #ulid: ReturnType<typeof createUlids>
  #last = 0
  #latest = ''
  /** Seq of the last assigned envelope; 0 = none. */
  seq = 0

  constructor(epoch: string) {
    this.#ulid = createUlids(epoch)
  }

  /** Makes a question known whose envelope may precede the log. Its seq is 0 until the envelope arrives. */
  expect({ id, from }: Pick<Trigger, 'id' | 'from'>): void {
    this.#addTrigger({ id, from, kind: Kind.chat })
  }

  /** Returns the effects of the next envelope on turns; none if it is repeated or not logged. */
  assign(envelope: Envelope): Assigned {
    const { seq, ts, kind } = envelope
    if (seq === undefined || seq <= this.seq) return unassigned
    this.seq = seq
    if (ts > this.#latest) this.#latest = ts
    this.#calls.apply(envelope)
    this.#free.apply(envelope)
    const effect = effects[kind]
    if (effect !== undefined) effect(this, envelope)
    else if (isThought(kind)) this.thought(envelope)
    return this.#marking.done(this.#latest)
  }

  chat(envelope: Envelope): void {
    this.#addTrigger(envelope)
    if (envelope.context !== undefined) {
      if (!this.#markSpeech(envelope)) this.#markFreeSpeech(envelope)
      return
    }
    const path = this.#free.answer(envelope)
    const turn = path === undefined ? this.#findAnsweringTurn(envelope) : this.#causes.use(path)
    if (turn !== undefined) this.#marking.mark(turn, this.#isAnswer(envelope) ? Role.answer : Role.speak)
  }

  /** Whether a chat ends the turn of its sender: an answer or a hand-over does. */
  #isAnswer(chat: Envelope): boolean {
    const askers = correlations(chat).flatMap((id) => this.#triggers.get(id)?.from ?? [])
    return isHandOver(chat) || askers.length === 0 || askers.some((asker) => isAnswerTo(asker, chat))
  }

  chatCancel(envelope: Envelope): void {
    for (const trigger of correlations(envelope)) this.#takeBack(trigger, envelope.from)
  }

  /**
   * Handles a cancellation of a call by its caller. The call may already be answered; the turn that answers it is retracted.
   */
  cancellation(envelope: Envelope): void {
    const call = this.#calls.findCancelled(envelope)
    if (call === undefined) return
    for (const turn of call.data.settles) this.#marking.end(turn, Role.settle)
    this.#takeBack(call.id, envelope.from)
  }

  response(envelope: Envelope): void {
    const phase = getOutcome(envelope.payload) === 'error' ? 'error' : 'execute'
    for (const { data } of this.#findCalls(envelope)) this.#marking.step(data.home, phase, Role.home)
    const turn = this.#findAnsweringTurn(envelope, getAnswerer(envelope))
    if (turn?.heading.inputSource !== Kind.mcpRequest) return
    const { trigger } = turn.heading
    const isAnswer = correlations(envelope).some((id) => this.#triggers.get(id)?.seq === trigger)
    if (isAnswer) this.#marking.mark(turn, Role.answer)
  }

  start(envelope: Envelope): void {
    const { id, from } = envelope
    const known = this.#enterFreePath(envelope) ?? this.#findTurn(envelope)
    const [{ opened } = {}] = this.#states.apply(envelope)
    if (known?.heading.agent === from) this.#marking.mark(known, Role.turn)
    if (opened === undefined) {
      if (known === undefined && envelope.context !== undefined)
        this.#marking.mark(this.#beginJob(envelope), Role.turn)
      return
    }
    const turn = known ?? this.#begin(envelope)
    this.#contexts.renew(opened.context, turn)
    turn.open++
    this.#causes.renew(toKey(turn.heading.agent, id), turn)
    this.#marking.mark(turn, Role.open)
  }

  thought(envelope: Envelope): void {
    const { from } = envelope
    const steps = thoughtSteps(envelope.payload)
    const entered = steps.length === 0 ? undefined : this.#enterFreePath(envelope)
    const known = entered ?? this.#findTurn(envelope)
    if (known?.heading.agent === from) this.#marking.mark(known, Role.turn)
    if (steps.length === 0) return
    const turn = known ?? this.#beginJob(envelope)
    for (const { phase } of steps) this.#marking.step(turn, phase, Role.turn)
  }

  /** Handles a conclusion or a cancel. A cancel by another participant only asks the agent to stop. */
  close(envelope: Envelope): void {
    const { context, from } = envelope
    const own = this.#getEnclosingTurns(context).find(({ heading }) => heading.agent === from)
    if (own !== undefined) this.#marking.mark(own, Role.turn)
    const free = own ?? this.#findFreePathTurn(context, from)
    if (own === undefined && free !== undefined) this.#marking.end(free, Role.turn | Role.close)
    if (own === undefined && envelope.to === undefined) this.#free.conclude(envelope)
    const closed = this.#states.apply(envelope).filter(({ what }) => what === 'closed')
    for (const { opened } of closed) {
      const turn = this.#contexts.use(opened.context)
      if (turn === undefined) continue
      turn.open--
      this.#marking.end(turn, turn.open === 0 ? Role.close | Role.last : Role.close)
    }
    if (own === undefined && closed.length === 0) this.#markSpeech(envelope)
  }

  /** Handles a decision of the gateway: it makes a step, and a refused call also a tool decision. */
  decision(envelope: Envelope): void {
    const attempt = getAttempt(envelope)
    if (attempt === undefined) return
    const turn = this.#findTurn(attempt) ?? this.#beginJob(attempt)
    this.#marking.step(turn, 'waiting_approval', Role.turn)
    const isCall = turn.heading.agent === attempt.from && isRefusedCall(envelope.payload as DecisionPayload)
    if (isCall) this.#marking.end(turn, Role.dispatch | Role.settle)
  }

  /** Forgets the fields that come from an erased payload [MEUP-10.10]. */
  erasure(envelope: Envelope): void {
    const erasure = getErasure(envelope)
    if (erasure !== undefined) this.#calls.erase(erasure.id)
  }

  snapshot(): AssignSnapshot {
    const turns = new Map<number, OpenTurn>()
    const getNumber = (turn: OpenTurn): number => {
      turns.set(turn.heading.turn, turn)
      return turn.heading.turn
    }
    const numbered = (entries: [string, OpenTurn][]) =>
      entries.map(([key, turn]) => [key, getNumber(turn)] as const)
    const open = [...this.#states.open()]
    const contexts = numbered(this.#contexts.snapshot())
    const causes = numbered(this.#causes.snapshot())
    const triggered = this.#triggered
      .snapshot()
      .map(([key, several]) => [key, several.map(getNumber)] as const)
    const calls = this.#calls.snapshot().map((call) => ({ ...call, data: movePlace(call.data, getNumber) }))
    return {
      seq: this.seq,
      latest: this.#latest,
      last: this.#last,
      touches: this.#marking.touches,
      turns: [...turns.values()],
      lifecycle: open.map(({ context, owner: starter, state }) => [context, { context, starter, state }]),
      contexts,
      causes,
      triggers: this.#triggers.snapshot(),
      triggered,
      numbers: this.#numbers.snapshot(),
      asked: { calls },
      free: this.#free.snapshot(),
    }
  }

  /** Restores a snapshot; only before the first `assign`. */
  restore(snapshot: AssignSnapshot): void {
    const { seq, latest, last, touches, turns, lifecycle, triggers, numbers, asked } = snapshot
    const byNumber = new Map(turns.map((turn) => [turn.heading.turn, { ...turn }]))
    const turnAt = (number: number): OpenTurn => {
      const turn = byNumber.get(number)
      if (turn === undefined) throw new Error(`the snapshot has no turn ${number}`)
      return turn
    }
    this.seq = seq
    this.#latest = latest
    this.#last = last
    this.#marking.touches = touches
    for (const [, { context, starter: owner, state }] of lifecycle)
      if (state === 'open') this.#states.learn({ context, owner, state, startedAt: '' })
    this.#triggers.restore(triggers)
    this.#numbers.restore(numbers)
    for (const [key, turn] of snapshot.contexts) this.#contexts.set(key, turnAt(turn))
    for (const [key, turn] of snapshot.causes) this.#causes.set(key, turnAt(turn))
    for (const [key, several] of snapshot.triggered) this.#triggered.set(key, several.map(turnAt))
    this.#calls.restore(restoreCalls(asked).map((call) => ({ ...call, data: movePlace(call.data, turnAt) })))
    if (snapshot.free !== undefined) this.#free.restore(snapshot.free)
  }

  #onCall(change: CallChange<CallPlace>, envelope: Envelope): CallPlace {
    const { call } = change
    if (change.what === 'asked')
      return call.kind === 'proposal' ? this.#propose(envelope) : this.#request(call, envelope)
    const { data } = call
    if (change.what === 'fulfilled') return { ...data, isFulfilled: true }
    const role = getEndRole(change)
    if (role !== 0) for (const turn of data.settles) this.#marking.end(turn, role)
    return data
  }

  #request({ id, from }: Call<unknown>, envelope: Envelope): CallPlace {
    // An elicitation belongs to the work on its call, so a response to it begins no turn.
    if (!this.#isQuestion(envelope)) this.#addTrigger(envelope)
    const proposals = this.#findCalls(envelope).filter(isProposal)
    for (const { from: proposer, data } of proposals) {
      // If the approver's request goes to the proposer itself, the work on it belongs to the turn that proposed.
      const isBack = envelope.to?.includes(proposer) && data.home.heading.agent === proposer
      if (isBack) this.#causes.renew(toKey(proposer, id), data.home)
    }
    const known = this.#findTurn(envelope)
    const home = known ?? proposals[0]?.data.home ?? this.#beginJob(envelope)
    const isOwn = home.heading.agent === from && (known !== undefined || home.heading.jobId === id)
    const settles = proposals.flatMap(({ data }) => data.settles)
    for (const turn of settles) this.#marking.mark(turn, Role.fulfil)
    this.#marking.mark(home, isOwn ? Role.call | Role.dispatch : Role.call)
    return { home, settles: isOwn ? [...settles, home] : settles }
  }

  #propose(envelope: Envelope): CallPlace {
    const home = this.#findTurn(envelope) ?? this.#beginJob(envelope)
    const isOwn = home.heading.agent === envelope.from
    this.#marking.mark(home, isOwn ? Role.call | Role.dispatch : Role.call)
    this.#marking.step(home, 'waiting_approval')
    return { home, settles: isOwn ? [home] : [] }
  }

  /** Finds the calls that this envelope refers to. */
  #findCalls(envelope: Envelope): Call<CallPlace>[] {
    return correlations(envelope).flatMap((id) => this.#calls.get(id) ?? [])
  }

  /** Ends the turns of a trigger, if `asker` sent it. */
  #takeBack(trigger: string, asker: string): void {
    if (this.#triggers.get(trigger)?.from !== asker) return
    const turns = [...(this.#triggered.get(trigger) ?? [])]
    for (const turn of turns.sort((one, other) => one.touched - other.touched))
      this.#marking.end(turn, Role.takeBack)
  }

  /**
   * Marks a chat in a run: it belongs to the run's turn, even if another participant sent it. It changes nothing in a
   * `FoldedTurn`, unless its agent sends it in a free path (a context that no run has opened).
   */
  #markSpeech({ context, from }: Envelope): boolean {
    const around = this.#getEnclosingTurns(context)
    const turn = around.find(({ heading }) => heading.agent === from) ?? around[0]
    if (turn !== undefined) this.#marking.mark(turn, Role.speak)
    return turn !== undefined
  }

  /** Marks a public chat in a free path: it belongs to the sender's turn there, and begins one if it answers a question. */
  #markFreeSpeech(chat: Envelope): void {
    if (chat.to !== undefined) return
    const turn = this.#enterFreePath(chat) ?? this.#findTurn(chat)
    if (turn !== undefined) this.#marking.mark(turn, Role.speak)
  }

  /** Whether a request is an elicitation about a call. An erased one is recognized by its only addressee, the caller. */
  #isQuestion(request: Envelope): boolean {
    const { payload, correlationId } = request
    if (payload.method !== erasedMethod) return isElicitation(payload) && correlationId !== undefined
    const [only, ...others] = request.to ?? []
    const calls = this.#findCalls(request).filter((call) => !isProposal(call))
    return others.length === 0 && calls.some(({ from }) => from === only)
  }

  /** Remembers a chat or a request, because an answer to it may begin a turn. */
  #addTrigger(
    envelope: Pick<Envelope, 'id' | 'seq' | 'kind' | 'from' | 'to'> & Partial<Pick<Envelope, 'payload'>>,
  ): void {
    const { id, seq = 0, kind, from, to, payload = {} } = envelope
    this.#triggers.set(id, { id, seq, kind, from, to, ...(isHandOver({ payload }) && { isHandOver: true }) })
  }

  /**
   * Finds the turn of an envelope: the sender's turn, by the context or the answered envelope, or a new one if it answers a new
   * trigger; otherwise the turn that owns the context.
   */
  #findTurn(envelope: Envelope): OpenTurn | undefined {
    const { context, from } = envelope
    if (context === undefined) return this.#findAnsweringTurn(envelope)
    const around = this.#getEnclosingTurns(context)
    const own = around.find(({ heading }) => heading.agent === from) ?? this.#findAnsweringTurn(envelope)
    if (around.length > 0) return own ?? around[0]
    const turn = this.#findFreePathTurn(context, from)
    if (own === undefined || turn !== undefined) return this.#addCause(envelope, own ?? turn)
    return this.#takeUp(envelope, own)
  }

  /**
   * Finds the agent's turn in a free path (a context that no run has opened); nested paths belong to the turn of their root
   * [MEUP-11.16].
   */
  #findFreePathTurn(context: string | undefined, agent: string): OpenTurn | undefined {
    return context === undefined ? undefined : this.#causes.use(toPathKey(agent, context))
  }

  /**
   * Finds or begins the turn for the question that this envelope begins to answer without naming it, by public work in a free
   * path [MEUP-11.16]; `undefined` = the envelope begins no answer.
   */
  #enterFreePath(envelope: Envelope): OpenTurn | undefined {
    const { from, to, context, correlationId } = envelope
    if (context === undefined || to !== undefined || correlationId !== undefined) return undefined
    if (this.#getEnclosingTurns(context).length > 0) return undefined
    const id = this.#free.enter(envelope)
    const trigger = id === undefined ? undefined : this.#triggers.get(id)
    if (trigger === undefined) return undefined
    return this.#takeUp(envelope, this.#causes.use(toKey(from, trigger.id)) ?? this.#begin(envelope, trigger))
  }

  /** Links a free path (a context that no run has opened) to the turn: further work of the agent there belongs to the turn. */
  #takeUp(envelope: Envelope, turn: OpenTurn): OpenTurn | undefined {
    const { context, from } = envelope
    if (context === undefined || turn.heading.agent !== from) return turn
    this.#causes.renew(toPathKey(from, context), turn)
    this.#marking.mark(turn, Role.free)
    return this.#addCause(envelope, turn)
  }

  /** Lets answers to this envelope find the turn by its id. */
  #addCause({ id, from }: Envelope, turn: OpenTurn | undefined): OpenTurn | undefined {
    if (turn !== undefined) this.#causes.renew(toKey(from, id), turn)
    return turn
  }

  /** Begins a job. In a free path all work of an agent is one job. */
  #beginJob(envelope: Envelope): OpenTurn {
    const job = this.#begin(envelope)
    return this.#takeUp(envelope, job) ?? job
  }

  /** Finds the sender's turn about the answered envelope; begins it with the first answer [MEUP-11.5]. */
  #findAnsweringTurn(envelope: Envelope, from = envelope.from): OpenTurn | undefined {
    if (envelope.correlationId === undefined) return undefined
    const all = correlations(envelope)
    const handOver = all.find((id) => this.#triggers.get(id)?.isHandOver)
    const causes = handOver === undefined ? all : [handOver]
    for (const cause of causes) {
      const turn = this.#causes.use(toKey(from, cause)) ?? this.#causes.use(toPathKey(from, cause))
      if (turn !== undefined) return turn
    }
    for (const cause of causes) {
      const trigger = this.#findTrigger(from, cause)
      if (trigger !== undefined) return this.#begin({ ...envelope, from }, trigger)
    }
    return undefined
  }

  /**
   * Finds the trigger that an envelope of `agent` answers. Anyone may answer a chat, only addressees a request; a participant
   * does not trigger its own turn [MEUP-11.5].
   */
  #findTrigger(agent: string, cause: string): Trigger | undefined {
    const trigger = this.#triggers.get(cause)
    if (trigger === undefined || trigger.from === agent || agent === GATEWAY) return undefined
    const { kind, to } = trigger
    return kind === Kind.chat || to === undefined || to.includes(agent) ? trigger : undefined
  }

  /** Lists the turns of a context and the contexts around it, innermost first. */
  #getEnclosingTurns(context: string | undefined): OpenTurn[] {
    const turns: OpenTurn[] = []
    for (let at = context; at !== undefined; at = contextParent(at)) {
      const turn = this.#contexts.use(at)
      if (turn !== undefined) turns.push(turn)
    }
    return turns
  }

  /** Begins a turn, or a job if there is no trigger. */
  #begin({ from: agent, id: jobId, seq = 0, ts: startedAt }: Envelope, trigger?: Trigger): OpenTurn {
    const id = this.#ulid(Date.parse(this.#latest), seq, this.#marking.place())
    const number = trigger === undefined ? null : (this.#numbers.get(agent) ?? 0) + 1
    const turn = ++this.#last
    const heading: Beginning = {
      turn,
      id,
      agent,
      number,
      jobId: trigger === undefined ? jobId : null,
      inputSource: trigger?.kind ?? 'job',
      trigger: trigger?.seq ?? null,
      seq,
      startedAt,
    }
    const begun: OpenTurn = { heading, steps: 0, open: 0, touched: 0 }
    this.#marking.begin(begun)
    if (trigger === undefined || number === null) return begun
    this.#numbers.renew(agent, number)
    this.#causes.renew(toKey(agent, trigger.id), begun)
    const several = [...(this.#triggered.get(trigger.id) ?? []), begun].slice(-maxTurnsPerTrigger)
    this.#triggered.renew(trigger.id, several)
    return begun
  }
}

/** The role of an envelope that ends a call in this way; 0 = none. */
function getEndRole(change: CallChange<CallPlace>): number {
  switch (change.what) {
    case 'answered':
    case 'cancelled':
    case 'rejected':
      return Role.settle
    case 'withdrawn':
      // Pruned calls do not belong to a turn, so their end has no role.
      return change.why === 'pruned' ? 0 : Role.settle
    case 'expired':
      // A fulfilled proposal ends with the answer to its request, not with its expiry.
      return change.call.data.isFulfilled ? 0 : Role.expire
  }
  return 0
}

/** Handlers by kind; other kinds of reasoning are thoughts. */
const effects: Readonly<Record<string, (assigner: Assigner, envelope: Envelope) => void>> = {
  [Kind.chat]: (assigner, envelope) => assigner.chat(envelope),
  [Kind.chatCancel]: (assigner, envelope) => assigner.chatCancel(envelope),
  [Kind.mcpRequest]: (assigner, envelope) => assigner.cancellation(envelope),
  [Kind.mcpResponse]: (assigner, envelope) => assigner.response(envelope),
  [Kind.reasoningStart]: (assigner, envelope) => assigner.start(envelope),
  [Kind.reasoningConclusion]: (assigner, envelope) => assigner.close(envelope),
  [Kind.reasoningCancel]: (assigner, envelope) => assigner.close(envelope),
  [Kind.systemDecision]: (assigner, envelope) => assigner.decision(envelope),
  [Kind.systemSpace]: (assigner, envelope) => assigner.erasure(envelope),
}
