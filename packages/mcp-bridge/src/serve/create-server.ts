import { randomUUID } from 'node:crypto'
import { PROTOCOL } from '@meup/protocol'
import { McpServer, ResourceNotFoundError, type ServerContext } from '@modelcontextprotocol/server'
import { ClientApprovals, readClient } from './approvals/client-approvals.js'
import { canElicit, hasForms } from './approvals/elicitation.js'
import { askNow } from './calls/follow-call.js'
import { serveTasks, tasksCapability } from './calls/serve-tasks.js'
import { serveError } from './errors.js'
import type { ListName } from './offers/changes.js'
import { servePrompts } from './offers/prompts.js'
import { serveResources } from './offers/resources.js'
import { formatCodedError } from './results.js'
import type { Era, SpaceService } from './service.js'
import { addAsk } from './tools/ask.js'
import { addListParticipants } from './tools/participants.js'
import { addProposals } from './tools/proposals.js'
import { addSendTool } from './tools/send.js'
import type { OwnTools } from './tools/tool.js'
import { serveTools } from './tools/tools.js'
import { addWhy } from './tools/why.js'

/** Creates the server for a client of a revision up to 2025-11-25. It can send notifications and requests at any time. */
export function createLegacyServer(service: SpaceService): McpServer {
  const client = randomUUID()
  const decisions = new ClientApprovals(service, client)
  const server = createSpaceServer(service, 'legacy', () => decisions, client)
  serveTasks(server, service)
  addSubscriptions(server, service)
  elicitApprovals(server, service, decisions)
  return server
}

/** Creates a server for one client. With HTTP and revision 2026-07-28, there is a server per request. */
export function createSpaceServer(
  service: SpaceService,
  era: Era,
  getApprovals = (context: ServerContext) => new ClientApprovals(service, readClient(context)),
  client = '',
): McpServer {
  const { space, stateCodec } = service
  const server = new McpServer(
    { name: 'meup', title: `The space ${space.welcome.space.id}`, version: PROTOCOL },
    {
      capabilities: {
        logging: {},
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        ...(era === 'legacy' && { tasks: tasksCapability }),
      },
      instructions: createInstructions(service),
      requestState: { verify: stateCodec.verify },
    },
  )
  // Clients of older revisions are shown each proposal immediately (`elicitApprovals`), so `ask` shows proposals only to
  // clients of revision 2026-07-28 or later.
  const tools: OwnTools = new Map()
  addAsk(tools, service, (context) => era === 'modern' && canElicit(server, context), getApprovals)
  addSendTool(tools, service)
  addListParticipants(tools, service)
  addProposals(tools, server, service, era, getApprovals)
  addWhy(tools, service)
  serveTools(server, service, tools, { era, client })
  serveResources(server, service)
  servePrompts(server, service)
  return server
}

const createInstructions = ({ space, uris }: SpaceService): string =>
  [
    `A space where people, agents and tools work together. You act in it as ${space.id}, with its capabilities.`,
    'ask sends a question and waits for the answer; list_participants lists who is present; why explains what happened. Tools of participants are named participant__tool; calls that you may only propose wait for approval.',
    `Thoughts of agents are in ${uris.contexts} and ${uris.audit}.`,
  ].join(' ')

/**
 * Timeout of forms: the longest possible one, because the SDK requires a timeout, but a form ends when its proposal is settled.
 */
const longestTimerMs = 2 ** 31 - 1

/**
 * Shows open proposals to the user of a client that supports forms, while it is connected: those that its participant may
 * approve, one after another, each once. Dismissing a form is not a decision.
 */
function elicitApprovals(server: McpServer, service: SpaceService, decisions: ClientApprovals): void {
  const gone = new AbortController()
  onceClosed(server, () => gone.abort('the client has gone'))
  server.server.oninitialized = () => {
    if (!hasForms(server.server.getClientCapabilities()?.elicitation)) return
    elicitAll(server, service, decisions, gone.signal).catch((error: unknown) =>
      service.log(`no more is put: ${formatCodedError(error)}`),
    )
  }
}

