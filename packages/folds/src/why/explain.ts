import { correlations, type Envelope, GUEST, isThought, Kind } from '@meup/protocol'
import { describeRight, type RightSources } from '../capabilities/right.js'
import { describe, getCallRationale } from '../describe.js'
import { getOutcome, readResult } from '../mcp/result.js'
import type { Guard } from '../redact.js'
import { listTexts } from '../search.js'
import { cut } from '../text.js'
import { type CauseHeading, type Causes, findCauses, type ReadableLog, type Reading } from './causes.js'
import { rank, type WhyRole, type WhySignal } from './rank.js'

/** One step of an explanation: an envelope that led to the explained one. */
export interface WhyStep {
  readonly seq: number
  readonly id: string
  readonly ts: string
  readonly from: string
  readonly role: WhyRole
  /** The rank of the step; 1 = look here first. */
  readonly rank: number
  /** The text of the step, masked and cut. */
  readonly text: string
  readonly context?: string
  /** Seq of the step that this step answers, such as the call of a result. */
  readonly about?: number
  /** The reasons for the rank. */
  readonly signals?: readonly WhySignal[]
}

/** The right that let a call pass. */
export interface WhyRight {
  readonly by: 'configured' | 'grant' | 'proposal'
  /** Id of the grant, invitation or proposal that `by` names. */
  readonly id?: string
  /** The capability that allowed the call, if readable. */
  readonly capability?: string
}

/** The readable steps that led to an envelope, across agents [MEUP-11.23]. */
export interface Why {
  readonly of: { readonly seq: number; readonly id: string }
  /** The steps in log order; the last one is the explained envelope. */
  readonly steps: readonly WhyStep[]
  /** The right that let the call pass; present if the envelope is a call, or answers one. */
  readonly allowed?: WhyRight
  /** Requests that fulfilled the proposal of the call. */
  readonly approvals: readonly { readonly by: string; readonly seq: number; readonly reason?: string }[]
  /** Seqs of steps whose text comes from outside the space: results of tools, and messages of guests. */
  readonly outside: readonly number[]
  /** The transcript of the model that wrote the answer. */
  readonly transcript?: { readonly hash: string }
  /** Whether earlier causes may be missing, or steps are omitted. */
  readonly cut: boolean
}

export interface WhyOptions {
  /** Masks the texts of the steps. */
  readonly guard: Guard
  readonly rights: RightSources
  /** Maximum number of steps: the highest ranked ones, and the envelope. Default: 200. */
  readonly limit?: number
}

/** The maximum of `limit`. */
export const maxWhySteps = 200
/** Maximum characters of a step that influence its rank, and that are returned. */
const [maxRankedChars, maxTextChars] = [8000, 2000]

/** Explains an envelope: the steps that led to it, across agents. `undefined` = not in the log. */
export function explain(log: ReadableLog, id: string, options: WhyOptions): Why | undefined {
  const search = findCauses(log, id)
  for (let next = search.next(); ; next = search.next(log.before(next.value))) {
    if (next.done) return toWhy(next.value, log, options)
  }
}

/** Like `explain`, with a log that is read asynchronously, page by page. */
export async function explainLogged(
  log: ReadableLog<Promise<readonly CauseHeading[]>>,
  id: string,
  options: WhyOptions,
): Promise<Why | undefined> {
  const search: Reading<Causes> = findCauses(log, id)
  for (let next = search.next(); ; next = search.next(await log.before(next.value))) {
    if (next.done) return toWhy(next.value, log, options)
  }
}

function toWhy(
  { envelopes, isCut }: Causes,
  log: Pick<ReadableLog, 'heading'>,
  { guard, rights, limit = maxWhySteps }: WhyOptions,
): Why | undefined {
  const of = envelopes.at(-1)
  if (of === undefined) return undefined
  const byId = new Map(envelopes.map((each, index) => [each.id, { each, index }]))
  const find = (id: string): CauseHeading | undefined => byId.get(id)?.each ?? log.heading(id)
  const roles = envelopes.map((each) => getRole(each, find))
  const ranked = rank(
    envelopes.map((each, index) => ({
      role: roles[index] ?? 'thought',
      from: each.kind === Kind.systemDecision ? (each.to?.[0] ?? '') : each.from,
      text: cut(listTexts(each, maxRankedChars).join('\n'), maxRankedChars),
      isError: each.kind === Kind.mcpResponse ? getOutcome(each.payload) === 'error' : isRefusal(each),
      about: correlations(each).flatMap((id) => byId.get(id)?.index ?? [])[0],
    })),
  )
  const getTool = (each: Envelope): string | undefined =>
    correlations(each)
      .map((id) => byId.get(id)?.each)
      .filter((asked) => asked !== undefined && isCall(asked))
      .map((asked) => describe(asked as Envelope, guard).object)[0]
  const getAnswered = (each: Envelope): number | undefined =>
    correlations(each).flatMap((id) => byId.get(id)?.each.seq ?? [])[0]
  const kept = envelopes
    .map((each, index) => ({
      ...{ each, role: roles[index] ?? 'thought', about: getAnswered(each) },
      ...(ranked[index] ?? unranked),
    }))
    .filter(({ each, rank }) => rank <= limit || each === of)
  const right = getRight(of, byId, rights)
  const transcript = getTranscript(envelopes, of)
  return {
    of: { seq: of.seq ?? 0, id: of.id },
    steps: kept.map(({ each, role, rank, signals, about }) => ({
      seq: each.seq ?? 0,
      id: each.id,
      ts: each.ts,
      from: each.from,
      role,
      rank,
      text: cut(getText(each, guard, getTool(each)), maxTextChars),
      ...(each.context !== undefined && { context: each.context }),
      ...(about !== undefined && { about }),
      ...(signals.length > 0 && { signals }),
    })),
    ...(right && { allowed: right }),
    approvals: envelopes
      .filter((_, index) => roles[index] === 'approved')
      .map((each) => ({
        by: each.from,
        seq: each.seq ?? 0,
        ...(each.rationale !== undefined && { reason: cut(each.rationale, maxTextChars) }),
      })),
    outside: envelopes
      .filter((each) => each !== of && (each.kind === Kind.mcpResponse || each.from.startsWith(GUEST)))
      .map(({ seq = 0 }) => seq),
    ...(transcript !== undefined && { transcript: { hash: transcript } }),
    cut: isCut || kept.length < envelopes.length,
  }
}

