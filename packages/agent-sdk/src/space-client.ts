import { type AnyEnvelope, type Capability, Kind, type WelcomePayload } from '@meup/protocol'
import { Upkeep, type UpkeepHooks, Workload } from './agent/control.js'
import { Reasoning, type ReasonOptions } from './agent/reasoning.js'
import {
  type Fallback,
  type InputSchema,
  ReplayedRequests,
  type ToolDefinition,
  type ToolHandler,
  Tools,
} from './agent/tools.js'
import { type Turn, type TurnOptions, Turns } from './agent/turns.js'
import { chatDraft, Membership } from './client/base-client.js'
import { Calls } from './client/calls.js'
import { ConnectionError } from './client/errors.js'
import {
  type Grant,
  type GrantOptions,
  grant,
  type Invitation,
  invite,
  type KickOptions,
  kick,
  type PauseOptions,
  pause,
  type Revocable,
  requestStatus,
  resume,
  revoke,
  type Status,
  type StatusOptions,
} from './client/management.js'
import { Gate } from './client/outbound-safety.js'
import { Proposing } from './client/own-proposals.js'
import type { Proposal, ProposalDraft, ProposeOptions } from './client/proposal.js'
import { OpenProposals, Proposals } from './client/proposals.js'
import { Replies, Requests } from './client/requests.js'
import { readToolResult, type ToolResult } from './client/tool-result.js'
import { Tracing } from './client/tracing.js'
import type { Dial, DialRequest } from './client/transport.js'
import type { CallOptions, ChatOptions, Seat } from './client/types.js'
import { setVisibility } from './client/visibility.js'
import type { WaitOptions } from './client/wait.js'
import type { AgentOptions } from './model/options.js'
import { runWith } from './model/run-model-agent.js'

export interface Answer {
  /** Of the chat that answered. */
  readonly id: string
  readonly from: string
  readonly text: string
}

