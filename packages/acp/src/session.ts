import {
  type ContentBlock,
  methods,
  type NewSessionRequest,
  type NewSessionResponse,
  type PromptCapabilities,
  type PromptResponse,
  type StopReason,
} from '@agentclientprotocol/sdk'
import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { isObject } from '@meup/folds'
import { settlesWithin } from '@meup/mcp-bridge'
import type { AgentCall } from './agent-call.js'
import type { AgentProcess } from './agent-process.js'
import type { AgentUpdate } from './agent-updates.js'
import { findAgent } from './agents.js'
import { type Approvals, getMessage } from './approvals.js'
import { askForChoice } from './choices.js'
import { createPrompt } from './create-prompt.js'
import { Prompt } from './prompt.js'
import { SpaceToolArrivals, type SpaceToolServer, serveSpaceTools } from './space-tools.js'
import { Stopper } from './stopper.js'

/** Bytes of an envelope beside the text of an answer. */
const envelopeBytes = 8 * 1024

/** What an agent says of a session that it opens. */
type SessionState = Partial<NewSessionResponse>

/** What an agent's sessions are like. */
export interface AgentState {
  readonly mode?: string
  readonly model?: string
}

export interface SessionParts {
  readonly space: SpaceClient
  readonly approvals: Approvals
  readonly cwd: string
  /** The mode in which the agent asks. */
  readonly mode: string | undefined
  /** Milliseconds that it may take to open a session. */
  readonly startTimeoutMs: number
  /** The agent as it runs now; starts it where it does not. */
  getProcess(): Promise<AgentProcess>
  /** Kills it with everything that it has started. The next `getProcess` starts it again. */
  restart(why: string): Promise<void>
  onState(state: AgentState): void
  /** `run`: in which it did. */
  onUnasked(call: AgentCall, turn: Turn, run: string): void
  readonly log: (line: string) => void
}

/** One conversation with the agent. Its prompts run one after another. */
export class Session {
  readonly #parts: SessionParts
  readonly #arrivals = new SpaceToolArrivals()
  #tools: SpaceToolServer | undefined
  #process: AgentProcess | undefined
  #id: string | undefined
  #prompt: Prompt | undefined
  #run: Parameters<typeof serveSpaceTools>[0]['getRun'] = () => undefined
  /** What the agent reads first, at the next prompt. */
  #notes: string[] = []
  #isLoading = false
  #isPrompting = false
  #queue = Promise.resolve()
  #waiting = 0

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Whether the agent, as it runs now, means this session by the id. */
  isOpenAs(id: string): boolean {
    return this.#id === id && (this.#process !== undefined || this.#isLoading)
  }

  get id(): string | undefined {
    return this.#id
  }

  /** The agent has ended; the next prompt opens the session again. */
  onProcessEnded(): void {
    this.#process = undefined
    this.#isLoading = false
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  /** The prompt that the agent answers. */
  get prompt(): Prompt | undefined {
    return this.#isPrompting ? this.#prompt : undefined
  }

  onUpdate(update: AgentUpdate): void {
    if (update.type === 'mode') this.#parts.onState({ mode: update.mode })
    // What a session replays was said before.
    if (!this.#isLoading) this.#prompt?.onUpdate(update)
  }

  onPermission: Prompt['onPermission'] = (request) =>
    this.#prompt?.onPermission(request) ?? Promise.resolve({ outcome: { outcome: 'cancelled' } })

  /** Has the agent know of this session before anybody asks. */
  ready(): Promise<void> {
    return this.#enqueue(async () => void (await this.#open()))
  }

  /** Answers a turn, after those that came before it. */
  answer(turn: Turn): Promise<void> {
    return this.#enqueue(async () => {
      if (!turn.signal.aborted) await this.#answer(turn)
    })
  }

  async close(): Promise<void> {
    this.#prompt?.cancel()
    await this.#tools?.close()
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(task)
    this.#waiting++
    this.#queue = done.catch(() => {}).then(() => void this.#waiting--)
    return done
  }

