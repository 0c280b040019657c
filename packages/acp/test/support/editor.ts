import {
  type AnyMessage,
  type ClientContext,
  type ContentBlock,
  client,
  methods,
  type PermissionOptionKind,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type Stream,
} from '@agentclientprotocol/sdk'
import { expect } from 'vitest'

/** The user's reaction to a permission request. `signal`: aborted when the request is cancelled. */
export type Decide = (
  request: RequestPermissionRequest,
  signal: AbortSignal,
) => Promise<RequestPermissionResponse> | RequestPermissionResponse

export const choose = (optionId: PermissionOptionKind): RequestPermissionResponse => ({
  outcome: { outcome: 'selected', optionId },
})

const undecided = new Promise<never>(() => {})

/** Two connected streams: each reads the messages written to the other. */
export function streamPair(): [Stream, Stream] {
  const [there, back] = [
    new TransformStream<AnyMessage, AnyMessage>(),
    new TransformStream<AnyMessage, AnyMessage>(),
  ]
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ]
}

/** An ACP client that records all updates and permission requests. */
export class Editor {
  /** Updates of all sessions. */
  readonly updates: SessionUpdate[] = []
  readonly permissions: RequestPermissionRequest[] = []
  /** Call ids of cancelled permission requests. */
  readonly withdrawn: string[] = []
  decide: Decide = () => undecided
  readonly agent: ClientContext
  readonly #close: () => void

  constructor(stream: Stream) {
    const connection = client({ name: 'editor' })
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
        this.permissions.push(params)
        signal.addEventListener('abort', () => this.withdrawn.push(params.toolCall.toolCallId))
        return this.decide(params, signal)
      })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params.update)
      })
      .connect(stream)
    this.agent = connection.agent
    this.#close = () => {
      connection.close()
      stream.writable.close().catch(() => {})
    }
  }

  initialize() {
    return this.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
  }

  begin() {
    return this.agent.request(methods.agent.session.new, { cwd: '/work', mcpServers: [] })
  }

  load(sessionId: string) {
    return this.agent.request(methods.agent.session.load, { sessionId, cwd: '/work', mcpServers: [] })
  }

  list() {
    return this.agent.request(methods.agent.session.list, { cwd: '/work' })
  }

  ask(sessionId: string, modeId: string) {
    return this.agent.request(methods.agent.session.setMode, { sessionId, modeId })
  }

  async prompt(sessionId: string, prompt: string | ContentBlock[]): Promise<PromptResponse> {
    const blocks: ContentBlock[] = typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks })
  }

  cancel(sessionId: string) {
    return this.agent.notify(methods.agent.session.cancel, { sessionId })
  }

  close(): void {
    this.#close()
  }

  /** Waits for the first update with these fields. */
  async update(expected: Partial<SessionUpdate> | object): Promise<SessionUpdate> {
    return expect.poll(() => this.updates.find((each) => matches(each, expected))).toBeDefined() as never
  }

  /** All updates, one line each. */
  get shown(): string[] {
    return this.updates.map(inShort)
  }

  /** The text of all answers. */
  get said(): string {
    return this.updates
      .flatMap((each) => (each.sessionUpdate === 'agent_message_chunk' ? textOf(each) : []))
      .join('')
  }
}

const matches = (update: object, expected: object): boolean =>
  Object.entries(expected).every(([key, value]) => (update as Record<string, unknown>)[key] === value)

function inShort(update: SessionUpdate): string {
  switch (update.sessionUpdate) {
    case 'user_message_chunk':
      return `user: ${textOf(update)}`
    case 'agent_message_chunk':
      return `says: ${textOf(update)}`
    case 'agent_thought_chunk':
      return `thinks: ${textOf(update).trim()}`
    case 'tool_call':
      return `${update.title} ${JSON.stringify(update.rawInput)} ${update.status}: ${contentOf(update)}`
    case 'tool_call_update':
      return `… ${update.status}: ${contentOf(update)}`
    case 'plan':
      return `plan: ${update.entries.map(({ content, status }) => `${content} ${status}`).join(', ')}`
    default:
      return update.sessionUpdate
  }
}

const textOf = ({ content }: { content: ContentBlock }): string =>
  content.type === 'text' ? content.text : content.type

type Content = NonNullable<Extract<SessionUpdate, { sessionUpdate: 'tool_call' }>['content']>

export const contentOf = ({ content }: { content?: Content | null }): string =>
  (content ?? [])
    .map((each) => (each.type === 'content' ? textOf(each) : each.type === 'diff' ? each.path : each.type))
    .join(' | ')
