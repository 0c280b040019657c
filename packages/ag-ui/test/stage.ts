import { HttpAgent, type Message, type RunAgentInput } from '@ag-ui/client'
import { agUi } from '@meup/ag-ui'
import { BYE, type Capability, Kind } from '@meup/protocol'
import type { Client, Sent } from '../../gateway/test/client.js'
import { bearer } from '../../gateway/test/http-client.js'
import { type StartOptions, start } from '../../gateway/test/support.js'
import { begin, call } from '../../gateway/test/turns.js'

const agent: Capability[] = ['chat', 'reasoning.*', 'mcp.*', 'observe.visibility']
/** Ana asks, ben answers; eve may ask and reject, but not approve. */
export const participants: Record<string, Capability[]> = {
  ana: ['*'],
  eve: ['chat', 'chat.cancel', 'mcp.reject'],
  ben: agent,
  tool: ['mcp.*'],
  mute: [],
}
export const humans = ['ana', 'eve', 'tool', 'mute']

type Props = Record<string, unknown>

/** A gateway with agent ben and participant `tool` connected. */
export async function stage(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, humans, modules: [async () => agUi], ...options })
  const [ben, tool] = [
    await running.connect('ben', { query: 'session=first' }),
    await running.connect('tool'),
  ]
  const endBen = (): Promise<unknown> => {
    ben.ws.close(1000, BYE)
    return ben.closed
  }
  return { ...running, ben, tool, endBen, runs: `${running.url}/spaces/test/ag-ui` }
}

/** An AG-UI client with one thread; can run it repeatedly. */
export class Page {
  readonly agent: HttpAgent
  /** Event types of the latest run. */
  events: string[] = []
  readonly #abort = new AbortController()

  constructor(url: string, who: string, messages: Message[] = [user('q1', 'please do')]) {
    this.agent = new HttpAgent({
      url: `${url}/spaces/test/ag-ui`,
      headers: bearer(who),
      threadId: 'thread',
      initialMessages: messages,
    })
  }

  get messages(): Message[] {
    return this.agent.messages
  }

  /** Messages as lines: their role, text and tool calls. */
  get shown(): string[] {
    return this.messages.map((message) => {
      const calls = 'toolCalls' in message ? (message.toolCalls ?? []) : []
      const called = calls.map(({ function: { name, arguments: given } }) => `${name}${given}`)
      return [message.role, message.content, ...called].filter((part) => part !== undefined).join(' ')
    })
  }

  async run(forwardedProps: Props = {}, resume?: RunAgentInput['resume']): Promise<void> {
    this.events = []
    await this.agent.runAgent(
      { forwardedProps, ...(resume && { resume }), abortController: this.#abort },
      { onEvent: ({ event }) => void this.events.push(event.type) },
    )
  }

  leave(): void {
    this.#abort.abort()
  }
}

export const user = (id: string, content: string): Message => ({ id, role: 'user', content })

/** Waits for a question as ben, and begins a run about it. */
export async function beginTurn(ben: Client): Promise<string> {
  const { id } = await ben.next(({ kind, from }) => kind === Kind.chat && from !== 'ben')
  await ben.accepted(begin('run', id, 'how to do it'))
  return id
}

export const propose = (id: string, more: Sent = {}): Sent => ({
  ...call(id, 'run', 'act', 'to do it'),
  kind: Kind.mcpProposal,
  payload: { method: 'tools/call', params: { name: 'act', arguments: { amount: 12.0, apiKey: 'hush' } } },
  ...more,
})

/**
 * Returns the envelope without its context, ben's private run, and with a reference to the question, so that all participants
 * may read it.
 */
export function outside({ context: _, ...envelope }: Sent, question: string): Sent {
  return { ...envelope, correlationId: question }
}

/** Ben's answer to a question. */
export const answer = (question: string, message = 'done'): Sent => ({
  kind: Kind.chat,
  to: ['ana', 'eve'],
  correlationId: question,
  payload: { message },
})

/** Responds to the next request as `tool`. */
export async function serveNext(tool: Client, text = 'acted'): Promise<void> {
  const request = await tool.next(({ kind }) => kind === Kind.mcpRequest)
  await tool.accepted({
    kind: Kind.mcpResponse,
    to: [request.from],
    correlationId: request.id,
    payload: { jsonrpc: '2.0', id: '1', result: { content: [{ type: 'text', text }] } },
  })
}

/** Posts a run request. Returns the status, and the body of a refusal. */
export async function refusal(url: string, who: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...bearer(who), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  if (response.ok) await response.body?.cancel()
  return { status: response.status, body: response.ok ? undefined : ((await response.json()) as object) }
}
