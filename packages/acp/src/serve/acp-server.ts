import {
  type AgentApp,
  type AgentConnection,
  type AgentRequestContext,
  agent,
  type InitializeResponse,
  type ListSessionsRequest,
  type LoadSessionRequest,
  type LoadSessionResponse,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type SessionModeState,
  type SessionUpdate,
  type SetSessionModeRequest,
  type Stream,
} from '@agentclientprotocol/sdk'
import type { SpaceClient } from '@meup/agent-sdk'
import { PROTOCOL } from '@meup/protocol'
import { readPrompt } from './content.js'
import { describeProblem, editorError, toRequestError } from './errors.js'
import { Permissions } from './permissions.js'
import { runPrompt } from './prompt.js'
import {
  createChatId,
  createSessionId,
  getSessionStart,
  listSessions,
  readChats,
  replaySession,
  type SessionHistory,
} from './sessions.js'
import { ToolKinds } from './tool-calls.js'

/** The space and the participant that an ACP server acts for. */
export interface EditorSpace {
  /** The participant's client; closed when the server ends. */
  readonly space: SpaceClient
  /** Reads the log with the participant's token. */
  readonly http: SessionHistory
  /** The agent that new sessions ask; default: the first present agent of the space, otherwise its first agent. */
  readonly to?: string
  /** Receives non-fatal errors as log lines. */
  readonly log?: (line: string) => void
}

/** An ACP session of the client. */
interface Session {
  readonly id: string
  /** The id of the agent that the session asks. */
  agent: string
  /** Aborts the active prompt. */
  prompt?: AbortController | undefined
}

/** Kinds of participants that are not asked by default. */
const unasked: ReadonlySet<string> = new Set(['human', 'mcp'])

/** The connection of an ACP client, such as an editor. */
export class AcpServer {
  readonly #served: EditorSpace
  readonly #kinds: ToolKinds
  readonly #connection: AgentConnection
  readonly #permissions: Permissions
  readonly #sessions = new Map<string, Session>()
  readonly #prompts = new Set<Promise<unknown>>()
  #hasWarned = false

  constructor(served: EditorSpace, stream: Stream) {
    const { space, log = () => {} } = served
    this.#served = served
    space.on('requestError', (error) => {
      if (space.ended === undefined) log(describeProblem(error))
    })
    this.#kinds = new ToolKinds(space)
    this.#connection = this.#createApp().connect(stream)
    const notify = (session: string, update: SessionUpdate): void => this.#notify(session, update)
    this.#permissions = new Permissions({ space, client: this.#connection.client, notify, log })
  }

  /** Resolves when the client has disconnected. */
  get closed(): Promise<void> {
    return this.#connection.closed
  }

