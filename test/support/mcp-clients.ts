import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as FirstStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { environment, meupCommand } from './cli.js'

/** Ways to connect a client: the major version of the SDK, the era of the protocol, and the transport. */
export const ways = [
  'first SDK, stdio',
  'first SDK, http',
  'legacy, stdio',
  'legacy, http',
  'modern, stdio',
  'modern, http',
] as const
export type Way = (typeof ways)[number]

export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
  readonly _meta?: Record<string, unknown>
}

interface CallOptions {
  /** Reason of the call, which everyone in the space can read. */
  readonly why?: string
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: {
    readonly progress: number
    readonly message?: string | undefined
  }) => void
}

type Reply = { action: 'accept'; content: Record<string, string> } | { action: 'decline' }
/** The user's input in a form with this message. */
export type FillIn = (
  message: string,
  choices: readonly string[],
  signal: AbortSignal,
) => Reply | Promise<Reply>

interface McpClient {
  call(name: string, args?: object, options?: CallOptions): Promise<ToolResult>
  tools(): Promise<string[]>
  prompts(): Promise<string[]>
  /** Returns the first text of a prompt. */
  prompt(name: string, args: Record<string, string>): Promise<string>
  /** Lists the URIs of resources and of resource templates. */
  resources(): Promise<string[]>
  read(uri: string): Promise<string>
  /** Subscribes to these resources, and to no others. */
  subscribe(uris: readonly string[]): Promise<void>
  /** URIs of resources that were reported as changed, in order. */
  readonly updates: readonly string[]
  /** Names of the lists (`tools`, `prompts`, `resources`) that were reported as changed, in order. */
  readonly changes: readonly string[]
  /** Closes the client, and thereby ends a server that the client has started. */
  leave(): Promise<void>
}

export interface OpenClient extends McpClient {
  /** Closes the client and its server. */
  close(): Promise<void>
}

interface Address {
  readonly url: URL
  readonly token: string
}

/** Runs `meup mcp serve --http`, until it is stopped. */
export async function serveHttp(cwd: string, as: string, more: readonly string[] = []) {
  const tokenFile = join(cwd, 'mcp-token')
  const [command = '', ...args] = meupCommand(['mcp', 'serve', '--as', as, '--http', '0', '--json'])
  const child = spawn(command, [...args, ...more, '--access-token-file', tokenFile], {
    cwd,
    env: environment({}),
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    void ended.then((code) => reject(new Error(`it ended with ${code}: ${stderr}`)))
  })
  const { url } = JSON.parse(line) as { url: string }
  const stop = (): Promise<number | null> => {
    child.kill('SIGTERM')
    return ended
  }
  return { url: new URL(url), token: readFileSync(tokenFile, 'utf8').trim(), stop }
}

/** Connects an MCP client to the space that runs in this folder, as one of its participants. */
export async function openClient(way: Way, cwd: string, as: string, fillIn?: FillIn): Promise<OpenClient> {
  const address = way.endsWith('http') ? await serveHttp(cwd, as) : undefined
  const client = way.startsWith('first')
    ? await first(cwd, as, address, fillIn)
    : await second(way.startsWith('modern') ? 'auto' : 'legacy', cwd, as, address, fillIn)
  return {
    ...client,
    async close() {
      await client.leave()
      await address?.stop()
    },
  }
}

export const serverOf = (cwd: string, as: string) => {
  const [command = '', ...args] = meupCommand(['mcp', 'serve', '--as', as])
  const env = Object.fromEntries(
    Object.entries(environment({})).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  return { command, args, cwd, env }
}

const headersOf = ({ token }: Address) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } })
const info = { name: 'test', version: '1.0.0' }

async function second(
  mode: 'auto' | 'legacy',
  cwd: string,
  as: string,
  address: Address | undefined,
  fillIn: FillIn | undefined,
): Promise<McpClient> {
  const capabilities = fillIn ? { elicitation: { form: {} } } : {}
  const client = new Client(info, { capabilities, versionNegotiation: { mode } })
  const updates: string[] = []
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void updates.push(params.uri),
  )
  if (fillIn) {
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
      fillIn(params.message, choicesIn(params), mcpReq.signal),
    )
  }
  const changes: string[] = []
  for (const list of ['tools', 'prompts', 'resources'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => void changes.push(list))
  await client.connect(
    address
      ? new StreamableHTTPClientTransport(address.url, headersOf(address))
      : new StdioClientTransport(serverOf(cwd, as)),
  )
  if (mode === 'auto')
    await client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true })
  return {
    updates,
    changes,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool(toCall(name, args, options), options)) as ToolResult,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, args) => firstText(await client.getPrompt({ name, arguments: args })),
    resources: async () => [
      ...(await client.listResources()).resources.map(({ uri }) => uri),
      ...(await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ],
    read: async (uri) => textOf(await client.readResource({ uri })),
    async subscribe(uris) {
      if (mode === 'auto') await client.listen({ resourceSubscriptions: [...uris] })
      else for (const uri of uris) await client.subscribeResource({ uri })
    },
    leave: () => client.close(),
  }
}

async function first(
  cwd: string,
  as: string,
  address: Address | undefined,
  fillIn: FillIn | undefined,
): Promise<McpClient> {
  // Declares elicitation without modes, like clients of earlier protocol versions.
  const client = new FirstClient(info, { capabilities: fillIn ? { elicitation: {} } : {} })
  const updates: string[] = []
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void updates.push(params.uri),
  )
  if (fillIn) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
      fillIn(params.message, choicesIn(params), signal),
    )
  }
  const changes: string[] = []
  const lists = {
    tools: ToolListChangedNotificationSchema,
    prompts: PromptListChangedNotificationSchema,
    resources: ResourceListChangedNotificationSchema,
  }
  for (const [list, schema] of Object.entries(lists))
    client.setNotificationHandler(schema, () => void changes.push(list))
  const transport = address
    ? new FirstHttp(address.url, headersOf(address))
    : new FirstStdio(serverOf(cwd, as))
  await client.connect(transport as FirstStdio)
  return {
    updates,
    changes,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool(toCall(name, args, options), CallToolResultSchema, options)) as ToolResult,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, args) => firstText(await client.getPrompt({ name, arguments: args })),
    resources: async () => [
      ...(await client.listResources()).resources.map(({ uri }) => uri),
      ...(await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ],
    read: async (uri) => textOf(await client.readResource({ uri })),
    async subscribe(uris) {
      for (const uri of uris) await client.subscribeResource({ uri })
    },
    leave: () => client.close(),
  }
}

function choicesIn(params: object): string[] {
  const { requestedSchema } = params as { requestedSchema: { properties: { decision?: { enum: string[] } } } }
  return requestedSchema.properties.decision?.enum ?? []
}

const toCall = (name: string, args: object, { why }: CallOptions) => ({
  name,
  arguments: { ...args },
  ...(why !== undefined && { _meta: { 'meup/why': why } }),
})

const firstText = ({ messages }: { messages: readonly { content: object }[] }): string =>
  messages.map(({ content }) => ('text' in content ? String(content.text) : ''))[0] ?? ''

const textOf = ({ contents }: { contents: readonly object[] }): string =>
  contents.map((each) => ('text' in each ? String(each.text) : '')).join()
