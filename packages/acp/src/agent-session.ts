// A session of the Agent Client Protocol with the agent's process: opened, resumed or loaded, and asked one prompt at a time.

import {
  methods,
  type NewSessionRequest,
  type NewSessionResponse,
  type PromptResponse,
} from '@agentclientprotocol/sdk'
import type { Reasoning, SpaceClient, Turn } from '@meup/agent-sdk'
import { audienceOf, type LiveText } from '@meup/agent-sdk/internal'
import { isObject } from '@meup/folds'
import { settlesWithin } from '@meup/mcp-bridge'
import { getErrorMessage, Kind, omitUndefined } from '@meup/protocol'
import type { AgentCall } from './agent-call.js'
import { readAgentCommand } from './agent-command.js'
import type { AgentProcess } from './agent-process.js'
import type { AgentUpdate, OfferedCommand } from './agent-updates.js'
import { findAgent } from './agents.js'
import { getAnswer, readAcpUsage } from './answer.js'
import type { Approvals } from './approvals.js'
import { askForChoice } from './choices.js'
import { createPrompt } from './create-prompt.js'
import { agentError } from './errors.js'
import { AgentPrompt } from './prompt.js'
import { SpaceToolArrivals, type SpaceToolServer, serveSpaceTools } from './space-tools.js'
import { Stopper } from './stopper.js'

/** Bytes reserved for the envelope around the text of an answer. */
const envelopeBytes = 8 * 1024
/**
 * `lostNote`: a note in the agent's next prompt after its session was lost. `lostReport`: the report about that in the space.
 */
const lostNote = 'You were started again, and what was said before is lost.'
const lostReport = 'lost its session: it starts again, without memory of earlier messages'

/** The agent's response to opening a session. */
type SessionState = Partial<NewSessionResponse>

/** The agent's mode and model, as its sessions report them. */
export interface AgentState {
  readonly mode?: string
  readonly model?: string
}

export interface SessionParts {
  readonly space: SpaceClient
  readonly approvals: Approvals
  readonly cwd: string
  /** The session mode in which the agent asks for permission. */
  readonly mode: string | undefined
  /** Milliseconds for opening a session. */
  readonly startTimeoutMs: number
  /** Returns the agent's process; starts it if necessary. */
  getProcess(): Promise<AgentProcess>
  /** Kills the agent with its child processes. The next `getProcess` starts the agent again. */
  restart(why: string): Promise<void>
  /** The agent's slash commands; empty until the agent lists them. */
  getCommands(): readonly OfferedCommand[]
  onState(state: AgentState): void
  /** `run`: the context of the run that contains the call. */
  onUnasked(call: AgentCall, turn: Turn, run: string): void
  readonly log: (line: string) => void
}

/** Text in the result of a tool call whose end the agent has not reported. */
const noOutcome = 'the agent did not say how it ended'

/** A session with the agent. Its prompts run one after another. */
export class AgentSession {
  readonly #parts: SessionParts
  readonly #arrivals = new SpaceToolArrivals()
  #tools: SpaceToolServer | undefined
  #process: AgentProcess | undefined
  #id: string | undefined
  #prompt: AgentPrompt | undefined
  #run: Parameters<typeof serveSpaceTools>[0]['getRun'] = () => undefined
  /** Notes at the beginning of the agent's next prompt: that its session was lost, and why calls were rejected. */
  #notes: string[] = []
  #audience: readonly string[] | undefined
  #isLoading = false
  /** The agent claims to have resumed this session, but has not answered a prompt in it since, so the claim may be wrong. */
  #isUnproven = false
  /** The session was lost, and the space has not been informed yet. */
  #isLost = false
  #isPrompting = false
  #queue = Promise.resolve()
  #waiting = 0

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Whether the running agent has this session open under this id. */
  isOpenAs(id: string): boolean {
    return this.#id === id && (this.#process !== undefined || this.#isLoading)
  }

  get id(): string | undefined {
    return this.#id
  }

