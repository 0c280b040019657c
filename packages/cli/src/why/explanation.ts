import type { HttpClient, WhyAnswer } from '@meup/agent-sdk/http'
import { isObject, type WhyStep } from '@meup/folds'
import { type AnyEnvelope, contextRoot, Kind, ProtocolError } from '@meup/protocol'

/** The capability that allowed a call. */
export interface Permission {
  readonly why: Pick<WhyAnswer, 'allowed' | 'approvals'>
  /** Participant that acted: for a refusal the refused one, for a result the caller. */
  readonly actor: string
  /** The envelope that granted the capability; absent if the configuration gives it, or if the grant cannot be read. */
  readonly grant?: AnyEnvelope
}

/**
 * An explained act (a tool call, a decision about one, or an answer), the steps that led to it, and the capability that allowed
 * it.
 */
export interface Explanation extends Permission {
  readonly why: WhyAnswer
  readonly of: AnyEnvelope
  /** For an answer: the permissions of the calls whose results the agent had received, by the seq of the result. */
  readonly lookedAt: readonly (readonly [seq: number, permission: Permission])[]
  readonly model?: ModelUse
}

/** Model of the run that the act belongs to. */
export interface ModelUse {
  readonly name: string
  /** Tokens of the whole run; absent while it is open. */
  readonly tokens?: number
  /** Hash of a commit in the agent's transcript, which records what its model got and returned; absent without a transcript. */
  readonly transcript?: string
}

export async function explainAct(http: HttpClient, of: AnyEnvelope): Promise<Explanation> {
  const why = await http.why(of.id)
  const actor = getActor(of, why)
  const [grant, model, lookedAt] = await Promise.all([
    readGrant(http, why),
    readModel(http, { of, actor, why }),
    of.kind === Kind.chat ? readPermissions(http, why.steps) : [],
  ])
  return { why, of, actor, lookedAt, ...(grant && { grant }), ...(model && { model }) }
}

/** Maximum number of results that an explanation shows. */
const maxResults = 3

/** The tool results that rank highest as causes of the act, in log order. Only these have an entry in `lookedAt`. */
export const listResults = (steps: readonly WhyStep[]): WhyStep[] =>
  steps
    .filter(({ role }) => role === 'result')
    .sort((one, other) => one.rank - other.rank)
    .slice(0, maxResults)
    .sort((one, other) => one.seq - other.seq)

function readPermissions(http: HttpClient, steps: readonly WhyStep[]): Promise<Explanation['lookedAt']> {
  return Promise.all(
    listResults(steps).map(async ({ seq, id, from, about }) => {
      const why = await http.why(id, { limit: 1 })
      const grant = await readGrant(http, why)
      const actor = steps.find((step) => step.seq === about)?.from ?? from
      return [seq, { why, actor, ...(grant && { grant }) }] as const
    }),
  )
}

/** The participant that acted: a decision is addressed to the one it concerns, and a result answers the caller. */
function getActor({ kind, from, to }: AnyEnvelope, { steps }: WhyAnswer): string {
  if (kind === Kind.systemDecision) return to?.[0] ?? from
  if (kind !== Kind.mcpResponse) return from
  // The last step is the result itself; `about` is the seq of the call it answers.
  const about = steps.at(-1)?.about
  return steps.find(({ seq }) => seq === about)?.from ?? from
}

async function readGrant(http: HttpClient, { allowed }: WhyAnswer): Promise<AnyEnvelope | undefined> {
  if (allowed?.by !== 'grant' || allowed.id === undefined) return undefined
  try {
    return await http.readEnvelope(allowed.id)
  } catch (error) {
    // The grant was pruned, or this participant may not read it.
    if (error instanceof ProtocolError && error.code === 'not_found') return undefined
    throw error
  }
}

async function readModel(
  http: HttpClient,
  { of, actor, why }: Pick<Explanation, 'of' | 'actor' | 'why'>,
): Promise<ModelUse | undefined> {
  // The run of the act; otherwise the latest run in which the actor did something, or which it began.
  const place =
    of.context ??
    why.steps.findLast(({ from, context }) => from === actor && context !== undefined)?.context ??
    why.steps.findLast(({ from, role }) => from === actor && role === 'set_out')?.id
  if (place === undefined) return undefined
  const kind = [Kind.reasoningStart, Kind.reasoningConclusion]
  const { envelopes } = await http.readLogPage({ context: contextRoot(place), kind, limit: 100 })
  const own = envelopes.filter(({ from }) => from === actor).map(({ payload }) => Object(payload).metadata)
  const metadata: Readonly<Record<string, unknown>> = Object.assign({}, ...own.filter(isObject))
  const { model, tokens, transcript } = metadata
  if (typeof model !== 'string') return undefined
  const { input, output } = Object(tokens) as { readonly input?: unknown; readonly output?: unknown }
  return {
    name: model,
    ...(typeof input === 'number' && typeof output === 'number' && { tokens: input + output }),
    ...(typeof transcript === 'string' && { transcript }),
  }
}