/** A participant's seat in a space: it asks and answers, thinks, and decides what others may do. */
export class Space extends Membership implements Seat {
  readonly #requests = new Requests()
  readonly #tracing = new Tracing()
  readonly #proposing = new Proposing(this, this.#requests, this.#tracing)
  readonly #calls = new Calls(this, this.#requests, this.#proposing, this.#tracing)
  readonly #replies = new Replies(this)
  readonly #openProposals = new OpenProposals(this)
  readonly #replayed = new ReplayedRequests(this)
  readonly #tools = new Tools(this, (error, request) => this.#trouble(error, request))
  readonly #workload = new Workload()
  readonly #upkeep = new Upkeep(this, this.#workload, {
    reconnect: () => this.reconnect(),
    leave: () => this.leave(),
    trouble: (error, request) => this.#trouble(error, request),
  })
  /** What others propose, and what this participant decides about it. */
  readonly proposals = new Proposals(this, this.#requests, this.#openProposals)

  private constructor(dial: Dial, request: DialRequest) {
    super(dial, request, request.safety === false ? undefined : new Gate(request.safety))
  }

  /** Rejects with `ProtocolError` when the gateway refuses, `ConnectionError` when it cannot be reached. */
  static async open(dial: Dial, request: DialRequest): Promise<Space> {
    const space = new Space(dial, request)
    if (request.tracing) space.#tracing.begin(() => space.welcome.space.epoch)
    await space.enter()
    return space
  }

  /**
   * Makes an MCP request of a participant; gives back its result, throws `ToolError` for its error. Where this
   * participant may propose the request but not make it, it is proposed: then it takes as long as somebody needs to
   * decide, and throws `ProposalError` unless it is approved.
   */
  async request(to: string, method: string, params: object = {}, options: CallOptions = {}) {
    const { result } = await this.#calls.make(to, method, params, options)
    return result
  }

  /** Calls a tool by `participant/tool`, as `request` does. Throws `ToolError` when the tool fails. */
  async call(tool: string, args: object = {}, options: CallOptions = {}): Promise<ToolResult> {
    const slash = tool.indexOf('/')
    if (slash < 1) throw new TypeError(`name a tool as participant/tool, not ${JSON.stringify(tool)}`)
    const params = { name: tool.slice(slash + 1), arguments: args }
    const { result, approvedBy } = await this.#calls.make(tool.slice(0, slash), 'tools/call', params, options)
    return { ...readToolResult(result), ...(approvedBy !== undefined && { approvedBy }) }
  }

  /**
   * Says something, and waits for the first chat that answers it: its text, and who gave it. Rejects with
   * `ConnectionError` when nobody answers in time (default 60,000 ms).
   */
  async ask(
    message: string,
    { timeoutMs, signal, ...options }: ChatOptions & WaitOptions = {},
  ): Promise<Answer> {
    const waiting = { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal && { signal }) }
    const { id, from, payload } = await this.#replies.ask(
      chatDraft(message, options),
      { kind: Kind.chat },
      waiting,
    )
    return { id, from, text: payload.message }
  }

  /** Asks whoever may to make a request. Resolves when the space has it, rejects with the gateway's refusal. */
  propose(draft: ProposalDraft, options: ProposeOptions = {}): Promise<Proposal> {
    return this.#proposing.propose(draft, options)
  }

  /** Offers a tool to the space. It is served in every context, whatever this connection filters. */
  tool<Schema extends InputSchema>(
    name: string,
    definition: ToolDefinition<Schema>,
    handler: ToolHandler<Schema>,
  ): this {
    this.#tools.add(name, definition, handler)
    return this
  }

  /** Answers every MCP request to this participant that is not for one of its tools. */
  serve(handler: Fallback): this {
    this.#tools.fallback = handler
    return this
  }

  /** Opens a run that nobody asked for. */
  reason(message?: string, options?: ReasonOptions): Promise<Reasoning> {
    return Reasoning.open(this, {}, message, options)
  }

  /** What others ask of this participant, one turn after the other. Ends when the space is closed. */
  turns(options: TurnOptions = {}): AsyncIterableIterator<Turn> {
    return this.#turns(options).sequence()
  }

  /** Handles turns as they come, several at once. Resolves when the space is closed. */
  eachTurn(
    handler: (turn: Turn) => Promise<void>,
    options: TurnOptions & { concurrency?: number } = {},
  ): Promise<void> {
    return this.#turns(options).each(handler, options.concurrency ?? Number.POSITIVE_INFINITY)
  }

  /**
   * Answers what this participant is asked with a language model: what it thinks becomes thoughts, the tools of other
   * participants are its tools, and its text is the answer. Resolves when the space is closed; rejects where the package
   * `ai` is not installed, and in a page.
   */
  agent(options: AgentOptions): Promise<void> {
    const begin = import('#models').then(({ beginDialogues }) => beginDialogues(options))
    return runWith(this, begin, options)
  }

  /** What to do when this participant is asked for its status, to forget, to end; `turns` answers without, too. */
  upkeep(hooks: UpkeepHooks): this {
    this.#upkeep.begin(hooks)
    return this
  }

  /** Gives somebody capabilities that this participant holds. Rejects with `grant_exceeds_own` for others. */
  grant(recipient: string, capabilities: readonly Capability[], options: GrantOptions = {}): Promise<Grant> {
    return grant(this, recipient, capabilities, options)
  }

  /** Takes a grant back, or all grants to somebody that these capabilities cover. It is effective at once. */
  revoke(what: Revocable, reason?: string): Promise<AnyEnvelope> {
    return revoke(this, what, reason)
  }

  /** Makes a new participant, with capabilities as `grant` gives them, and a token to enter with. */
  invite(
    participantId: string,
    capabilities: readonly Capability[],
    options: GrantOptions & WaitOptions = {},
  ): Promise<Invitation> {
    return invite(this.#replies, participantId, capabilities, options)
  }

  /** Closes a participant out. */
  kick(participantId: string, options: KickOptions = {}): Promise<AnyEnvelope> {
    return kick(this, participantId, options)
  }

  /** Stops participants from doing more than answering. */
  pause(ids: readonly string[], options: PauseOptions = {}): Promise<AnyEnvelope> {
    return pause(this, ids, options)
  }

  /** Lets them go on. */
  resume(ids: readonly string[], reason?: string): Promise<AnyEnvelope> {
    return resume(this, ids, reason)
  }

  /** Asks an agent how it is doing. Rejects with `ConnectionError` when it does not answer in time. */
  requestStatus(id: string, options: StatusOptions = {}): Promise<Status> {
    return requestStatus(this.#replies, id, options)
  }

  /**
   * Hides or shows the thoughts of a run for everybody but their senders: of one's own run one's own thoughts, of another's
   * all [MEUP-9.5]. Rejects with `run_not_active` when it is over, with `forbidden` unless it is this participant's or a
   * capability allows it.
   */
  setVisibility(context: string, reasoningVisible: boolean): Promise<AnyEnvelope> {
    return setVisibility(this, context, reasoningVisible)
  }

  /** Answers what is still being asked of this participant, for so many milliseconds at most, then closes. */
  async leave(withinMs = 2000): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs)
    })
    await Promise.race([this.#tools.settled(), late])
    clearTimeout(timer)
    this.close()
  }

  protected take(envelope: AnyEnvelope, frame: string): boolean {
    if (this.#replies.take(envelope) && envelope.kind === Kind.spaceInviteAck) return true // It holds a token.
    this.#tracing.take(envelope)
    const isAwaited = this.#requests.take(envelope)
    this.#proposing.take(envelope)
    this.#openProposals.take(envelope, frame)
    this.#workload.take(envelope, this.id)
    this.#upkeep.take(envelope)
    if (isAwaited && envelope.kind === Kind.mcpRequest) return false
    for (const request of this.#replayed.onEnvelope(envelope)) this.#tools.take(request)
    return false
  }

  protected told(welcome: WelcomePayload): void {
    if (welcome.resume.status === 'lost') this.#openProposals.clear()
    this.#upkeep.tell(welcome)
    for (const request of this.#replayed.onWelcome(welcome)) this.#tools.take(request)
  }

  protected end(reason: Error): void {
    this.#requests.failAll(reason)
    this.#proposing.failAll(reason)
    this.#replies.failAll(reason)
    this.#openProposals.clear()
    this.#tools.close()
  }

  #turns(options: TurnOptions): Turns {
    this.#upkeep.begin()
    return new Turns(this, options, this.#workload)
  }

  /** An asker waits in vain. A closed connection is told by `closed`. */
  #trouble(error: unknown, request: AnyEnvelope): void {
    if (!(error instanceof ConnectionError)) this.report(error, request)
  }
}