  /** Must be called when the agent has ended; the next prompt opens the session again. */
  onProcessEnded(): void {
    this.#process = undefined
    this.#isLoading = false
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  /** The prompt that the agent is answering; `undefined` = none. */
  get prompt(): AgentPrompt | undefined {
    return this.#isPrompting ? this.#prompt : undefined
  }

  /** The participants that can read the answer to the latest prompt; `undefined` = everyone. */
  get audience(): readonly string[] | undefined {
    return this.#audience
  }

  /** `isNested`: the update comes from the session of a sub-agent. */
  onUpdate(update: AgentUpdate, isNested = false): void {
    if (update.type === 'mode') this.#parts.onState({ mode: update.mode })
    // Ignores old updates, which the agent replays while a session is loaded.
    if (!this.#isLoading) this.#prompt?.onUpdate(update, isNested)
  }

  onPermission: AgentPrompt['onPermission'] = (request) =>
    this.#prompt?.onPermission(request) ?? Promise.resolve({ outcome: { outcome: 'cancelled' } })

  /** Opens the session before the first prompt. */
  ready(): Promise<void> {
    return this.#enqueue(async () => void (await this.#open()))
  }

  /** Answers a turn once all previous turns are answered. */
  answer(turn: Turn): Promise<void> {
    return this.#enqueue(async () => {
      if (!turn.signal.aborted) await this.#answer(turn)
    })
  }

  async close(): Promise<void> {
    this.#prompt?.flushLate()
    this.#prompt?.cancel()
    await this.#tools?.close()
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(task)
    this.#waiting++
    this.#queue = done.catch(() => {}).then(() => void this.#waiting--)
    return done
  }

