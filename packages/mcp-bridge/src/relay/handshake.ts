import { setTimeout as sleep } from 'node:timers/promises'
import { PROTOCOL } from '@meup/protocol'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  type ClientCapabilities,
  type McpSubscription,
  PROTOCOL_VERSION_META_KEY,
  SdkError,
  SdkErrorCode,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { programError } from '../errors.js'
import type { ClientLink } from './client-link.js'
import { describeRelayFailure } from './failures.js'

export interface McpServerInfo {
  readonly name: string
  readonly version: string
  readonly capabilities: object
  readonly protocolVersion?: string
}

export interface Handshake {
  readonly server: McpServerInfo
  /** The server's result of `initialize`; for a server without that method, an equivalent. */
  readonly initializeResult: Record<string, unknown>
  /** Members that are added to `_meta` of each message. Since revision 2026-07-28, clients identify themselves by these. */
  readonly meta: Readonly<Record<string, unknown>>
}

interface HandshakeOptions {
  /** `legacy`: `initialize`, which most servers expect; `auto`: `server/discover` first. */
  readonly mode: VersionNegotiationMode
  readonly timeoutMs: number
  /** Called with problems that do not fail the handshake. */
  readonly onWarning: (message: string) => void
  readonly capabilities: ClientCapabilities
}

const LISTEN_AGAIN_MS = 1000
const clientInfo = { name: 'meup', version: PROTOCOL }

/**
 * Performs the MCP handshake with the SDK's client, which afterwards answers requests of the server: it refuses sampling and
 * roots. Rejects with a description of the failure as the end of a sentence that begins with "it", or with a more specific
 * error of the SDK.
 */
export async function performHandshake(link: ClientLink, options: HandshakeOptions): Promise<Handshake> {
  const { capabilities: own, timeoutMs } = options
  const client = new Client(clientInfo, { capabilities: own, versionNegotiation: { mode: options.mode } })
  client.onerror = (error) => options.onWarning(describeRelayFailure(error))
  try {
    await client.connect(link.transport, { timeout: timeoutMs })
  } catch (error) {
    if (link.problem !== undefined) throw new Error(link.problem, { cause: error })
    if (!isTimeout(error)) throw error
    throw programError('late', { request: link.waitingFor ?? '', timeoutMs }, { cause: error })
  }

  const serverInfo = client.getServerVersion() ?? { name: 'unknown', version: 'unknown' }
  const capabilities = client.getServerCapabilities() ?? {}
  const protocolVersion = client.getNegotiatedProtocolVersion()
  const instructions = client.getInstructions()
  const server = { ...pick(serverInfo), capabilities, ...(protocolVersion && { protocolVersion }) }
  if (client.getProtocolEra() !== 'modern')
    return { server, initializeResult: link.initializeResult ?? {}, meta: {} }

  await subscribe(client, options)
  return {
    server,
    initializeResult: { protocolVersion, capabilities, serverInfo, ...(instructions && { instructions }) },
    meta: {
      [PROTOCOL_VERSION_META_KEY]: protocolVersion,
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: own,
    },
  }
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof SdkError)) return false
  return error.code === SdkErrorCode.RequestTimeout || isTimeout(error.cause)
}

function pick({ name, version }: { name: string; version: string }) {
  return { name, version }
}

/** Subscribes to notifications of changes: since revision 2026-07-28, a server sends them only to subscribers. */
async function subscribe(client: Client, { timeoutMs, onWarning }: HandshakeOptions): Promise<void> {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {}
  const filter = {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
  }
  if (Object.keys(filter).length === 0) return
  const listen = () => client.listen(filter, { timeout: timeoutMs })
  const warn = (error: unknown) => onWarning(`no news of changes: ${describeRelayFailure(error)}`)
  try {
    keepListening(await listen(), client, listen).catch(warn)
  } catch (error) {
    warn(error)
  }
}

/** Renews the subscription whenever its stream ends, which does not mean that the server has ended. */
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