const unranked = { rank: 0, signals: [] }

const isRefusal = ({ kind }: CauseHeading): boolean => kind === Kind.systemDecision || kind === Kind.mcpReject
const isCall = ({ kind }: CauseHeading): boolean => kind === Kind.mcpRequest || kind === Kind.mcpProposal

const rolesByKind: Readonly<Record<string, WhyRole>> = {
  [Kind.mcpProposal]: 'proposed',
  [Kind.mcpResponse]: 'result',
  [Kind.mcpReject]: 'rejected',
  [Kind.mcpWithdraw]: 'rejected',
  [Kind.systemDecision]: 'refused',
  [Kind.reasoningStart]: 'set_out',
  [Kind.reasoningConclusion]: 'concluded',
  [Kind.reasoningCancel]: 'concluded',
}

/**
 * The role of a step. A chat in a context asks a participant there; so does a chat outside of contexts that answers nothing, or
 * hands a question over. `called`: any other act.
 */
function getRole(envelope: Envelope, find: (id: string) => CauseHeading | undefined): WhyRole {
  const { kind, context, payload } = envelope
  const about = correlations(envelope)
  if (kind === Kind.chat)
    return about.length === 0 || context !== undefined || payload.handOver === true ? 'asked' : 'answered'
  if (kind === Kind.mcpRequest && about.some((id) => find(id)?.kind === Kind.mcpProposal)) return 'approved'
  return rolesByKind[kind] ?? (isThought(kind) ? 'thought' : 'called')
}

/** The text of a step: tool, arguments and reason of a call, or the result of a response. */
function getText(envelope: Envelope, guard: Guard, tool: string | undefined): string {
  if (envelope.kind === Kind.mcpResponse) {
    const { outcome, text } = readResult(envelope.payload, guard)
    return `${outcome === 'error' ? 'error: ' : ''}${text}`
  }
  const { object, detail } = describe(envelope, guard, { tool })
  if (envelope.kind === Kind.mcpWithdraw) return `${object}: withdrawn (${detail})`
  if (isRefusal(envelope)) return [object, detail].filter(Boolean).join(': ')
  const reason = isCall(envelope) ? getCallRationale(envelope) : ''
  return [[object, detail].filter(Boolean).join(' '), reason].filter(Boolean).join(' · ')
}

/** Finds the right by which a call was allowed: `of` is the call, or the response to it. */
function getRight(
  of: Envelope,
  byId: ReadonlyMap<string, { readonly each: Envelope }>,
  rights: RightSources,
): WhyRight | undefined {
  const answered = of.kind === Kind.mcpResponse ? correlations(of) : []
  const call = of.kind === Kind.mcpRequest ? of : answered.flatMap((id) => byId.get(id)?.each ?? [])[0]
  const right = call && describeRight(call, rights)
  if (call === undefined || right === undefined) return undefined
  const { allowedBy, capability, approvedBy } = right
  const proposal = approvedBy === undefined ? undefined : correlations(call)[0]
  const known = { ...(capability !== undefined && { capability }) }
  if (proposal !== undefined) return { by: 'proposal', id: proposal, ...known }
  return allowedBy === 'configured'
    ? { by: 'configured', ...known }
    : { by: 'grant', id: allowedBy, ...known }
}

/** Finds the transcript hash in the last conclusion of the participant that answered. */
function getTranscript(envelopes: readonly Envelope[], { from }: Envelope): string | undefined {
  const hashes = envelopes.flatMap(({ kind, from: by, payload: { metadata } }) => {
    const transcript = Object(metadata).transcript as unknown
    return kind === Kind.reasoningConclusion && by === from && typeof transcript === 'string'
      ? [transcript]
      : []
  })
  return hashes.at(-1)
}
