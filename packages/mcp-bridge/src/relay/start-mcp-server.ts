import { programError } from '../errors.js'
import { limitLines } from '../log-limit.js'
import { type CommandServerOptions, startCommandServer } from './command-server.js'
import { describeRelayFailure, isUnknownAddress } from './failures.js'
import { httpTransport } from './http-transport.js'
import { type McpRelay, openRelay, type RelayHandlers, type ServerOptions } from './relay.js'

export type McpServerOptions = CommandServerOptions | RemoteServerOptions

/** Starts an MCP server by its command, or connects to its address. Rejects with an error that names it. */
export async function startMcpServer(
  options: McpServerOptions,
  handlers: RelayHandlers = {},
): Promise<McpRelay> {
  options.signal?.throwIfAborted()
  const log = limitLines(options.log)
  return 'url' in options
    ? connectRemoteServer({ ...options, log }, handlers)
    : startCommandServer({ ...options, log }, handlers)
}

interface RemoteServerOptions extends ServerOptions {
  /** URL of the server's Streamable HTTP endpoint. */
  readonly url: string
  /** Headers of each request to the server; not sent to any other host. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Connects to a remote server. Rejects with an error that names it. */
async function connectRemoteServer(
  options: RemoteServerOptions,
  handlers: RelayHandlers = {},
): Promise<McpRelay> {
  const { name, url: address, headers = {}, startTimeoutMs = 60_000, signal } = options
  const url = readAddress(name, address)
  checkHeaders(name, headers)
  const transport = httpTransport({ name, url, headers, handshakeTimeoutMs: startTimeoutMs })
  const onWarning = (message: string) => options.log?.(message)
  try {
    return await openRelay({
      name,
      transport,
      mode: 'auto',
      startTimeoutMs,
      callMs: options.callMs,
      signal,
      ...handlers,
      onWarning,
    })
  } catch (error) {
    await transport.close()
    const reason = signal?.aborted ? 'was given up' : await explain(error, url, headers)
    // The rest of an address may be secret.
    throw programError('unavailable', { name, url: `${url.origin}${url.pathname}`, reason })
  }
}

async function explain(error: unknown, url: URL, headers: Readonly<Record<string, string>>): Promise<string> {
  const isOlder = isUnknownAddress(error) && (await speaksHttpSse(url, headers))
  return isOlder ? olderTransport : describeRelayFailure(error)
}

/** Milliseconds that a server gets to begin the event stream of the older transport. */
const probeMs = 3000
const olderTransport =
  'speaks the older HTTP+SSE transport of revision 2024-11-05. Ask for its address for Streamable HTTP'

/** Whether a server that has refused a POST speaks the older HTTP+SSE transport: it answers GET with an event stream. */
async function speaksHttpSse(url: URL, headers: Readonly<Record<string, string>>): Promise<boolean> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), probeMs)
  try {
    const accept = { ...headers, accept: 'text/event-stream' }
    const response = await fetch(url, { headers: accept, redirect: 'manual', signal: abort.signal })
    return response.ok && response.headers.get('content-type')?.startsWith('text/event-stream') === true
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    abort.abort()
  }
}

function readAddress(name: string, address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw programError('invalid_address', { name })
  if (url.username || url.password) throw programError('secret_in_address', { name })
  return url
}

/** Checks the headers, because the platform's error would quote their values. */
function checkHeaders(name: string, headers: Readonly<Record<string, string>>): void {
  for (const [header, value] of Object.entries(headers)) {
    try {
      new Headers().set(header, value)
    } catch {
      throw programError('invalid_header', { name, header })
    }
  }
}
