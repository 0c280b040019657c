import {
  contextParent,
  contextRoot,
  correlations,
  type DecisionPayload,
  type Envelope,
  Kind,
  namespaceOf,
  type Phase,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { Lifecycle, type LifecycleSnapshot } from '../contexts/lifecycle.js'
import { Deadlines, type DeadlinesSnapshot } from '../deadlines.js'
import { cancellationOf, isNotification } from '../mcp/call.js'
import { outcomeOf } from '../mcp/result.js'
import { phaseBits } from '../steps/phases.js'
import { thoughtSteps } from '../steps/thought-steps.js'
import { Ulids } from '../steps/ulid.js'
import { attemptOf, isRefusedCall } from './attempt.js'

/** What an envelope does to a turn: bits of `Mark.roles`. */
export const Role = {
  /** The turn begins with it. */
  begin: 1,
  /** It is part of what the agent does in the turn. */
  turn: 2,
  /** It opens a context in the turn. */
  open: 4,
  /** It closes contexts of the turn. */
  close: 8,
  /** A request or a proposal: the step of its answer is made here. */
  call: 16,
  /** A tool is chosen in the turn. */
  dispatch: 32,
  /** A request that fulfils a proposal of the turn. */
  fulfil: 64,
  /** It tells what calls of the turn came to. */
  settle: 128,
  /** The answer to a call, whose step is made here. */
  home: 256,
  /** It answers the trigger. */
  answer: 512,
  /** The asker takes the trigger back. */
  takeBack: 1024,
  /** A proposal of the turn has expired when it comes. */
  expire: 2048,
  /** With it the turn takes up a free path, which it has to itself as far as its agent goes. */
  free: 4096,
  /** With it no context is open in the turn any more. */
  last: 8192,
} as const

/** What may end a batch of calls: only such an envelope makes an event [MEUP-11.11]. */
export const endingRoles = Role.close | Role.settle | Role.takeBack | Role.expire

/** One envelope in one turn. There is a second one where its steps in the turn do not follow each other. */
export interface Mark {
  readonly beginning: Beginning
  readonly roles: number
  /** Steps that are made of it: the number of the first, how many, their phases as bits, and where their ids begin. */
  readonly step: number
  readonly steps: number
  readonly phases: number
  readonly index: number
}

/** A turn or job, as it began. */
export interface Beginning {
  /** Which one of the space it is, from 1 in the order in which they began. */
  readonly turn: number
  /** A ULID. */
  readonly id: string
  readonly agent: string
  /** From 1 in the thread; `null` for a job. */
  readonly number: number | null
  /** Id of the envelope that a job began with; `null` for a turn. */
  readonly jobId: string | null
  /** Kind of the trigger, or `job`. */
  readonly inputSource: string
  /** Seq of the trigger; `null` for a job. */
  readonly trigger: number | null
  /** Of the envelope that it began with. */
  readonly seq: number
  readonly startedAt: string
}

/** What one envelope did. */
export interface Assigned {
  readonly begun: readonly Beginning[]
  /** In the order of what they end, then of what they do. */
  readonly marks: readonly Mark[]
  /** Time of the log (RFC 3339), which never goes back; empty where there are no marks. */
  readonly at: string
}

const nothing: Assigned = { begun: [], marks: [], at: '' }

/** A turn that envelopes may still belong to. */
interface Turn {
  readonly heading: Beginning
  /** Number of its steps so far, and of contexts that are open in it. */
  steps: number
  open: number
  /** Rises with each envelope that does something to it. */
  touched: number
}

interface Call {
  readonly id: string
  readonly from: string
  readonly isProposal: boolean
  readonly jsonRpcId: string | null
  readonly home: Turn
  /** The turns in which its answer ends a call. */
  readonly settles: readonly Turn[]
}

interface Trigger {
  readonly id: string
  readonly seq: number
  readonly kind: string
  readonly from: string
  readonly to?: readonly string[] | undefined
}

type Entries<Value> = readonly (readonly [key: string, value: Value])[]

/** All that is known, as JSON; turns by their numbers. */
export interface AssignSnapshot {
  readonly seq: number
  readonly latest: string
  readonly last: number
  readonly touches: number
  readonly turns: readonly Turn[]
  readonly lifecycle: LifecycleSnapshot
  readonly contexts: Entries<number>
  readonly causes: Entries<number>
  readonly triggers: Entries<Trigger>
  readonly triggered: Entries<readonly number[]>
  readonly numbers: Entries<number>
  readonly calls: Entries<Omit<Call, 'home' | 'settles'> & { home: number; settles: readonly number[] }>
  readonly deadlines: DeadlinesSnapshot
}

/** Past so many turns of one trigger the oldest are not taken back any more. */
const mostTriggered = 100

/**
 * Says of each envelope which turns it belongs to, and which steps it makes [MEUP-10.5]: a pure fold of the log, whose memory
 * is bounded by counts. It must be told the whole log, or what follows a snapshot.
 */
export class Assigner {
  readonly #lifecycle = new Lifecycle()
  readonly #contexts = new Bounded<Turn>(40_000)
  readonly #causes = new Bounded<Turn>(40_000)
  readonly #triggers = new Bounded<Trigger>(20_000)
  readonly #triggered = new Bounded<readonly Turn[]>(20_000)
  readonly #numbers = new Bounded<number>(10_000)
  readonly #calls = new Bounded<Call>(20_000)
  readonly #callsByJsonRpcId = new Bounded<Call>(20_000)
  readonly #deadlines = new Deadlines()
  readonly #ids: Ulids
  #last = 0
  #touches = 0
  #latest = ''
  #begun: Beginning[] = []
  #marks: Draft[] = []
  #index = 0
  #ends = 0
  #isPlaced = false
  #envelope: Envelope | undefined
  /** Last seq that was taken; 0 = none. */
  seq = 0

  constructor(epoch: string) {
    this.#ids = new Ulids(epoch)
  }

  /** What the next envelope does. One that was taken before, or that is not in the log, does nothing. */
  take(envelope: Envelope): Assigned {
    const { seq, ts, kind } = envelope
    if (seq === undefined || seq <= this.seq) return nothing
    this.seq = seq
    if (ts > this.#latest) this.#latest = ts
    this.#envelope = envelope
    this.#isPlaced = false
    this.#expire(ts)
    const effect = effects[kind]
    if (effect !== undefined) effect(this, envelope)
    else if (namespaceOf(kind) === 'reasoning') this.thought(envelope)
    return this.#marks.length === 0 ? nothing : this.#done()
  }

  chat(envelope: Envelope): void {
    this.#offer(envelope)
    if (envelope.context !== undefined) return
    const turn = this.#turnAnswering(envelope)
    if (turn !== undefined) this.#mark(turn, Role.answer)
  }

  chatCancel(envelope: Envelope): void {
    for (const trigger of correlations(envelope)) this.#takeBack(trigger, envelope.from)
  }

  request(envelope: Envelope): void {
    const { id, from, payload } = envelope
    if (isNotification(payload)) {
      this.#cancel(envelope)
      return
    }
    this.#offer(envelope)
    const proposals = this.#answered(envelope).filter(({ isProposal }) => isProposal)
    for (const { id: proposal, from: proposer, home } of proposals) {
      this.#deadlines.delete(proposal)
      // What the proposer makes of it belongs to the turn that proposed.
      const isBack = envelope.to?.includes(proposer) && home.heading.agent === proposer
      if (isBack) this.#causes.renew(keyOf(proposer, id), home)
    }
    const known = this.#turnOf(envelope)
    const home = known ?? proposals[0]?.home ?? this.#beginJob(envelope)
    const isOwn = home.heading.agent === from && (known !== undefined || home.heading.jobId === id)
    const settles = proposals.flatMap((proposal) => proposal.settles)
    for (const turn of settles) this.#mark(turn, Role.fulfil)
    this.#mark(home, isOwn ? Role.call | Role.dispatch : Role.call)
    this.#remember(envelope, { home, settles: isOwn ? [...settles, home] : settles, isProposal: false })
  }

  proposal(envelope: Envelope): void {
    const { id, from, payload } = envelope
    const home = this.#turnOf(envelope) ?? this.#beginJob(envelope)
    const isOwn = home.heading.agent === from
    this.#mark(home, isOwn ? Role.call | Role.dispatch : Role.call)
    this.#step(home, 'waiting_approval')
    this.#remember(envelope, { home, settles: isOwn ? [home] : [], isProposal: true })
    this.#deadlines.set(id, payload.expiresAt)
  }

  response(envelope: Envelope): void {
    const phase = outcomeOf(envelope.payload) === 'error' ? 'error' : 'execute'
    for (const { home, settles } of this.#answered(envelope)) {
      for (const turn of settles) this.#end(turn, Role.settle)
      this.#step(home, phase, Role.home)
    }
    const turn = this.#turnAnswering(envelope)
    if (turn?.heading.inputSource !== Kind.mcpRequest) return
    const { trigger } = turn.heading
    const isAnswer = correlations(envelope).some((id) => this.#triggers.get(id)?.seq === trigger)
    if (isAnswer) this.#mark(turn, Role.answer)
  }

  /** A proposal is rejected, or withdrawn. */
  refusal(envelope: Envelope): void {
    for (const { isProposal, settles } of this.#answered(envelope))
      if (isProposal) for (const turn of settles) this.#end(turn, Role.settle)
  }

  start(envelope: Envelope): void {
    const { id, from } = envelope
    const known = this.#turnOf(envelope)
    const [opened] = this.#lifecycle.apply(envelope)
    if (known?.heading.agent === from) this.#mark(known, Role.turn)
    if (opened === undefined) {
      if (known === undefined && envelope.context !== undefined)
        this.#mark(this.#beginJob(envelope), Role.turn)
      return
    }
    const turn = known ?? this.#begin(from, envelope)
    this.#contexts.renew(opened.context, turn)
    turn.open++
    this.#causes.renew(keyOf(turn.heading.agent, id), turn)
    this.#mark(turn, Role.open)
  }

  thought(envelope: Envelope): void {
    const { from } = envelope
    const steps = thoughtSteps(envelope.payload)
    const known = this.#turnOf(envelope)
    if (known?.heading.agent === from) this.#mark(known, Role.turn)
    if (steps.length === 0) return
    const turn = known ?? this.#beginJob(envelope)
    for (const { phase } of steps) this.#step(turn, phase, Role.turn)
  }

  /** A conclusion or a cancel. */
  close(envelope: Envelope): void {
    const { context, from } = envelope
    const own = this.#around(context).find(({ heading }) => heading.agent === from)
    if (own !== undefined) this.#mark(own, Role.turn)
    const free = own ?? this.#inFreePath(context, from)
    if (own === undefined && free !== undefined) this.#end(free, Role.turn | Role.close)
    for (const closed of this.#lifecycle.apply(envelope)) {
      const turn = this.#contexts.use(closed.context)
      if (turn === undefined) continue
      turn.open--
      this.#end(turn, turn.open === 0 ? Role.close | Role.last : Role.close)
    }
  }

  /** The gateway refused something, or had it reviewed: a step, and a decision where it was a call. */
  decision(envelope: Envelope): void {
    const attempt = attemptOf(envelope)
    if (attempt === undefined) return
    const turn = this.#turnOf(attempt) ?? this.#beginJob(attempt)
    this.#step(turn, 'waiting_approval', Role.turn)
    const isCall = turn.heading.agent === attempt.from && isRefusedCall(envelope.payload as DecisionPayload)
    if (isCall) this.#end(turn, Role.dispatch | Role.settle)
  }

  snapshot(): AssignSnapshot {
    const turns = new Map<number, Turn>()
    const numberOf = (turn: Turn): number => {
      turns.set(turn.heading.turn, turn)
      return turn.heading.turn
    }
    const numbered = (entries: [string, Turn][]) =>
      entries.map(([key, turn]) => [key, numberOf(turn)] as const)
    const contexts = numbered(this.#contexts.snapshot())
    const causes = numbered(this.#causes.snapshot())
    const triggered = this.#triggered
      .snapshot()
      .map(([key, several]) => [key, several.map(numberOf)] as const)
    const calls = this.#calls
      .snapshot()
      .map(
        ([key, call]) =>
          [key, { ...call, home: numberOf(call.home), settles: call.settles.map(numberOf) }] as const,
      )
    return {
      seq: this.seq,
      latest: this.#latest,
      last: this.#last,
      touches: this.#touches,
      turns: [...turns.values()],
      lifecycle: this.#lifecycle.snapshot(),
      contexts,
      causes,
      triggers: this.#triggers.snapshot(),
      triggered,
      numbers: this.#numbers.snapshot(),
      calls,
      deadlines: this.#deadlines.snapshot(),
    }
  }

  /** Takes what `snapshot` gave; only where nothing was taken yet. */
  restore(snapshot: AssignSnapshot): void {
    const { seq, latest, last, touches, turns, lifecycle, triggers, numbers, deadlines } = snapshot
    const byNumber = new Map(turns.map((turn) => [turn.heading.turn, { ...turn }]))
    const turnAt = (number: number): Turn => {
      const turn = byNumber.get(number)
      if (turn === undefined) throw new Error(`the snapshot has no turn ${number}`)
      return turn
    }
    this.seq = seq
    this.#latest = latest
    this.#last = last
    this.#touches = touches
    this.#lifecycle.restore(lifecycle)
    this.#triggers.restore(triggers)
    this.#numbers.restore(numbers)
    this.#deadlines.restore(deadlines)
    for (const [key, turn] of snapshot.contexts) this.#contexts.set(key, turnAt(turn))
    for (const [key, turn] of snapshot.causes) this.#causes.set(key, turnAt(turn))
    for (const [key, several] of snapshot.triggered) this.#triggered.set(key, several.map(turnAt))
    for (const [, call] of snapshot.calls)
      this.#keep({ ...call, home: turnAt(call.home), settles: call.settles.map(turnAt) })
  }

  #done(): Assigned {
    const marks = this.#marks
    for (const { roles, owner } of marks) if ((roles & touching) !== 0) owner.touched = ++this.#touches
    if (marks.length > 1 && this.#ends > 0) marks.sort((one, other) => one.end - other.end)
    const assigned = { begun: this.#begun, marks, at: this.#latest }
    this.#begun = []
    this.#marks = []
    this.#index = 0
    this.#ends = 0
    return assigned
  }

  #mark(turn: Turn, roles: number): Draft {
    const known = this.#marks.find(({ owner }) => owner === turn)
    if (known === undefined) return this.#add(turn, roles)
    known.roles |= roles
    return known
  }

  /** Marks what may end a batch. */
  #end(turn: Turn, roles: number): void {
    const mark = this.#mark(turn, roles)
    if (mark.end === Number.POSITIVE_INFINITY) mark.end = this.#ends++
  }

  #step(turn: Turn, phase: Phase, roles = 0): void {
    let mark = this.#marks.findLast(({ owner }) => owner === turn) ?? this.#add(turn, roles)
    if (mark.steps > 0 && mark.index + mark.steps !== this.#index) mark = this.#add(turn, roles)
    mark.roles |= roles
    if (mark.steps === 0) Object.assign(mark, { step: turn.steps, index: this.#index })
    mark.steps++
    mark.phases |= phaseBits[phase]
    turn.steps++
    this.#index++
  }

  #add(owner: Turn, roles: number): Draft {
    const place = { step: 0, steps: 0, phases: 0, index: 0, end: Number.POSITIVE_INFINITY }
    const mark = { beginning: owner.heading, owner, roles, ...place }
    this.#marks.push(mark)
    return mark
  }

  #expire(ts: string): void {
    if (this.#deadlines.isEmpty) return
    for (const id of this.#deadlines.due(Date.parse(ts)))
      for (const turn of this.#calls.get(id)?.settles ?? []) this.#end(turn, Role.expire)
  }

  #cancel(envelope: Envelope): void {
    const cancellation = cancellationOf(envelope.payload)
    if (cancellation === undefined) return
    const { from } = envelope
    const { requestId } = cancellation
    const named = [requestId, ...correlations(envelope)].find((id) => this.#calls.get(id)?.from === from)
    const call =
      named === undefined ? this.#callsByJsonRpcId.get(keyOf(from, requestId)) : this.#calls.get(named)
    if (call === undefined) return
    for (const turn of call.settles) this.#end(turn, Role.settle)
    this.#takeBack(call.id, from)
  }

  /** The turns that this trigger began, if it is the asker's. */
  #takeBack(trigger: string, asker: string): void {
    if (this.#triggers.get(trigger)?.from !== asker) return
    const turns = [...(this.#triggered.get(trigger) ?? [])]
    for (const turn of turns.sort((one, other) => one.touched - other.touched)) this.#end(turn, Role.takeBack)
  }

  #answered(envelope: Envelope): Call[] {
    return correlations(envelope).flatMap((id) => this.#calls.get(id) ?? [])
  }

  #remember(envelope: Envelope, call: Pick<Call, 'home' | 'settles' | 'isProposal'>): void {
    const { id, from, payload } = envelope
    const jsonRpcId = payload.id === undefined || payload.id === null ? null : String(payload.id)
    this.#keep({ id, from, jsonRpcId, ...call })
  }

  #keep(call: Call): void {
    this.#calls.set(call.id, call)
    if (call.jsonRpcId !== null && !call.isProposal)
      this.#callsByJsonRpcId.renew(keyOf(call.from, call.jsonRpcId), call)
  }

  /** A chat or a request may be what begins a turn. */
  #offer({ id, seq = 0, kind, from, to }: Envelope): void {
    this.#triggers.set(id, { id, seq, kind, from, to })
  }

  /**
   * The turn of an envelope: the sender's, by the context or by what it answers, and where it answers something new,
   * it begins one; else the turn in whose context it is a contribution.
   */
  #turnOf(envelope: Envelope): Turn | undefined {
    const { context, from } = envelope
    if (context === undefined) return this.#turnAnswering(envelope)
    const around = this.#around(context)
    const own = around.find(({ heading }) => heading.agent === from) ?? this.#turnAnswering(envelope)
    if (around.length > 0) return own ?? around[0]
    const turn = this.#inFreePath(context, from)
    if (own === undefined || turn !== undefined) return own ?? this.#noting(envelope, turn)
    return this.#takeUp(envelope, own)
  }

  /** The turn that this agent has in a path that nobody opened: one for each root [MEUP-11.16]. */
  #inFreePath(context: string | undefined, agent: string): Turn | undefined {
    return context === undefined ? undefined : this.#causes.use(pathKey(agent, context))
  }

  /** The turn goes on in a free path: what its agent does there belongs to it from now on. */
  #takeUp(envelope: Envelope, turn: Turn): Turn | undefined {
    const { context, from } = envelope
    if (context === undefined || turn.heading.agent !== from) return turn
    this.#causes.renew(pathKey(from, context), turn)
    this.#mark(turn, Role.free)
    return this.#noting(envelope, turn)
  }

  /** What answers any envelope of the agent in the path belongs to the turn as well. */
  #noting({ id, from }: Envelope, turn: Turn | undefined): Turn | undefined {
    if (turn !== undefined) this.#causes.renew(keyOf(from, id), turn)
    return turn
  }

  /** Work that nobody asked for: in a free path all of it is one job. */
  #beginJob(envelope: Envelope): Turn {
    const job = this.#begin(envelope.from, envelope)
    return this.#takeUp(envelope, job) ?? job
  }

  /** The sender's turn about what this envelope answers. It begins with the first such envelope [MEUP-11.5]. */
  #turnAnswering(envelope: Envelope): Turn | undefined {
    const { from, correlationId } = envelope
    if (correlationId === undefined) return undefined
    const causes = correlations(envelope)
    for (const cause of causes) {
      const turn = this.#causes.use(keyOf(from, cause))
      if (turn !== undefined) return turn
    }
    for (const cause of causes) {
      const trigger = this.#triggerOf(from, cause)
      if (trigger !== undefined) return this.#begin(from, this.#envelope ?? envelope, trigger)
    }
    return undefined
  }

  /** A chat may be answered by anybody, a request by those whom it is for; nobody triggers oneself [MEUP-11.5]. */
  #triggerOf(agent: string, cause: string): Trigger | undefined {
    const trigger = this.#triggers.get(cause)
    if (trigger === undefined || trigger.from === agent) return undefined
    const { kind, to } = trigger
    return kind === Kind.chat || to === undefined || to.includes(agent) ? trigger : undefined
  }

  /** The turns that this context and those above it were opened in, the innermost first. */
  #around(context: string | undefined): Turn[] {
    const turns: Turn[] = []
    for (let at = context; at !== undefined; at = contextParent(at)) {
      const turn = this.#contexts.use(at)
      if (turn !== undefined) turns.push(turn)
    }
    return turns
  }

  /** Without a trigger it is a job: work that nobody asked for. */
  #begin(agent: string, envelope: Envelope, trigger?: Trigger): Turn {
    const { id: jobId, seq = 0, ts: startedAt } = envelope
    if (!this.#isPlaced) this.#ids.begin(Date.parse(this.#latest), seq)
    this.#isPlaced = true
    const id = this.#ids.at(this.#index++)
    const number = trigger === undefined ? null : (this.#numbers.get(agent) ?? 0) + 1
    const turn = ++this.#last
    const beginning = { turn, id, agent, number, seq, startedAt }
    const heading: Beginning =
      trigger === undefined
        ? { ...beginning, jobId, inputSource: 'job', trigger: null }
        : { ...beginning, jobId: null, inputSource: trigger.kind, trigger: trigger.seq }
    const begun: Turn = { heading, steps: 0, open: 0, touched: 0 }
    this.#begun.push(heading)
    this.#mark(begun, Role.begin)
    if (trigger === undefined || number === null) return begun
    this.#numbers.renew(agent, number)
    this.#causes.renew(keyOf(agent, trigger.id), begun)
    const several = [...(this.#triggered.get(trigger.id) ?? []), begun].slice(-mostTriggered)
    this.#triggered.renew(trigger.id, several)
    return begun
  }
}

interface Draft extends Mark {
  readonly owner: Turn
  roles: number
  step: number
  steps: number
  phases: number
  index: number
  /** Place among those that may end a batch. */
  end: number
}

/** Roles that change a turn; who only calls in it, or fulfils, changes nothing yet. */
const touching = ~(Role.call | Role.fulfil)

const pathKey = (agent: string, path: string): string => keyOf(agent, `/${contextRoot(path)}`)

const keyOf = (name: string, id: string): string => `${name} ${id}`

/** What each kind does; all other kinds of reasoning are thoughts. */
const effects: Readonly<Record<string, (assigner: Assigner, envelope: Envelope) => void>> = {
  [Kind.chat]: (assigner, envelope) => assigner.chat(envelope),
  [Kind.chatCancel]: (assigner, envelope) => assigner.chatCancel(envelope),
  [Kind.mcpRequest]: (assigner, envelope) => assigner.request(envelope),
  [Kind.mcpProposal]: (assigner, envelope) => assigner.proposal(envelope),
  [Kind.mcpResponse]: (assigner, envelope) => assigner.response(envelope),
  [Kind.mcpReject]: (assigner, envelope) => assigner.refusal(envelope),
  [Kind.mcpWithdraw]: (assigner, envelope) => assigner.refusal(envelope),
  [Kind.reasoningStart]: (assigner, envelope) => assigner.start(envelope),
  [Kind.reasoningConclusion]: (assigner, envelope) => assigner.close(envelope),
  [Kind.reasoningCancel]: (assigner, envelope) => assigner.close(envelope),
  [Kind.systemDecision]: (assigner, envelope) => assigner.decision(envelope),
}
