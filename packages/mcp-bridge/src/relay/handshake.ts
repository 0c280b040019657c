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
  /** The server's answer to `initialize`; for a server without that request, an equivalent. */
  readonly initializeResult: Record<string, unknown>
  /** Members for the `_meta` of each message, by which clients identify themselves since revision 2026-07-28. */
  readonly meta: Readonly<Record<string, unknown>>
}

interface HandshakeOptions {
  /** `legacy` uses `initialize`, as most servers expect; `auto` uses `server/discover`. */
  readonly mode: VersionNegotiationMode
  readonly timeoutMs: number
  /** Reports problems that do not end the handshake. */
  readonly onWarning: (message: string) => void
  readonly capabilities: ClientCapabilities
}

const LISTEN_AGAIN_MS = 1000
const clientInfo = { name: 'meup', version: PROTOCOL }

/**
 * Performs the MCP handshake. Afterwards the SDK's client answers the server's requests: it declines sampling and roots.
 * Rejects with a description of the failure as the end of a sentence that begins with "it", unless an error of the SDK says
 * more.
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
    throw new StartTimeoutError(`timed out: no answer to ${link.waitingFor} within ${timeoutMs} ms`, {
      cause: error,
    })
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

/** The server did not answer its first request in time. */
export class StartTimeoutError extends Error {
  override readonly name = 'StartTimeoutError'
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof SdkError)) return false
  return error.code === SdkErrorCode.RequestTimeout || isTimeout(error.cause)
}

function pick({ name, version }: { name: string; version: string }) {
  return { name, version }
}

/** Since revision 2026-07-28, a server sends change notifications only to subscribers. */
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

/** A subscription is a stream that may be cut while the server is well. */
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