async function elicitAll(
  server: McpServer,
  service: SpaceService,
  decisions: ClientApprovals,
  gone: AbortSignal,
): Promise<void> {
  const { approvals } = service
  const seen = new Set<string>()
  for (
    let next = await approvals.next(seen, gone);
    next !== undefined;
    next = await approvals.next(seen, gone)
  ) {
    seen.add(next.id)
    await elicitOne(server, service, decisions, next.id, gone)
  }
}

/** Shows the form for a proposal. If the proposing program ends in the meantime, shows the form again with that information. */
async function elicitOne(
  server: McpServer,
  service: SpaceService,
  decisions: ClientApprovals,
  id: string,
  gone: AbortSignal,
): Promise<void> {
  const { approvals, log } = service
  const changed = approvals.changed(id)
  const signal = AbortSignal.any([gone, changed.signal])
  try {
    const form = decisions.createForm(id)
    if (form === undefined) return log(`the proposal ${id} is too long for a form: show_proposal shows it`)
    const { action, content } = await server.server.elicitInput(form, { signal, timeout: longestTimerMs })
    if (action === 'accept') decisions.applyForm(id, content, askNow(server))
  } catch (error) {
    if (!signal.aborted) log(`the proposal ${id} was not decided by the user: ${formatCodedError(error)}`)
  } finally {
    changed.close()
  }
  if (changed.signal.aborted && !gone.aborted && approvals.isOpen(id))
    await elicitOne(server, service, decisions, id, gone)
}

/** Maximum subscriptions per client. */
const maxSubscriptions = 1000

/** Serves subscriptions to resources up to revision 2025-11-25, in which the server stores them. */
function addSubscriptions(server: McpServer, service: SpaceService): void {
  const subscribed = new Map<string, () => void>()
  const { server: protocol } = server
  const end = (uri: string): void => {
    subscribed.get(uri)?.()
    subscribed.delete(uri)
  }
  protocol.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (!uri.startsWith(service.uris.base)) throw new ResourceNotFoundError(uri)
    if (subscribed.size >= maxSubscriptions)
      throw serveError('too_many_subscriptions', { limit: maxSubscriptions })
    if (!subscribed.has(uri)) subscribed.set(uri, service.subscriptions.add(uri))
    return {}
  })
  protocol.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    end(uri)
    return {}
  })
  onceClosed(server, () => [...subscribed.keys()].forEach(end))
  sendChanges(server, service, (uri) => subscribed.has(uri))
}

/**
 * Sends notifications of changed lists and resources. `isWanted`: selects resources; default: all, for transports that filter
 * them.
 */
export function sendChanges(
  server: McpServer,
  { changes, log }: SpaceService,
  isWanted: (uri: string) => boolean = () => true,
): void {
  const { server: protocol } = server
  const lists: Record<ListName, () => Promise<void>> = {
    tools: () => protocol.sendToolListChanged(),
    prompts: () => protocol.sendPromptListChanged(),
    resources: () => protocol.sendResourceListChanged(),
  }
  const send = (changed: string): Promise<void> | undefined => {
    if (Object.hasOwn(lists, changed)) return lists[changed as ListName]()
    return isWanted(changed) ? protocol.sendResourceUpdated({ uri: changed }) : undefined
  }
  const stop = changes.listen((changed) => {
    if (!server.isConnected()) return
    send(changed)?.catch((error: Error) => log(`a change could not be announced: ${error.message}`))
  })
  onceClosed(server, stop)
}

/** Adds a listener for the end of the connection; the SDK itself supports only one. */
function onceClosed({ server }: McpServer, listener: () => void): void {
  const before = server.onclose
  server.onclose = () => {
    before?.()
    listener()
  }
}
