import { resolve } from 'node:path'
import { ConnectionError, isAsked, type SpaceClient, type Turn } from '@meup/agent-sdk'
import { Kind, type McpRequestPayload, type McpResponsePayload, PROTOCOL } from '@meup/protocol'
import type { AgentCall } from './agent-call.js'
import { type AgentCommand, type AgentProcess, startAgent } from './agent-process.js'
import { findAgent, type KnownAgent } from './agents.js'
import { Approvals, getMessage } from './approvals.js'
import { type AgentState, Session } from './session.js'

/** Milliseconds that a permission stays open for a decision, by default. */
const defaultApprovalMs = 600_000
/** Sessions that are kept; beyond that the oldest one is forgotten. */
const maxSessions = 32
/** Milliseconds that prompts have to end at a stop. */
const stopMs = 2000

export interface CodingAgentOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>
  /** The folder that it works in. */
  readonly cwd: string
  /** The mode of its sessions, such as `default`; it should be one in which it asks. */
  readonly mode?: string
  /** `shared`: one session for the space, and one for each who writes to it alone; `asker`: one for each. */
  readonly sessions?: 'shared' | 'asker'
  /** What becomes of an agent that runs a tool without asking, and without the capability. */
  readonly unasked?: 'stop' | 'report'
  /** Milliseconds that a permission stays open for a decision; default 600,000. */
  readonly approvalMs?: number
  /** Connects as the participant; called when the agent has introduced itself. */
  readonly connect: () => Promise<SpaceClient>
  /** A line for the operator. */
  readonly log?: (line: string) => void
}

export interface CodingAgent {
  /** Resolves when the agent has ended for good, or the space was closed. `isFinal`: it would come to the same again. */
  readonly ended: Promise<{ readonly reason: string; readonly isFinal: boolean }>
  close(): Promise<void>
}

