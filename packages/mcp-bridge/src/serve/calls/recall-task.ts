import type { SpaceClient } from '@meup/agent-sdk'
import type { HttpClient } from '@meup/agent-sdk/http'
import { Calls } from '@meup/folds'
import {
  type AnyEnvelope,
  type ChatPayload,
  correlations,
  type Envelope,
  Kind,
  type McpResponsePayload,
  omitUndefined,
} from '@meup/protocol'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { createAskResult } from '../offers/resources.js'
import { failureResult, relayedResult } from '../results.js'
import type { SpaceService } from '../service.js'
import { maxTtlMs, pollMs, type TaskState } from './tasks.js'

/** A task that an earlier process of this server started, as found in the log. */
export interface RecalledTask {
  readonly state: TaskState
  /** Present if the task has ended with a result. */
  readonly result?: CallToolResult
  /** The envelope that started the task. */
  readonly asked: AnyEnvelope
}

const begins = [Kind.chat, Kind.mcpRequest, Kind.mcpProposal]
/** Maximum envelopes of this participant that are searched for the start of a task. */
const maxSearched = 5000

/**
 * Finds a task by the id of the envelope that started it; `undefined` = this participant has sent no such envelope in the last
 * day.
 */
export async function recallTask(service: SpaceService, id: string): Promise<RecalledTask | undefined> {
  const { http, space, tasks } = service
  const asked = tasks.begun.get(id) ?? (await findOwn(http, space.id, id))
  if (asked === undefined) return undefined
  tasks.begun.set(id, asked)
  const answers = await readCorrelated(http, id)
  const end =
    asked.kind === Kind.chat
      ? await readAnswer(service, asked, answers)
      : readOutcome(asked, [...answers, ...(await readCarriedOut(http, answers))], service)
  const { result, status = 'working', statusMessage, at = asked } = end ?? {}
  const state: TaskState = {
    taskId: id,
    status,
    ...omitUndefined({ statusMessage }),
    createdAt: asked.ts,
    lastUpdatedAt: at.ts,
    ttl: maxTtlMs,
    pollInterval: pollMs,
  }
  return { state, asked, ...(result && { result }) }
}

interface End extends Partial<Pick<TaskState, 'status' | 'statusMessage'>> {
  readonly result?: CallToolResult
  readonly at?: AnyEnvelope
}

async function findOwn(http: HttpClient, from: string, id: string): Promise<AnyEnvelope | undefined> {
  const since = new Date(Date.now() - maxTtlMs).toISOString()
  let searched = 0
  for await (const envelope of http.readLog({ from, kind: begins, order: 'desc' })) {
    if (envelope.id === id) return envelope
    if (++searched === maxSearched || envelope.ts < since) return undefined
  }
  return undefined
}

async function readCorrelated(http: HttpClient, id: string): Promise<AnyEnvelope[]> {
  return (await http.readLogPage({ correlationId: id })).envelopes as AnyEnvelope[]
}

/** Reads the responses to the requests that fulfil approved proposals. */
async function readCarriedOut(http: HttpClient, fulfilments: readonly AnyEnvelope[]): Promise<AnyEnvelope[]> {
  const requests = fulfilments.filter(({ kind }) => kind === Kind.mcpRequest)
  return (await Promise.all(requests.map(({ id }) => readCorrelated(http, id)))).flat()
}

async function readAnswer(
  service: SpaceService,
  asked: AnyEnvelope,
  answers: readonly AnyEnvelope[],
): Promise<End | undefined> {
  const cancelled = answers.find(({ kind, from }) => kind === Kind.chatCancel && from === asked.from)
  if (cancelled !== undefined) return { status: 'cancelled', at: cancelled }
  const answer = answers.find(({ kind, from }) => kind === Kind.chat && from !== asked.from)
  if (answer === undefined) return undefined
  const { id, from, ts, payload } = answer
  const said = { id, from, ts, text: (payload as ChatPayload).message }
  return { status: 'completed', at: answer, result: await createAskResult(service, said) }
}

/** Determines how a call ended, with the reducer `Calls` that other programs use as well. */
function readOutcome(
  asked: AnyEnvelope,
  answers: readonly AnyEnvelope[],
  service: SpaceService,
): End | undefined {
  let end: End | undefined
  const calls = new Calls<true>({
    reduce(change, envelope) {
      const at = envelope as AnyEnvelope
      const isOwn = change.call.id === asked.id
      if (change.what === 'answered' && correlations(envelope).some((id) => id === asked.id || fulfils(id)))
        end ??= { status: 'completed', at, result: readResponse(at, service, change.by) }
      else if (isOwn && change.what === 'rejected')
        end ??= { status: 'completed', at, result: failureResult(new Error(`rejected by ${change.by}`)) }
      else if (
        isOwn &&
        (change.what === 'cancelled' || change.what === 'withdrawn' || change.what === 'expired')
      )
        end ??= { status: 'cancelled', statusMessage: change.what, at }
      return true
    },
  })
  const fulfils = (id: string): boolean => calls.get(id)?.about.includes(asked.id) === true
  const inOrder = [asked, ...answers].sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
  for (const envelope of inOrder) calls.apply(envelope as Envelope)
  calls.expire(new Date().toISOString())
  return end
}

function readResponse(envelope: AnyEnvelope, { uris }: SpaceService, by: string): CallToolResult {
  const { result, error } = envelope.payload as McpResponsePayload
  if (error !== undefined) return failureResult(new Error(String(Object(error).message)))
  return relayedResult({ ...result }, (uri) => uris.offered(by, uri))
}

/** Cancels a call or question that a task has started, or withdraws its proposal. Rejects with the gateway's refusal. */
export async function cancelRecalled(
  space: SpaceClient,
  { asked }: RecalledTask,
  reason: string,
): Promise<void> {
  const { id, kind, to, payload } = asked
  const about = { correlationId: id, ...(to && { to: [...to] }) }
  if (kind === Kind.chat) await space.send({ kind: Kind.chatCancel, ...about, payload: { reason } })
  else if (kind === Kind.mcpProposal)
    await space.send({ kind: Kind.mcpWithdraw, ...about, payload: { reason } })
  else {
    const params = { requestId: Object(payload).id, reason }
    const notice = { jsonrpc: '2.0', method: 'notifications/cancelled', params }
    await space.send({ kind: Kind.mcpRequest, ...about, payload: notice })
  }
}
