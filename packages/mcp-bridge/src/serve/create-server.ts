import { PROTOCOL } from '@meup/protocol'
import { McpServer, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { addAsk } from './ask.js'
import { addCalls } from './calls.js'
import { applyDecision, canElicit, createForm, hasForms } from './elicitation.js'
import { addProposals } from './proposals.js'
import { addResources } from './resources.js'
import type { SpaceService } from './service.js'
import { addSpeech } from './speech.js'
import { formatError } from './tool.js'

/** `legacy` = revisions up to 2025-11-25, where a server may ask its client; `modern` = from 2026-07-28 on. */
type Era = 'legacy' | 'modern'

/** The server for one client of the legacy era. It may send notifications and requests at any time. */
export function createLegacyServer(service: SpaceService): McpServer {
  const server = createSpaceServer(service, 'legacy')
  addSubscriptions(server, service)
  elicitApprovals(server, service)
  return server
}

/** The server for one client; in the modern era over HTTP, for one request. */
export function createSpaceServer(service: SpaceService, era: Era): McpServer {
  const { space, stateCodec } = service
  const server = new McpServer(
    { name: 'meup', title: `The space ${space.welcome.space.id}`, version: PROTOCOL },
    {
      capabilities: {
        logging: {},
        tools: { listChanged: false },
        resources: { subscribe: true, listChanged: false },
      },
      instructions: createInstructions(service),
      requestState: { verify: stateCodec.verify },
    },
  )
  // Legacy clients are asked immediately about each proposal, modern clients only during a call.
  addAsk(server, service, (context) => era === 'modern' && canElicit(server, context))
  addSpeech(server, service)
  addCalls(server, service)
  addProposals(server, service)
  addResources(server, service)
  return server
}

const createInstructions = ({ space, uris }: SpaceService): string =>
  [
    `A space where people, agents and tools work together. You act in it as ${space.id}, and may do what its capabilities allow.`,
    'ask puts a question and waits for the answer; list_participants says who is there, list_tools and call_tool use their tools.',
    `What agents think is in ${uris.contexts} and ${uris.audit}.`,
  ].join(' ')

/** The SDK requires a timeout. Forms end when the proposal is settled. */
const longestTimerMs = 2 ** 31 - 1

/**
 * Puts what this identity may approve to the user of a client that can show forms: one proposal after the other, each
 * once, as long as the client stays. Who dismisses the form has decided nothing.
 */
function elicitApprovals(server: McpServer, service: SpaceService): void {
  const gone = new AbortController()
  onceClosed(server, () => gone.abort('the client has gone'))
  server.server.oninitialized = () => {
    if (!hasForms(server.server.getClientCapabilities()?.elicitation)) return
    elicitAll(server, service, gone.signal).catch((error: unknown) =>
      service.log(`no more is put: ${formatError(error)}`),
    )
  }
}

async function elicitAll(server: McpServer, service: SpaceService, gone: AbortSignal): Promise<void> {
  const { approvals } = service
  const seen = new Set<string>()
  for (
    let next = await approvals.next(seen, gone);
    next !== undefined;
    next = await approvals.next(seen, gone)
  ) {
    seen.add(next.id)
    await elicitOne(server, service, next.id, gone)
  }
}

async function elicitOne(
  server: McpServer,
  service: SpaceService,
  id: string,
  gone: AbortSignal,
): Promise<void> {
  const { space, approvals, log } = service
  const settled = approvals.settled(id)
  const signal = AbortSignal.any([gone, settled.signal])
  try {
    const form = createForm(approvals.view(id), space.proposals.mayReject(id))
    const { action, content } = await server.server.elicitInput(form, { signal, timeout: longestTimerMs })
    if (action === 'accept') applyDecision(service, id, content)
  } catch (error) {
    if (!signal.aborted) log(`the proposal ${id} was not decided by the user: ${formatError(error)}`)
  } finally {
    settled.close()
  }
}

/** Subscriptions of one client. */
const maxSubscriptions = 1000

/** Notifies a client of changes of its subscriptions. Up to revision 2025-11-25 the server keeps them. */
function addSubscriptions(server: McpServer, service: SpaceService): void {
  const subscribed = new Set<string>()
  const { server: protocol } = server
  protocol.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (!uri.startsWith(service.uris.base)) throw new ResourceNotFoundError(uri)
    if (subscribed.size >= maxSubscriptions)
      throw new Error(`there are ${maxSubscriptions} subscriptions already; end some of them`)
    subscribed.add(uri)
    return {}
  })
  protocol.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri)
    return {}
  })
  sendChanges(server, service, (uri) => subscribed.has(uri))
}

/** Notifies of all wanted changes; default: all, for clients whose transport filters them. */
export function sendChanges(
  server: McpServer,
  { changes, log }: SpaceService,
  isWanted: (uri: string) => boolean = () => true,
): void {
  const stop = changes.listen((uri) => {
    if (!server.isConnected() || !isWanted(uri)) return
    server.server
      .sendResourceUpdated({ uri })
      .catch((error: Error) => log(`a change could not be told: ${error.message}`))
  })
  onceClosed(server, stop)
}

/** Adds a close listener; the SDK supports only one. */
function onceClosed({ server }: McpServer, listener: () => void): void {
  const before = server.onclose
  server.onclose = () => {
    before?.()
    listener()
  }
}