  /** Has the agent know of this session, as it runs now. */
  async #open(): Promise<AgentProcess> {
    const { getProcess } = this.#parts
    const process = await getProcess()
    if (process === this.#process) return process
    this.#tools ??= await serveSpaceTools({
      space: this.#parts.space,
      arrivals: this.#arrivals,
      getRun: () => this.#run(),
    })
    const before = this.#id
    let state = before === undefined ? undefined : await this.#load(process, before)
    if (state === undefined) {
      if (before !== undefined) this.#notes.push('You were started again, and what was said before is lost.')
      state = await this.#openNew(process)
    }
    // It may have ended meanwhile; then there is no session.
    if (!process.isConnected) throw new Error(`the agent ended: ${await process.ended}`)
    this.#process = process
    await this.#setMode(process, state)
    return process
  }

  /** `undefined`: the agent cannot, or does not know it any more. */
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
      this.#parts.log(`its session could not be loaded: ${getMessage(error)}`)
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
        throw new Error(
          `it opens no session: ${getMessage(error)}${how && `; where it wants to know who uses it: ${how}`}`,
        )
      },
    )
    const { sessionId } = opened
    if (typeof sessionId !== 'string')
      throw new Error(`it opens no session: its id is ${JSON.stringify(sessionId)}`)
    this.#id = sessionId
    return opened
  }

  #place({ info }: AgentProcess): Pick<NewSessionRequest, 'cwd' | 'mcpServers'> {
    const entry = this.#tools?.entry
    const mcpServers = info.agentCapabilities?.mcpCapabilities?.http && entry ? [entry] : []
    return { cwd: this.#parts.cwd, mcpServers }
  }

  /** An agent that does not answer what is no work is started again. */
  async #ask(process: AgentProcess, method: string, params: object): Promise<SessionState> {
    const { startTimeoutMs, restart } = this.#parts
    const answer = process.agent.request<unknown>(method, params)
    if (!(await settlesWithin(answer, startTimeoutMs))) {
      const why = `it did not answer ${method} within ${startTimeoutMs / 1000} s`
      await restart(why)
      throw new Error(why)
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
      if (!offered.includes(wanted)) throw new Error(`it has no mode ${wanted}; it has ${offered.join(', ')}`)
      const { setMode } = methods.agent.session
      await this.#ask(process, setMode, { sessionId: this.#id, modeId: wanted })
      mode = wanted
    } else if (wanted !== undefined && modes == null) log(`it has no modes: ${wanted} could not be set`)
    onState({ ...(mode !== undefined && { mode }), ...(model !== undefined && { model }) })
  }

  async #answer(turn: Turn): Promise<void> {
    const live = turn.write()
    const stopper = new Stopper(turn.signal, this.#parts)
    try {
      const process = await this.#open()
      const { agent, info } = process
      let text = ''
      await turn.reason(undefined, async (run) => {
        const { approvals, space, log, onUnasked } = this.#parts
        this.#arrivals.clear()
        const prompt = new Prompt({
          ...{ run, live, approvals, log, arrivals: this.#arrivals },
          agent: findAgent(info.agentInfo?.name),
          maxAnswerBytes: space.welcome.limits.maxEnvelopeBytes - envelopeBytes,
          choose: askForChoice(space, turn, run.context),
          onUnasked: (call) => onUnasked(call, turn, run.context),
          onExcess: (what) => {
            log(`it is stopped: ${what}`)
            stopper.stop()
          },
        })
        this.#prompt = prompt
        this.#isPrompting = true
        this.#run = () => (run.isClosed ? undefined : run)
        stopper.follow(prompt, () =>
          agent.notify(methods.agent.session.cancel, { sessionId: this.#id ?? '' }),
        )
        let response: Partial<PromptResponse> = {}
        try {
          const result: unknown = await agent.request(methods.agent.session.prompt, {
            sessionId: this.#id ?? '',
            prompt: this.#createContent(turn, info.agentCapabilities?.promptCapabilities ?? {}),
          })
          response = isObject(result) ? result : {}
          if (response.stopReason !== 'cancelled') await prompt.settle()
        } catch (error) {
          if (prompt.excess === undefined) {
            await prompt.finish('the agent did not say how it ended')
            if (process.isConnected) throw error
            throw new Error(`the agent ended: ${await process.ended}`, { cause: error })
          }
        } finally {
          this.#isPrompting = false
          stopper.close()
        }
        text = await prompt.finish('the agent did not say how it ended')
        this.#notes.push(...prompt.rejections)
        text = getAnswer(text, response.stopReason, prompt)
        await run.conclude(undefined, {
          metadata: {
            ...(response.stopReason && { stopReason: response.stopReason }),
            ...readUsage(response),
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

  #createContent(turn: Turn, accepted: PromptCapabilities): ContentBlock[] {
    return createPrompt({ turn, notes: this.#notes.splice(0), takesImages: accepted.image === true })
  }
}

const endings: Readonly<Partial<Record<StopReason, string>>> = {
  max_tokens: 'the model reached its limit of tokens',
  max_turn_requests: 'the agent reached its limit of requests to the model',
  refusal: 'the agent refused to go on',
}

/** What a prompt came to. Throws where that is nothing. */
function getAnswer(
  text: string,
  stopReason: StopReason | null | undefined,
  { rejections, excess }: Prompt,
): string {
  const ending = excess === undefined ? endings[stopReason ?? 'end_turn'] : `${excess}, and was stopped`
  if (ending !== undefined) return text === '' ? `There is no answer: ${ending}.` : `${text}\n\n(${ending})`
  const last = rejections.at(-1)
  if (text !== '' && (stopReason !== 'cancelled' || last !== undefined)) return text
  if (last !== undefined) return `I did not go on: ${last}.`
  throw new Error(stopReason === 'cancelled' ? 'the agent cancelled it' : 'the agent gave no answer')
}

function readUsage(response: object): object {
  const { usage } = response as { readonly usage?: unknown }
  if (!isObject(usage)) return {}
  const { inputTokens, outputTokens } = usage
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return {}
  return { tokens: { input: inputTokens, output: outputTokens } }
}

/** Agents give it as an option of the session, or as they did before there were any. */
function readModel({ configOptions, ...rest }: SessionState): string | undefined {
  const option = toList(configOptions).find(({ category, id }) => category === 'model' || id === 'model')
  const { models } = rest as { readonly models?: { readonly currentModelId?: unknown } | null }
  const model: unknown = option?.currentValue ?? models?.currentModelId
  return typeof model === 'string' ? model : undefined
}

/** The objects of a list, if it is one. */
const toList = <Each extends object>(list: readonly Each[] | null | undefined): readonly Each[] =>
  Array.isArray(list) ? (list as readonly Each[]).filter((each) => isObject(each)) : []
