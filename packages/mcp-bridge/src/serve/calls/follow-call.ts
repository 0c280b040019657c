import { ProtocolError } from '@meup/agent-sdk'
import type { OnElicitation } from '@meup/agent-sdk/internal'
import {
  type ElicitRequestFormParams,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Start } from './calls.js'
import { canElicit } from './elicitation.js'
import type { Era, ResumeState, SpaceService } from './service.js'
import type { TaskStart, Work } from './tasks.js'
import {
  createLogForwarder,
  createProgressReporter,
  failureResult,
  type Outcome,
  relayedResult,
  type ToUri,
} from './tool.js'

/** Milliseconds that a user may take to fill in a form. */
const formTimeoutMs = 300_000

interface Following {
  readonly era: Era
  /** How clients name the resources of the participant that is called. */
  readonly toUri?: ToUri
}

/** Makes a call for a client, or goes on with one for which its user has filled in a form. Rejects as the call does. */
export async function followCall(
  server: McpServer,
  service: SpaceService,
  { era, toUri }: Following,
  context: ServerContext,
  start: Start,
): Promise<Outcome> {
  const { mcpReq } = context
  const state = mcpReq.requestState<ResumeState>()
  const call = state === undefined ? service.calls.begin(start) : service.calls.get(state.id)
  if (call === undefined) throw new ProtocolError('not_found', 'the call is long forgotten; make it again')
  const cancel = (): void => call.cancel()
  mcpReq.signal.addEventListener('abort', cancel)
  if (mcpReq.signal.aborted) cancel()
  const report = createProgressReporter(context, service.log)
  call.mayAsk = canElicit(server, context)
  call.listener = {
    onProgress: (progress) => report?.(progress),
    onNotification: createLogForwarder(context, service.log),
    ...(era === 'legacy' && { ask: askNow(server, mcpReq.id) }),
  }
  for (const id of Object.keys(mcpReq.inputResponses ?? {})) {
    const response = inputResponse(mcpReq.inputResponses, id)
    if (response.kind !== 'elicit') continue
    const { action, content } = response
    call.answer(id, { action, ...(content && { content }) })
  }
  try {
    const elicitation = await call.next()
    if (elicitation === undefined) return relayedResult(await call.result, toUri)
    const { id, params } = elicitation
    return inputRequired({
      inputRequests: { [id]: inputRequired.elicit(params) },
      requestState: await service.stateCodec.mint({ id: call.id }, context),
    })
  } finally {
    mcpReq.signal.removeEventListener('abort', cancel)
    call.listener = undefined
  }
}

interface Beginning {
  readonly start: TaskStart
  readonly toUri?: ToUri
}

/** Makes a call whose result waits for its client, who may be gone meanwhile. */
export function beginTask(
  server: McpServer,
  { calls }: SpaceService,
  { start: { onStatus }, toUri }: Beginning,
  context: ServerContext,
  start: Start,
): Work {
  const call = calls.begin(start)
  call.mayAsk = canElicit(server, context)
  call.listener = {
    onProgress: ({ message }) => onStatus({ message }),
    onNotification: () => {}, // The request on which log messages were sent is answered.
    onQuestion: (isOpen) => onStatus({ isInputRequired: isOpen }),
  }
  return {
    result: call.result.then((result) => relayedResult(result, toUri)).catch(failureResult),
    cancel: () => call.cancel(),
    next: () => call.next(),
  }
}

/**
 * Up to revision 2025-11-25 a server asks while it works; `relatedRequestId`: on which request of the client. Who asks checks the
 * answer: with its schema it could keep this process busy for as long as it likes.
 */
export const askNow =
  ({ server }: McpServer, relatedRequestId?: string | number): OnElicitation =>
  async (params, signal) => {
    const form = { ...params, mode: 'form' } as unknown as ElicitRequestFormParams
    const related = relatedRequestId === undefined ? {} : { relatedRequestId }
    const request = { method: 'elicitation/create', params: form } as const
    const { action, content } = await server.request(request, { signal, timeout: formTimeoutMs, ...related })
    return { action, ...(content && { content }) }
  }