  /** Opens, resumes or loads the session, unless it is open in the running agent. */
  async #open(): Promise<AgentProcess> {
    const { getProcess } = this.#parts
    const process = await getProcess()
    if (process === this.#process) return process
    this.#tools ??= await serveSpaceTools({
      space: this.#parts.space,
      arrivals: this.#arrivals,
      getRun: () => this.#run(),
      log: this.#parts.log,
    })
    const before = this.#id
    let state = before === undefined ? undefined : await this.#load(process, before)
    this.#isUnproven = state !== undefined
    if (state === undefined) {
      if (before !== undefined) this.#lose()
      state = await this.#openNew(process)
    }
    // The agent may have ended while the session was being opened.
    if (!process.isConnected) throw agentError('ended', { reason: await process.ended })
    this.#process = process
    await this.#setMode(process, state)
    return process
  }

  #lose(): void {
    this.#notes.push(lostNote)
    this.#isLost = true
  }

  /** Resumes or loads a session. Returns `undefined` if the agent does not support that, or does not know the session. */
  async #load(process: AgentProcess, sessionId: string): Promise<SessionState | undefined> {
    const { loadSession, sessionCapabilities } = process.info.agentCapabilities ?? {}
    const { resume, load } = methods.agent.session
    if (!sessionCapabilities?.resume && !loadSession) return undefined
    this.#isLoading = true
    try {
      const method = sessionCapabilities?.resume ? resume : load
      return await this.#ask(process, method, { sessionId, ...this.#place(process) })
    } catch (error) {
      if (!process.isConnected) throw error
      this.#parts.log(`its session could not be loaded: ${getErrorMessage(error)}`)
      return undefined
    } finally {
      this.#isLoading = false
    }
  }

  async #openNew(process: AgentProcess): Promise<SessionState> {
    const { info } = process
    const opened = await this.#ask(process, methods.agent.session.new, this.#place(process)).catch(
      (error: unknown) => {
        const login = findAgent(info.agentInfo?.name)?.login
        const ways = (info.authMethods ?? []).map(({ name, description }) => description || name)
        const how = login ?? ways.join(', or ')
        const details = { reason: getErrorMessage(error), login: how }
        throw agentError(how === '' ? 'no_session' : 'login_needed', details, { cause: error })
      },
    )
    const { sessionId } = opened
    if (typeof sessionId !== 'string')
      throw agentError('no_session', { reason: `its id is ${JSON.stringify(sessionId)}` })
    this.#id = sessionId
    return opened
  }

  #place({ info }: AgentProcess): Pick<NewSessionRequest, 'cwd' | 'mcpServers'> {
    const entry = this.#tools?.entry
    const mcpServers = info.agentCapabilities?.mcpCapabilities?.http && entry ? [entry] : []
    return { cwd: this.#parts.cwd, mcpServers }
  }

  /** Sends a request that needs no model. Restarts an agent that does not respond in time. */
  async #ask(process: AgentProcess, method: string, params: object): Promise<SessionState> {
    const { startTimeoutMs, restart } = this.#parts
    const answer = process.agent.request<unknown>(method, params)
    if (!(await settlesWithin(answer, startTimeoutMs))) {
      await restart(`it did not answer ${method}`)
      throw agentError('late', { method, seconds: startTimeoutMs / 1000 })
    }
    const result = await answer
    return isObject(result) ? result : {}
  }

  async #setMode(process: AgentProcess, { modes, ...state }: SessionState): Promise<void> {
    const { mode: wanted, onState, log } = this.#parts
    const model = readModel(state)
    let mode = modes?.currentModeId
    if (wanted !== undefined && modes != null && wanted !== mode) {
      const offered = toList(modes.availableModes).map(({ id }) => id)
      if (!offered.includes(wanted)) throw agentError('unknown_mode', { mode: wanted, modes: offered })
      const { setMode } = methods.agent.session
      await this.#ask(process, setMode, { sessionId: this.#id, modeId: wanted })
      mode = wanted
    } else if (wanted !== undefined && modes == null) log(`it has no modes: ${wanted} could not be set`)
    onState(omitUndefined({ mode, model }))
  }

  async #answer(turn: Turn): Promise<void> {
    const { space, getCommands } = this.#parts
    const live = turn.write()
    const stopper = new Stopper(turn.signal, this.#parts)
    try {
      const process = await this.#open()
      const command = readAgentCommand(turn, space.id, getCommands())
      if (command?.unknown !== undefined) {
        live.close()
        return void (await turn.reply(command.unknown))
      }
      let text = ''
      await turn.reason(undefined, async (run) => {
        const prompt = this.#begin(turn, run, live, process, stopper)
        let response: Partial<PromptResponse> = {}
        try {
          response = await this.#send(process, prompt, turn, command?.text)
          if (response.stopReason !== 'cancelled') await prompt.settle()
          // Some agents claim to have resumed an unknown session, and refuse its first prompt: sends the prompt in a new one.
          if (response.stopReason === 'refusal' && this.#isUnproven && !prompt.hasOutput) {
            response = await this.#sendAnew(process, prompt, turn, command?.text)
            if (response.stopReason !== 'cancelled') await prompt.settle()
          }
        } catch (error) {
          // If the agent exceeded a limit, its prompt was cancelled, and the answer states the limit.
          if (prompt.excess === undefined) {
            await prompt.finish(noOutcome)
            if (process.isConnected) throw error
            throw agentError('ended', { reason: await process.ended }, { cause: error })
          }
        } finally {
          this.#isPrompting = false
          stopper.close()
        }
        this.#isUnproven = false
        text = await prompt.finish(noOutcome)
        this.#notes.push(...prompt.rejections)
        text = getAnswer(text, response.stopReason, prompt, command?.name)
        await run.conclude(undefined, {
          metadata: {
            ...(response.stopReason && { stopReason: response.stopReason }),
            ...readAcpUsage(response),
          },
        })
      })
      live.close()
      await turn.reply(text, { format: 'markdown' })
    } finally {
      stopper.close()
      live.close()
    }
  }

  #begin(turn: Turn, run: Reasoning, live: LiveText, process: AgentProcess, stopper: Stopper): AgentPrompt {
    const { approvals, space, log, onUnasked } = this.#parts
    const { maxEnvelopeBytes, maxResultBytes } = space.welcome.limits
    const { trigger } = turn
    const audience = audienceOf(trigger, space.id)
    this.#arrivals.clear()
    // Sends late text of the previous prompt now, because all further updates of the session belong to the new prompt.
    this.#prompt?.flushLate()
    const prompt = new AgentPrompt({
      ...{ run, live, approvals, log, arrivals: this.#arrivals },
      agent: findAgent(process.info.agentInfo?.name),
      maxAnswerBytes: maxEnvelopeBytes - envelopeBytes,
      maxResultBytes: maxResultBytes ?? maxEnvelopeBytes,
      choose: askForChoice(space, turn, run.context),
      sendLate: (message) =>
        space.sendWhenAllowed({
          ...{ kind: Kind.chat, ...audience, correlationId: trigger.id },
          payload: { message, format: 'markdown' },
        }),
      onUnasked: (call) => onUnasked(call, turn, run.context),
      onExcess: (what) => {
        log(`it is stopped: ${what}`)
        stopper.stop()
      },
    })
    this.#prompt = prompt
    this.#audience = audience.to
    this.#isPrompting = true
    this.#run = () => (run.isClosed ? undefined : run)
    stopper.follow(prompt, () =>
      process.agent.notify(methods.agent.session.cancel, { sessionId: this.#id ?? '' }),
    )
    return prompt
  }

  /** Sends a prompt. If the agent does not know the session any more, opens a new one and tries once more. */
  async #send(
    process: AgentProcess,
    prompt: AgentPrompt,
    turn: Turn,
    command: string | undefined,
  ): Promise<Partial<PromptResponse>> {
    try {
      return await this.#sendOnce(process, prompt, turn, command)
    } catch (error) {
      if (!process.isConnected || prompt.hasOutput || !saysLost.test(getErrorMessage(error))) throw error
      return this.#sendAnew(process, prompt, turn, command)
    }
  }

  async #sendAnew(
    process: AgentProcess,
    prompt: AgentPrompt,
    turn: Turn,
    command: string | undefined,
  ): Promise<Partial<PromptResponse>> {
    this.#lose()
    await this.#setMode(process, await this.#openNew(process))
    return this.#sendOnce(process, prompt, turn, command)
  }

  async #sendOnce(
    { agent, info }: AgentProcess,
    prompt: AgentPrompt,
    turn: Turn,
    command: string | undefined,
  ): Promise<Partial<PromptResponse>> {
    if (this.#isLost) prompt.report(`${this.#parts.space.id} ${lostReport}`)
    this.#isLost = false
    // A command must be at the beginning of a prompt, so notes wait for the next prompt.
    const notes = command === undefined ? this.#notes.splice(0) : []
    const takesImages = info.agentCapabilities?.promptCapabilities?.image === true
    const result: unknown = await agent.request(methods.agent.session.prompt, {
      sessionId: this.#id ?? '',
      prompt: createPrompt({ turn, notes, takesImages, command }),
    })
    return isObject(result) ? result : {}
  }
}

/** Matches agents' error messages about an unknown session. */
const saysLost =
  /\bsession\b.*\b(?:not found|unknown|does not exist|doesn't exist|not exist|expired|invalid)\b|\b(?:unknown|no such|invalid) session\b/is

/** The session's model: a config option, or in older agents the field `models`. */
function readModel({ configOptions, ...rest }: SessionState): string | undefined {
  const option = toList(configOptions).find(({ category, id }) => category === 'model' || id === 'model')
  const { models } = rest as { readonly models?: { readonly currentModelId?: unknown } | null }
  const model: unknown = option?.currentValue ?? models?.currentModelId
  return typeof model === 'string' ? model : undefined
}

/** The objects of a list; empty if the value is not a list. */
const toList = <Each extends object>(list: readonly Each[] | null | undefined): readonly Each[] =>
  Array.isArray(list) ? (list as readonly Each[]).filter((each) => isObject(each)) : []
