import type { OnElicitation } from '@meup/agent-sdk/internal'
import {
  type ElicitRequestFormParams,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { canElicit } from '../approvals/elicitation.js'
import { serveError } from '../errors.js'
import { failureResult, relayedResult, type ToolOutcome, type ToUri } from '../results.js'
import type { Era, ResumeState, SpaceService } from '../service.js'
import { ClientCall, type Start } from './calls.js'
import { createLogForwarder, createProgressReporter } from './client-notifications.js'
import type { TaskStart, TaskWork } from './tasks.js'

/** Milliseconds that a user gets to fill in a form. */
const formTimeoutMs = 300_000

interface Following {
  readonly era: Era
  /** Converts URIs of the participant's resources to URIs for clients. */
  readonly toUri?: ToUri
}

/** Makes a call for a client, or resumes one after the user has filled in its form. Rejects like the call. */
export async function followCall(
  server: McpServer,
  service: SpaceService,
  { era, toUri }: Following,
  context: ServerContext,
  start: Start,
): Promise<ToolOutcome> {
  const { mcpReq } = context
  const state = mcpReq.requestState<ResumeState>()
  const call = state === undefined ? new ClientCall(start) : service.calls.get(state.id)
  if (call === undefined) throw serveError('forgotten', { what: 'call' })
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
    if (elicitation === undefined) {
      service.calls.forget(call.id)
      return relayedResult(await call.result, toUri)
    }
    service.calls.keep(call)
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

/** Makes a call as a task: the result is kept, so that the client can disconnect. */
export function beginTask(
  server: McpServer,
  { start: { onStatus }, toUri }: Beginning,
  context: ServerContext,
  start: Start,
): TaskWork {
  const call = new ClientCall(start)
  call.mayAsk = canElicit(server, context)
  call.listener = {
    onProgress: ({ message }) => onStatus({ message }),
    onNotification: () => {}, // Log messages belong to the stream of a request that is already answered.
    onQuestion: (isOpen) => onStatus({ isInputRequired: isOpen }),
  }
  return {
    result: call.result.then((result) => relayedResult(result, toUri)).catch(failureResult),
    cancel: () => call.cancel(),
    next: () => call.next(),
  }
}

/**
 * Asks the client's user during a call, which is possible up to revision 2025-11-25. `relatedRequestId`: id of the client's
 * request. The answer is only validated by the participant that asked, because its schema could keep this process busy.
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