/**
 * Has a coding agent that speaks ACP take part in a space: its thoughts and answers are seen, its own tools are tools of the
 * space, what it asks permission for is decided there. Rejects where it does not start, with what to do about it.
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
  /** By asker; `''`: that of the space. */
  readonly #sessions = new Map<string, Session>()
  #process: Promise<AgentProcess> | undefined
  #space: SpaceClient | undefined
  #approvals: Approvals | undefined
  #state: AgentState = {}
  #info: string | undefined
  #known: KnownAgent | undefined
  #isClosing = false
  readonly ended: CodingAgent['ended']
  #end: (outcome: Awaited<CodingAgent['ended']>) => void = () => {}

  constructor(options: CodingAgentOptions) {
    const { command, args = [], env, cwd, log = () => {} } = options
    this.#options = options
    this.#command = { command, args, env, cwd: resolve(cwd) }
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
    this.#space = space
    const approvals = new Approvals(space, this.#options.approvalMs ?? defaultApprovalMs)
    this.#approvals = approvals
    space.on('closed', (error) => this.#stop(error?.message ?? 'the space was closed', false))
    space.serve(async (request) => {
      const { payload } = request
      return payload.method === 'tools/call' ? approvals.answer(request) : this.#introduce(payload)
    })
    space.control({ status: () => this.#status })
    try {
      await approvals.withdrawLeft()
      await this.#getSession('').open()
    } catch (error) {
      await this.close()
      throw error
    }
    this.#announce()
    const { head } = space.welcome.space
    const answering = space.answer((turn) => this.#answer(turn), {
      trigger: (message) => (message.seq ?? 0) > head && isAsked(message, space),
      onError: (error) => this.#log(getMessage(error)),
    })
    answering.catch((error: unknown) => this.#log(getMessage(error)))
  }

  async close(): Promise<void> {
    if (this.#isClosing) return void (await this.ended)
    this.#isClosing = true
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

  #getSession(key: string): Session {
    const known = this.#sessions.get(key)
    if (known !== undefined) return known
    const [space, approvals] = [this.#space, this.#approvals]
    if (space === undefined || approvals === undefined)
      throw new ConnectionError('closed', 'not connected yet')
    const session = new Session({
      ...{ space, approvals, cwd: this.#command.cwd, mode: this.#options.mode, log: this.#log },
      getProcess: () => this.#getProcess(),
      restart: (why) => this.#restart(why),
      onState: (state) => {
        this.#state = { ...this.#state, ...state }
      },
      onUnasked: (call, turn, run) => void this.#onUnasked(call, turn, run),
    })
    this.#sessions.set(key, session)
    const oldest = [...this.#sessions].find(([asker, each]) => asker !== '' && !each.isBusy)
    if (this.#sessions.size > maxSessions && oldest !== undefined) {
      this.#sessions.delete(oldest[0])
      oldest[1].close().catch(() => {})
    }
    return session
  }

  #find(id: string): Session | undefined {
    return [...this.#sessions.values()].find((session) => session.isOpenAs(id))
  }

  #getProcess(): Promise<AgentProcess> {
    this.#process ??= this.#startProcess()
    return this.#process
  }

  async #startProcess(): Promise<AgentProcess> {
    if (this.#isClosing) throw new ConnectionError('closed', 'the agent is being stopped')
    const started = await startAgent(this.#command, {
      onUpdate: ({ sessionId, update }) => this.#find(sessionId)?.onUpdate(update),
      onPermission: (request) =>
        this.#find(request.sessionId)?.onPermission(request) ??
        Promise.resolve({ outcome: { outcome: 'cancelled' } }),
      log: this.#log,
    })
    const { name, title, version } = started.info.agentInfo ?? { name: undefined, version: undefined }
    this.#known = findAgent(name)
    this.#info = name === undefined ? undefined : [title ?? name, version].filter(Boolean).join(' ')
    void started.ended.then((reason) => this.#onProcessEnded(started, reason))
    return started
  }

  /** A prompt that it leaves behind has failed; the next one starts it again. */
  async #onProcessEnded(process: AgentProcess, reason: string): Promise<void> {
    if ((await this.#process?.catch(() => undefined)) !== process || this.#isClosing) return
    this.#process = undefined
    for (const session of this.#sessions.values()) session.onProcessEnded()
    const isBusy = [...this.#sessions.values()].some((session) => session.isBusy)
    this.#log(
      `${this.#command.command} ended: ${reason}${isBusy ? '' : '; it is started again when somebody asks'}`,
    )
  }

  async #restart(why: string): Promise<void> {
    const process = await this.#process
    this.#process = undefined
    for (const session of this.#sessions.values()) session.onProcessEnded()
    this.#log(`${this.#command.command} is started again: ${why}`)
    await process?.kill()
  }

  /** It went past the space: everybody reads it, and it is stopped where that is wanted. */
  async #onUnasked({ name }: AgentCall, turn: Turn, run: string): Promise<void> {
    const isStopped = this.#options.unasked !== 'report'
    const remedy = `allow it by { tool: "${this.#space?.id}/${name}" }`
    const message = `I ran ${name} without asking, which I may not. ${
      isStopped ? `I was stopped: ${remedy}, or have me ask.` : `It is only reported here: ${remedy}.`
    }`
    const announced = this.#space?.sendWhenAllowed({
      kind: Kind.chat,
      // It is the answer only where there will be no other.
      correlationId: isStopped ? turn.trigger.id : run,
      payload: { message },
    })
    await announced?.catch((error: unknown) => this.#log(`nobody could be informed: ${getMessage(error)}`))
    if (!isStopped) return
    turn.abort(`it ran ${name} without asking`)
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
      ...(this.#info !== undefined && { agent: this.#info }),
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode }),
      ...(asks !== undefined && { asks }),
    }
  }

  /** For those who show who is here. Without the capability for it nobody is. */
  #announce(): void {
    const status = { kind: Kind.participantStatus, payload: this.#status }
    if (this.#space?.can(status)) this.#space.send(status).catch(() => {})
  }

  /** What is asked of it as of an MCP server. Its tools are for itself: nobody else is offered them. */
  #introduce({ method, params }: McpRequestPayload): McpResponsePayload | undefined {
    const { protocolVersion = '2025-06-18' } = params ?? {}
    const serverInfo = { name: this.#info ?? this.#command.command, version: PROTOCOL }
    if (method === 'initialize')
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } }
    if (method === 'ping') return { result: {} }
    return method === 'tools/list' ? { result: { tools: [] } } : undefined
  }
}
