import { resolve } from 'node:path'
import type { RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { ConnectionError, type SpaceClient, type Turn } from '@meup/agent-sdk'
import { abortTurn } from '@meup/agent-sdk/internal'
import { Bounded, cut } from '@meup/folds'
import {
  getErrorMessage,
  Kind,
  type McpRequestPayload,
  type McpResponsePayload,
  omitUndefined,
  PROTOCOL,
} from '@meup/protocol'
import type { AgentCall } from './agent-call.js'
import { type AgentCommand, type AgentProcess, startAgent } from './agent-process.js'
import { AgentSession, type AgentState } from './agent-session.js'
import {
  type AgentUpdate,
  type OfferedCommand,
  type OnSkipped,
  type PermissionRequest,
  readPermission,
  type SessionUpdate,
} from './agent-updates.js'
import { findAgent, type KnownAgent } from './agents.js'
import { Approvals } from './approvals.js'
import type { AgentPrompt } from './prompt.js'

/** Default milliseconds until a permission request expires. */
const defaultApprovalMs = 600_000
/** Default milliseconds for the agent to start: `npx` may have to install it first. */
const defaultStartTimeoutMs = 120_000
/** Maximum sessions; the oldest idle one is dropped. */
const maxSessions = 32
/** Maximum unknown session ids whose use by the agent is reported. */
const maxUnknown = 100
/** Maximum sub-agents whose parent session is remembered. */
const maxOwners = 1000
/** The message of a sub-agent's run if its parent prompt is unknown. */
const unknownParent = 'A sub-agent asks. Which prompt it belongs to is not known.'
/** Maximum characters of an agent's text in a log line. */
const maxShownChars = 100
/** Milliseconds for leaving the space. */
const stopMs = 2000

export interface CodingAgentOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** All environment variables of the agent's process. */
  readonly env: Readonly<Record<string, string>>
  /** The working folder; relative to that of this process. */
  readonly cwd: string
  /** The agent's session mode, such as `default`; should be a mode in which it asks for permission. */
  readonly mode?: string
  /**
   * `shared` (default): one session for public messages, and one for each participant that writes privately; `asker`: one
   * session for each participant.
   */
  readonly sessions?: 'shared' | 'asker'
  /**
   * Reaction if the agent runs a tool without permission and without the capability: `stop` (default) ends the agent, `report`
   * only sends a chat about it to everyone.
   */
  readonly unasked?: 'stop' | 'report'
  /** Milliseconds until a permission request expires; default 600,000. */
  readonly approvalMs?: number
  /** Milliseconds for starting the agent, and for opening a session; default 120,000. */
  readonly startTimeoutMs?: number
  /** Connects as the agent's participant; called once the agent has started. */
  readonly connect: () => Promise<SpaceClient>
  /** Called with lines for the log of the calling program. */
  readonly log?: (line: string) => void
}

export interface CodingAgent {
  /** Resolves when the agent was stopped, or the space was closed. `isFinal`: a restart would have the same result. */
  readonly ended: Promise<{ readonly reason: string; readonly isFinal: boolean }>
  close(): Promise<void>
}

/**
 * Makes a coding agent that speaks ACP a participant: its thoughts and answers are visible, its tools are tools of the space,
 * and its permission requests are decided there. Rejects with advice if the agent does not start.
 */
export async function joinCodingAgent(options: CodingAgentOptions): Promise<CodingAgent> {
  const bridge = new Bridge(options)
  await bridge.start()
  return bridge
}

class Bridge implements CodingAgent {
  readonly #options: CodingAgentOptions
  readonly #command: AgentCommand
  readonly #log: (line: string) => void
  /** The agent's sessions, by the participant whose messages they answer; `''` = the shared session. */
  readonly #sessions = new Map<string, AgentSession>()
  /** Ids of dropped sessions; their late updates are ignored. */
  readonly #forgotten = new Set<string>()
  /** Unknown session ids that the agent has named: each is reported only once. */
  readonly #unknown = new Set<string>()
  /** Parent sessions of sub-agents, by the sub-agent's session id. */
  readonly #owners = new Bounded<AgentSession>(maxOwners)
  #commands: readonly OfferedCommand[] = []
  #process: Promise<AgentProcess> | undefined
  /** Aborts the start of the agent's process. */
  #starting = new AbortController()
  #space: SpaceClient | undefined
  #approvals: Approvals | undefined
  #state: AgentState = {}
  #info: string | undefined
  #known: KnownAgent | undefined
  #isClosing = false
  readonly ended: CodingAgent['ended']
  #end: (outcome: Awaited<CodingAgent['ended']>) => void = () => {}