  /** Cancels and answers active prompts, then disconnects. */
  async close(): Promise<void> {
    for (const { prompt } of this.#sessions.values()) prompt?.abort('the client has gone')
    await Promise.allSettled(this.#prompts)
    // The responses are written in a later task of the event loop, so waits for that before disconnecting.
    await new Promise((resolve) => setImmediate(resolve))
    this.#connection.close()
  }

  #createApp(): AgentApp {
    const { initialize, session } = methods.agent
    return agent({ name: 'meup' })
      .onRequest(initialize, () => this.#describe())
      .onRequest(
        session.new,
        answer(() => this.#newSession()),
      )
      .onRequest(
        session.load,
        answer(({ params }) => this.#loadSession(params)),
      )
      .onRequest(
        session.list,
        answer(({ params }) => this.#listSessions(params)),
      )
      .onRequest(
        session.setMode,
        answer(({ params }) => this.#setAgent(params)),
      )
      .onRequest(
        session.prompt,
        answer(({ params, signal }) => this.#prompt(params, signal)),
      )
      .onNotification(session.cancel, ({ params }) =>
        this.#sessions.get(params.sessionId)?.prompt?.abort('the asker has cancelled it'),
      )
  }

  #describe(): InitializeResponse {
    const { id } = this.#served.space.welcome.space
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'meup', title: `The space ${id}`, version: PROTOCOL },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true, image: false, audio: false },
        sessionCapabilities: { list: {} },
      },
      authMethods: [],
    }
  }

  async #newSession(): Promise<NewSessionResponse> {
    if (!this.#hasWarned)
      this.#served.log?.(
        'agents work on their own machines: the folder and MCP servers of the client are not used',
      )
    this.#hasWarned = true
    const modes = await this.#readModes()
    const sessionId = createSessionId(this.#served.space.welcome.space.head)
    this.#sessions.set(sessionId, { id: sessionId, agent: modes.currentModeId })
    return { sessionId, modes }
  }

  async #loadSession({ sessionId: id }: LoadSessionRequest): Promise<LoadSessionResponse> {
    const { space, http } = this.#served
    if (getSessionStart(id) === undefined) throw RequestError.sessionNotFound(id)
    if (this.#sessions.get(id)?.prompt !== undefined) throw inProgress()
    const chats = await readChats(http, space.id, id)
    const modes = await this.#readModes(chats.at(-1)?.to?.[0])
    this.#sessions.set(id, { id, agent: modes.currentModeId })
    for await (const update of replaySession(http, this.#kinds, chats)) this.#notify(id, update)
    return { modes }
  }

  async #listSessions({ cwd }: ListSessionsRequest) {
    const { space, http } = this.#served
    return { sessions: await listSessions(http, space.id, cwd ?? process.cwd()) }
  }

  async #setAgent({ sessionId, modeId }: SetSessionModeRequest) {
    const session = this.#getSession(sessionId)
    const { availableModes } = await this.#readModes()
    if (!availableModes.some(({ id }) => id === modeId))
      throw editorError(
        'unknown_agent',
        { agent: modeId, agents: availableModes.map(({ id }) => id) },
        -32602,
      )
    session.agent = modeId
    return {}
  }

  async #prompt({ sessionId, prompt }: PromptRequest, signal: AbortSignal): Promise<PromptResponse> {
    const session = this.#getSession(sessionId)
    if (session.prompt !== undefined) throw inProgress()
    const abort = new AbortController()
    session.prompt = abort
    const asked = {
      session: sessionId,
      id: createChatId(sessionId),
      agent: session.agent,
      text: readPrompt(prompt),
    }
    const parts = {
      space: this.#served.space,
      permissions: this.#permissions,
      kinds: this.#kinds,
      notify: (update: SessionUpdate): void => this.#notify(sessionId, update),
    }
    const running = runPrompt(parts, asked, AbortSignal.any([abort.signal, signal]))
    this.#prompts.add(running)
    try {
      return { stopReason: await running }
    } finally {
      this.#prompts.delete(running)
      session.prompt = undefined
    }
  }

  /** Lists the agents of the space as session modes. `wanted`: selected if it exists. */
  async #readModes(wanted?: string): Promise<SessionModeState> {
    const { space, to } = this.#served
    const { participants } = await space.subscribe({}) // Updates the list of participants.
    const others = participants.filter(({ id }) => id !== space.id)
    const agents = others.filter(({ id, kind }) => id === to || !unasked.has(kind))
    const present = agents.filter(({ status }) => status === 'present')
    const names = agents.map(({ id }) => id)
    if (to !== undefined && !names.includes(to))
      throw editorError('unknown_agent', { agent: to, agents: names })
    const current = [wanted, to, present[0]?.id, names[0]].find(
      (id) => id !== undefined && names.includes(id),
    )
    if (current === undefined) throw editorError('no_agent', {})
    const availableModes = agents.map(({ id, status }) => ({
      id,
      name: id,
      ...(status === 'away' && { description: 'away' }),
    }))
    return { currentModeId: current, availableModes }
  }

  #getSession(id: string): Session {
    const session = this.#sessions.get(id)
    if (session === undefined) throw RequestError.sessionNotFound(id)
    return session
  }

  #notify(sessionId: string, update: SessionUpdate): void {
    const { client } = this.#connection
    // The client may have disconnected.
    client.notify(methods.client.session.update, { sessionId, update }).catch(() => {})
  }
}

const inProgress = (): RequestError => editorError('busy', {}, -32600)

/** Wraps a handler, so that its errors reach the client with their message. */
const answer =
  <Params, Response>(handle: (context: AgentRequestContext<Params>) => Promise<Response>) =>
  async (context: AgentRequestContext<Params>): Promise<Response> => {
    try {
      return await handle(context)
    } catch (error) {
      throw toRequestError(error)
    }
  }
