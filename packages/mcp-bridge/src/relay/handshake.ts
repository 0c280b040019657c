import { setTimeout as sleep } from 'node:timers/promises'
import { PROTOCOL } from '@meup/protocol'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  type McpSubscription,
  PROTOCOL_VERSION_META_KEY,
  type Transport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { describeFailure } from './failures.js'

export interface McpServerInfo {
  readonly name: string
  readonly version: string
  readonly capabilities: object
  readonly protocolVersion?: string
}

export interface Handshake {
  readonly server: McpServerInfo
  /** The server's answer to `initialize`; from a server that knows no such request, what it would be. */
  readonly initializeResult: Record<string, unknown>
  /** Keys that the server wants in the `_meta` of each message; since revision 2026-07-28 that is where clients say who they are. */
  readonly meta: Readonly<Record<string, unknown>>
}

interface HandshakeOptions {
  /** `legacy` asks by `initialize`, as most servers expect; `auto` by `server/discover`. */
  readonly mode: VersionNegotiationMode
  readonly timeoutMs: number
  /** Reports what went wrong without ending anything. */
  readonly onWarning: (message: string) => void
}

const LISTEN_AGAIN_MS = 1000
const clientInfo = { name: 'meup', version: PROTOCOL }

/**
 * Makes the acquaintance of a server. From then on the SDK's client answers what the server asks: it has nothing to
 * offer, so it declines sampling, elicitation and roots. A handler that the transport has keeps seeing each message.
 */
export async function performHandshake(transport: Transport, options: HandshakeOptions): Promise<Handshake> {
  const client = new Client(clientInfo, { versionNegotiation: { mode: options.mode } })
  client.onerror = (error) => options.onWarning(describeFailure(error))

  const watch = transport.onmessage
  let answer: Record<string, unknown> | undefined
  transport.onmessage = (message, extra) => {
    if ('result' in message) answer ??= message.result
    watch?.(message, extra)
  }
  await client.connect(transport, { timeout: options.timeoutMs })

  const serverInfo = client.getServerVersion() ?? { name: 'unknown', version: 'unknown' }
  const capabilities = client.getServerCapabilities() ?? {}
  const protocolVersion = client.getNegotiatedProtocolVersion()
  const instructions = client.getInstructions()
  const server = { ...pick(serverInfo), capabilities, ...(protocolVersion && { protocolVersion }) }
  if (client.getProtocolEra() !== 'modern') return { server, initializeResult: answer ?? {}, meta: {} }

  await subscribe(client, options)
  return {
    server,
    initializeResult: { protocolVersion, capabilities, serverInfo, ...(instructions && { instructions }) },
    meta: {
      [PROTOCOL_VERSION_META_KEY]: protocolVersion,
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: {},
    },
  }
}

function pick({ name, version }: { name: string; version: string }) {
  return { name, version }
}

/** Since revision 2026-07-28 a server tells of changes only where it was asked to. */
async function subscribe(client: Client, { timeoutMs, onWarning }: HandshakeOptions): Promise<void> {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {}
  const filter = {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
  }
  if (Object.keys(filter).length === 0) return
  const listen = () => client.listen(filter, { timeout: timeoutMs })
  const warn = (error: Error) => onWarning(`no news of changes: ${describeFailure(error)}`)
  try {
    keepListening(await listen(), client, listen).catch(warn)
  } catch (error) {
    warn(error as Error)
  }
}

/** A subscription is a stream, and may be cut off on its way while the server is well. */
async function keepListening(
  first: McpSubscription,
  client: Client,
  listen: () => Promise<McpSubscription>,
): Promise<void> {
  for (let subscription = first; (await subscription.closed) !== 'local'; subscription = await listen()) {
    await sleep(LISTEN_AGAIN_MS, undefined, { ref: false })
    if (client.transport === undefined) return
  }
}