  constructor(options: CodingAgentOptions) {
    const { command, args = [], env, cwd, log = () => {}, startTimeoutMs = defaultStartTimeoutMs } = options
    this.#options = options
    this.#command = { command, args, env, cwd: resolve(cwd), startTimeoutMs }
    this.#log = log
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  async start(): Promise<void> {
    const process = await this.#getProcess()
    let space: SpaceClient
    try {
      space = await this.#options.connect()
    } catch (error) {
      await process.close()
      throw error
    }
    // From here on requests may arrive: nothing may be awaited until all handlers are registered.
    this.#space = space
    const approvals = new Approvals(space, this.#options.approvalMs ?? defaultApprovalMs)
    this.#approvals = approvals
    space.on('closed', (error) => {
      const reason = error?.message ?? 'the space was closed'
      this.#stop(reason, false).catch((failure: unknown) => this.#log(getErrorMessage(failure)))
    })
    space.serve(async (request) => {
      const { payload } = request
      return payload.method === 'tools/call' ? approvals.answer(request) : this.#introduce(payload)
    })
    space.control({ status: () => this.#status })
    const { head } = space.welcome.space
    // Begins to open the shared session before any turn can arrive: turns then wait in the session's queue until it is open.
    const ready = Promise.all([approvals.withdrawLeft(), this.#getSession('').ready()])
    const answering = space.answer((turn) => this.#answer(turn), {
      answers: (message) => (message.seq ?? 0) > head && space.isAsked(message),
      onError: (error) => this.#log(getErrorMessage(error)),
    })
    answering.catch((error: unknown) => this.#log(getErrorMessage(error)))
    try {
      await ready
    } catch (error) {
      await this.close()
      throw error
    }
    this.#announce()
  }

  async close(): Promise<void> {
    if (this.#isClosing) return void (await this.ended)
    this.#isClosing = true
    this.#starting.abort()
    const sessions = [...this.#sessions.values()]
    await Promise.all(sessions.map((session) => session.close()))
    const process = await this.#process?.catch(() => undefined)
    await process?.close()
    await this.#space?.leave(stopMs)
    this.#end({ reason: 'stopped', isFinal: false })
  }

  async #answer(turn: Turn): Promise<void> {
    const isShared = turn.trigger.to === undefined && this.#options.sessions !== 'asker'
    const session = this.#getSession(isShared ? '' : turn.from)
    if (session.isBusy) await turn.acknowledge('queued')
    await session.answer(turn)
  }

  #getSession(key: string): AgentSession {
    const known = this.#sessions.get(key)
    if (known !== undefined) return known
    const [space, approvals] = [this.#space, this.#approvals]
    if (space === undefined || approvals === undefined)
      throw new ConnectionError('closed', 'not connected yet')
    const session = new AgentSession({
      ...{ space, approvals, cwd: this.#command.cwd, mode: this.#options.mode, log: this.#log },
      startTimeoutMs: this.#command.startTimeoutMs,
      getProcess: () => this.#getProcess(),
      restart: (why) => this.#restart(why),
      getCommands: () => this.#commands,
      onState: (state) => {
        this.#state = { ...this.#state, ...state }
      },
      onUnasked: (call, turn, run) => {
        this.#onUnasked(call, turn, run).catch((error: unknown) => this.#log(getErrorMessage(error)))
      },
    })
    this.#sessions.set(key, session)
    const oldest = [...this.#sessions].find(([asker, each]) => asker !== '' && !each.isBusy)
    if (this.#sessions.size > maxSessions && oldest !== undefined) {
      const [asker, forgotten] = oldest
      this.#sessions.delete(asker)
      this.#forgotten.add(forgotten.id ?? '')
      forgotten.close().catch((error: unknown) => this.#log(getErrorMessage(error)))
    }
    return session
  }

  #find(id: string): AgentSession | undefined {
    return [...this.#sessions.values()].find((session) => session.isOpenAs(id))
  }

  get #prompting(): AgentSession[] {
    return [...this.#sessions.values()].filter(({ prompt }) => prompt !== undefined)
  }

  #onUpdate({ sessionId, related, update }: SessionUpdate): void {
    if (update.type === 'commands') {
      this.#commands = update.commands
      return
    }
    const session = this.#find(sessionId)
    const owner = session ?? this.#findOwner(sessionId, related)
    if (update.type === 'subagent') {
      if (owner !== undefined) this.#owners.set(update.sessionId, owner)
      return
    }
    if (session !== undefined) session.onUpdate(update)
    else if (update.type === 'mode' || update.type === 'other' || this.#forgotten.has(sessionId)) return
    else if (owner !== undefined) owner.onUpdate(update, true)
    else this.#onStrayUpdate(sessionId, update)
  }

  async #onPermission(params: unknown, onSkipped: OnSkipped): Promise<RequestPermissionResponse> {
    let request: PermissionRequest
    try {
      request = readPermission(params, onSkipped)
    } catch (error) {
      for (const { prompt } of this.#prompting)
        prompt?.report(`a permission cannot be read, and was not given: ${getErrorMessage(error)}`)
      throw error
    }
    const { sessionId, related } = request
    const owner = this.#find(sessionId) ?? this.#findOwner(sessionId, related)
    return owner === undefined ? this.#onStrayPermission(request) : owner.onPermission(request)
  }

  /** The parent session of a sub-agent's session: named in `_meta`, otherwise the only session with an active prompt. */
  #findOwner(sessionId: string, related: readonly string[]): AgentSession | undefined {
    const known = this.#owners.get(sessionId)
    if (known !== undefined) return known
    const named = related.flatMap((id) => this.#find(id) ?? this.#owners.get(id) ?? [])
    const prompting = this.#prompting
    const owner = named[0] ?? (prompting.length === 1 ? prompting[0] : undefined)
    if (owner !== undefined && !this.#forgotten.has(sessionId)) this.#owners.set(sessionId, owner)
    return owner
  }

  /**
   * Opens a run for a sub-agent without a known parent. Only participants that may read all active prompts can read the run.
   */
  #openStray(): Promise<AgentPrompt> | undefined {
    const prompting = this.#prompting
    const narrowest = prompting.find((one) =>
      prompting.every((other) => isWithin(one.audience, other.audience)),
    )
    return narrowest?.prompt?.nest(unknownParent)
  }

  #onStrayUpdate(sessionId: string, update: AgentUpdate): void {
    const opened = this.#openStray()
    if (opened === undefined) {
      this.#reportUnknown(sessionId, `a ${update.type} was skipped`)
      return
    }
    opened
      .then((prompt) => prompt.onUpdate(update, true))
      .catch((error: unknown) => this.#log(`updates of a sub-agent are missing: ${getErrorMessage(error)}`))
  }

  async #onStrayPermission(request: PermissionRequest): Promise<RequestPermissionResponse> {
    const opened = this.#openStray()
    if (opened !== undefined) return (await opened).onPermission(request)
    const { title = request.call.id } = request.call
    // The report omits the call, since the call may belong to a private prompt.
    for (const { prompt } of this.#prompting)
      prompt?.report(
        'a permission was not given: a sub-agent asks for it, and several private prompts run, of which it may belong to any',
      )
    this.#reportUnknown(request.sessionId, `a permission for ${cut(title, maxShownChars)} was not given`)
    return { outcome: { outcome: 'cancelled' } }
  }

  #reportUnknown(sessionId: string, what: string): void {
    if (this.#unknown.has(sessionId) || this.#unknown.size >= maxUnknown) return
    this.#unknown.add(sessionId)
    const running = `${this.#prompting.length} prompts run`
    this.#log(
      `it named a session ${JSON.stringify(cut(sessionId, maxShownChars))} that was not opened here: ${what}; ${running}`,
    )
  }

  /** Starts the agent if necessary; after a failed start the next request tries again. */
  #getProcess(): Promise<AgentProcess> {
    if (this.#process !== undefined) return this.#process
    const starting = this.#startProcess()
    this.#process = starting
    starting.catch(() => {
      if (this.#process === starting) this.#process = undefined
    })
    return starting
  }

  async #startProcess(): Promise<AgentProcess> {
    if (this.#isClosing) throw new ConnectionError('closed', 'the agent is being stopped')
    this.#starting = new AbortController()
    this.#forgotten.clear()
    this.#unknown.clear()
    for (const [id] of this.#owners.snapshot()) this.#owners.delete(id)
    this.#commands = []
    const handlers = {
      onUpdate: (update: SessionUpdate) => this.#onUpdate(update),
      onPermission: (params: unknown, onSkipped: OnSkipped) => this.#onPermission(params, onSkipped),
      log: this.#log,
    }
    const started = await startAgent(this.#command, handlers, this.#starting.signal)
    const { name, title, version } = started.info.agentInfo ?? { name: undefined, version: undefined }
    this.#known = findAgent(name)
    this.#info = name === undefined ? undefined : [title ?? name, version].filter(Boolean).join(' ')
    started.ended
      .then((reason) => this.#onProcessEnded(started, reason))
      .catch((error: unknown) => this.#log(getErrorMessage(error)))
    return started
  }

  /** Lets the next prompt start the agent again. The prompts that were active have failed already. */
  async #onProcessEnded(process: AgentProcess, reason: string): Promise<void> {
    if ((await this.#process?.catch(() => undefined)) !== process || this.#isClosing) return
    this.#process = undefined
    for (const session of this.#sessions.values()) session.onProcessEnded()
    const isBusy = [...this.#sessions.values()].some((session) => session.isBusy)
    this.#log(
      `${this.#command.command} ended: ${reason}${isBusy ? '' : '; it is started again for the next question'}`,
    )
  }

  async #restart(why: string): Promise<void> {
    const process = this.#process
    this.#process = undefined
    this.#starting.abort()
    for (const session of this.#sessions.values()) session.onProcessEnded()
    this.#log(`${this.#command.command} is started again: ${why}`)
    await (await process?.catch(() => undefined))?.kill()
  }

  /**
   * Sends a chat to everyone that the agent ran a tool without permission, and stops the agent, unless the option `unasked` is
   * `report`.
   */
  async #onUnasked({ name }: AgentCall, turn: Turn, run: string): Promise<void> {
    const isStopped = this.#options.unasked !== 'report'
    const remedy = `allow it by { tool: "${this.#space?.id}/${name}" }`
    const message = `I ran ${name} without asking, which I may not. ${
      isStopped ? `I was stopped: ${remedy}, or have me ask.` : `It is only reported here: ${remedy}.`
    }`
    const announced = this.#space?.sendWhenAllowed({
      kind: Kind.chat,
      // When the agent is stopped, this report is the answer to the turn.
      correlationId: isStopped ? turn.trigger.id : run,
      payload: { message },
    })
    await announced?.catch((error: unknown) =>
      this.#log(`no one could be informed: ${getErrorMessage(error)}`),
    )
    if (!isStopped) return
    abortTurn(turn, `it ran ${name} without asking`)
    await this.#stop(`it ran ${name} without asking, and without the capability for it`, true)
  }

  async #stop(reason: string, isFinal: boolean): Promise<void> {
    if (this.#isClosing) return this.#end({ reason, isFinal })
    if (isFinal) await (await this.#process?.catch(() => undefined))?.kill()
    this.#end({ reason, isFinal })
    await this.close()
  }

  get #status() {
    const { mode, model } = this.#state
    const asks = this.#known && (this.#known.mode === undefined || this.#known.mode === mode)
    return {
      ...omitUndefined({ agent: this.#info, model, mode, asks }),
    }
  }

  /** Publishes the agent's status if the agent may set it. */
  #announce(): void {
    const status = { kind: Kind.participantStatus, payload: this.#status }
    if (this.#space?.can(status)) this.#space.send(status).catch(() => {})
  }

  /** Answers MCP requests to the agent. `tools/list` is empty, since only the agent may call its tools. */
  #introduce({ method, params }: McpRequestPayload): McpResponsePayload | undefined {
    const { protocolVersion = '2025-06-18' } = params ?? {}
    const serverInfo = { name: this.#info ?? this.#command.command, version: PROTOCOL }
    if (method === 'initialize')
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } }
    if (method === 'ping') return { result: {} }
    return method === 'tools/list' ? { result: { tools: [] } } : undefined
  }
}

/** Whether `other` includes the audience `one`; `undefined` = everyone. */
const isWithin = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  other === undefined || (one?.every((id) => other.includes(id)) ?? false)
