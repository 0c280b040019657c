import {
  type ContentBlock,
  methods,
  type NewSessionResponse,
  type PromptResponse,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk'
import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { isObject } from '@meup/folds'
import type { AgentCall } from './agent-call.js'
import type { AgentProcess } from './agent-process.js'
import { findAgent } from './agents.js'
import { type Approvals, getMessage } from './approvals.js'
import { Prompt } from './prompt.js'
import { type SpaceToolServer, SpaceToolUses, serveSpaceTools } from './space-tools.js'

/** Milliseconds after a cancel in which a tool may end, and the agent answer, before both are killed. */
const [toolGraceMs, answerGraceMs] = [2000, 10_000]

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
  readonly #uses = new SpaceToolUses()
  #tools: SpaceToolServer | undefined
  #process: AgentProcess | undefined
  #id: string | undefined
  #prompt: Prompt | undefined
  #run: Parameters<typeof serveSpaceTools>[0]['getRun'] = () => undefined
  /** What the agent reads first, at the next prompt. */
  #notes: string[] = []
  #isLoading = false
  #queue = Promise.resolve()
  #waiting = 0

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Whether what the agent says of this session is about this one. */
  isOpenAs(id: string): boolean {
    return this.#process !== undefined && this.#id === id
  }

  /** The agent has ended; the next prompt opens the session again. */
  onProcessEnded(): void {
    this.#process = undefined
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  onUpdate(update: SessionUpdate): void {
    if (update.sessionUpdate === 'current_mode_update') this.#parts.onState({ mode: update.currentModeId })
    // What a session replays was said before.
    if (!this.#isLoading) this.#prompt?.onUpdate(update)
  }

  onPermission: Prompt['onPermission'] = (request) =>
    this.#prompt?.onPermission(request) ?? Promise.resolve({ outcome: { outcome: 'cancelled' } })

  /** Answers a turn, after those that came before it. */
  answer(turn: Turn): Promise<void> {
    const answered = this.#queue.then(() => (turn.signal.aborted ? undefined : this.#answer(turn)))
    this.#waiting++
    this.#queue = answered.catch(() => {}).then(() => void this.#waiting--)
    return answered
  }

  /** Has the agent know of this session, as it runs now. */
  async open(): Promise<AgentProcess> {
    const { cwd, getProcess } = this.#parts
    const process = await getProcess()
    if (process === this.#process) return process
    const { agent, info } = process
    this.#tools ??= await serveSpaceTools({
      space: this.#parts.space,
      uses: this.#uses,
      getRun: () => this.#run(),
    })
    const { mcpCapabilities, loadSession, sessionCapabilities } = info.agentCapabilities ?? {}
    const mcpServers = mcpCapabilities?.http ? [this.#tools.entry] : []
    const before = this.#id
    let state: Partial<NewSessionResponse> | undefined
    if (before !== undefined && (sessionCapabilities?.resume || loadSession)) {
      const { resume, load } = methods.agent.session
      const asked = { sessionId: before, cwd, mcpServers }
      this.#isLoading = true
      const method = sessionCapabilities?.resume ? resume : load
      state = await agent.request<Partial<NewSessionResponse>>(method, asked).catch((error: unknown) => {
        this.#parts.log(`its session could not be loaded: ${getMessage(error)}`)
        return undefined
      })
      this.#isLoading = false
    }
    if (state === undefined) {
      if (before !== undefined) this.#notes.push('You were started again, and what was said before is lost.')
      const opened = await agent
        .request(methods.agent.session.new, { cwd, mcpServers })
        .catch((error: unknown) => {
          const login = findAgent(info.agentInfo?.name)?.login
          const ways = (info.authMethods ?? []).map(({ name, description }) => description || name)
          const how = login ?? ways.join(', or ')
          throw new Error(
            `it opens no session: ${getMessage(error)}${how && `; where it wants to know who uses it: ${how}`}`,
          )
        })
      this.#id = opened.sessionId
      state = opened
    }
    this.#process = process
    await this.#setMode(process, state)
    return process
  }

  async close(): Promise<void> {
    this.#prompt?.cancel()
    await this.#tools?.close()
  }

  async #setMode({ agent }: AgentProcess, { modes, ...state }: Partial<NewSessionResponse>): Promise<void> {
    const { mode: wanted, onState, log } = this.#parts
    const sessionId = this.#id ?? ''
    const model = readModel(state)
    let mode = modes?.currentModeId
    if (wanted !== undefined && modes != null && wanted !== mode) {
      const offered = modes.availableModes.map(({ id }) => id)
      if (!offered.includes(wanted)) throw new Error(`it has no mode ${wanted}; it has ${offered.join(', ')}`)
      await agent.request(methods.agent.session.setMode, { sessionId, modeId: wanted })
      mode = wanted
    } else if (wanted !== undefined && modes == null) log(`it has no modes: ${wanted} could not be set`)
    onState({ ...(mode !== undefined && { mode }), ...(model !== undefined && { model }) })
  }

  async #answer(turn: Turn): Promise<void> {
    const process = await this.open()
    const { agent, info } = process
    const known = findAgent(info.agentInfo?.name)
    const live = turn.write()
    let text = ''
    let response: PromptResponse | undefined
    try {
      await turn.reason(undefined, async (run) => {
        const { approvals, log, onUnasked } = this.#parts
        const prompt = new Prompt({
          ...{ run, live, approvals, log, agent: known, spaceTools: this.#uses },
          onUnasked: (call) => onUnasked(call, turn, run.context),
        })
        this.#prompt = prompt
        this.#run = () => (run.isClosed ? undefined : run)
        const stop = this.#stopWhenAborted(turn, prompt, process)
        try {
          response = await agent.request(methods.agent.session.prompt, {
            sessionId: this.#id ?? '',
            prompt: this.#createContent(turn, info.agentCapabilities?.promptCapabilities ?? {}),
          })
        } catch (error) {
          await prompt.finish('the agent did not say how it ended')
          if (process.isConnected) throw error
          throw new Error(`the agent ended: ${await process.ended}`, { cause: error })
        } finally {
          stop()
        }
        text = await prompt.finish('the agent did not say how it ended')
        this.#notes.push(...prompt.rejections)
        text = getAnswer(text, response.stopReason, prompt.rejections)
        await run.conclude(undefined, {
          metadata: { stopReason: response.stopReason, ...readUsage(response) },
        })
      })
      live.close()
      await turn.reply(text, { format: 'markdown' })
    } finally {
      live.close()
    }
  }

  /** Tells the agent to stop; what does not stop is killed. */
  #stopWhenAborted(turn: Turn, prompt: Prompt, { agent }: AgentProcess): () => void {
    const { log, restart } = this.#parts
    const timers: NodeJS.Timeout[] = []
    const stop = (): void => {
      prompt.cancel()
      agent.notify(methods.agent.session.cancel, { sessionId: this.#id ?? '' }).catch(() => {}) // It has ended.
      const kill = (why: string): void => {
        restart(why).catch((error: unknown) => log(`it could not be stopped: ${getMessage(error)}`))
      }
      timers.push(
        setTimeout(() => prompt.hasRunning && kill('a tool went on after a cancel'), toolGraceMs),
        setTimeout(() => kill('it did not answer a cancel'), answerGraceMs),
      )
    }
    if (turn.signal.aborted) stop()
    else turn.signal.addEventListener('abort', stop)
    return () => {
      turn.signal.removeEventListener('abort', stop)
      // A command may go on after the agent has answered.
      clearTimeout(timers[1])
      if (!prompt.hasRunning) clearTimeout(timers[0])
    }
  }

  #createContent(
    { text, from, trigger }: Turn,
    { image, embeddedContext }: { image?: boolean; embeddedContext?: boolean },
  ): ContentBlock[] {
    const notes = this.#notes.splice(0)
    const said = trigger.to === undefined ? `${from}: ${text}` : text
    const { content } = trigger.payload as { readonly content?: unknown }
    const attached = Array.isArray(content) ? (content as ContentBlock[]) : []
    const taken = attached.filter(
      (block) =>
        isObject(block) &&
        (block.type === 'text' ||
          block.type === 'resource_link' ||
          (block.type === 'image' && image) ||
          (block.type === 'resource' && embeddedContext)),
    )
    return [{ type: 'text', text: [...notes, said].join('\n') }, ...taken]
  }
}

const endings: Readonly<Partial<Record<StopReason, string>>> = {
  max_tokens: 'the model reached its limit of tokens',
  max_turn_requests: 'the agent reached its limit of requests to the model',
  refusal: 'the agent refused to go on',
}

/** What a prompt came to. Throws where that is nothing. */
function getAnswer(text: string, stopReason: StopReason, rejections: readonly string[]): string {
  const ending = endings[stopReason]
  if (ending !== undefined) return text === '' ? `There is no answer: ${ending}.` : `${text}\n\n(${ending})`
  const last = rejections.at(-1)
  if (text !== '' && (stopReason !== 'cancelled' || last !== undefined)) return text
  if (last !== undefined) return `I did not go on: ${last}.`
  throw new Error(stopReason === 'cancelled' ? 'the agent cancelled it' : 'the agent gave no answer')
}

function readUsage(response: PromptResponse): object {
  const { usage } = response as { readonly usage?: unknown }
  if (!isObject(usage)) return {}
  const { inputTokens, outputTokens } = usage
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return {}
  return { tokens: { input: inputTokens, output: outputTokens } }
}

/** Agents give it as an option of the session, or as they did before there were any. */
function readModel({ configOptions, ...rest }: Partial<NewSessionResponse>): string | undefined {
  const option = configOptions?.find(({ category, id }) => category === 'model' || id === 'model')
  const { models } = rest as { readonly models?: { readonly currentModelId?: string } }
  return typeof option?.currentValue === 'string' ? option.currentValue : models?.currentModelId
}
