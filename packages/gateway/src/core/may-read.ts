import {
  contextRoot,
  correlations,
  type Envelope,
  GATEWAY,
  type Hiding,
  isThought,
  Kind,
  namespaceOf,
  type VisibilityPayload,
  withholds,
} from '@meup/protocol'
import type { Entry } from '../ports/envelope-log.js'

/** What somebody may read beside what is for everyone and for itself. */
export interface ReadRights {
  /** What is addressed to others. */
  readonly readsTargeted: boolean
  /** What others were refused in front of everyone: it may restrict them. */
  readonly readsRefusals: boolean
}

export interface Reader extends ReadRights {
  readonly participant: string
}

/** The same for all who have the same rights. */
export const getRightsKey = ({ readsTargeted, readsRefusals }: ReadRights): string =>
  `${readsTargeted ? 'all' : 'own'}${readsRefusals ? ' and refusals' : ''}`

/** Who may read an envelope: `undefined` = everyone in the space. */
export type Audience = Readers | undefined

interface Readers {
  readonly participants: ReadonlySet<string>
  /** A thought of a hidden run: not even those read it who read what is addressed to others. */
  readonly isWithheld: boolean
  /** A refusal of what everyone would have read: those who may restrict others read it, too. */
  readonly isRefusal?: true
}

export interface AudienceRules {
  readonly mcpVisibility: 'everyone' | 'addressees'
  /** Whether the run that a context belongs to withholds what this participant thinks in it. */
  withholds(context: string, from: string): boolean
  /** Who sent an admitted envelope to whom, of which kind it is, where, and what it answers. */
  findOrigin(id: string): Origin | undefined
  /** Who takes part in the run that a context belongs to; `undefined` = everyone [MEUP-2.13]. */
  runAudience(context: string): readonly string[] | undefined
  /** Whether there was a private run at all: else nothing is looked up for one. */
  readonly hasPrivateRuns: boolean
  /** Who may fulfil or reject a proposal at present. */
  deciders(proposal: string): readonly string[]
}

type Origin = Pick<Entry, 'id' | 'from' | 'to' | 'kind' | 'context' | 'correlationId'>

/** What decides who may read an envelope. */
export type Addressed = Pick<Entry, 'id' | 'from' | 'kind' | 'to' | 'context' | 'correlationId'>

/** The same of one that the log has. */
export type LoggedAddress = Addressed & Pick<Entry, 'seq'>

/** Who may read what was erased [MEUP-10.11]. */
export const nobody: Audience = { participants: new Set(), isWithheld: true }

/** Decided once per envelope, for all readers alike [MEUP-8.1]. */
export function decideAudience(entry: Addressed, rules: AudienceRules): Audience {
  const { kind, from, to, context } = entry
  if (kind === Kind.systemDecision && to?.includes(GATEWAY)) return { ...readers(to), isRefusal: true }
  if (namespaceOf(kind) === 'mcp') return mcpAudience(entry, rules)
  if (context !== undefined && isThought(kind) && rules.withholds(context, from)) {
    return { participants: new Set([from]), isWithheld: true }
  }
  return to && readers([...to, from])
}

export const readers = (participants: readonly string[]): Readers => ({
  participants: new Set(participants),
  isWithheld: false,
})

/**
 * `to` names who must act; with `addressees` a request, its responses and what is notified are theirs and the askers' alone,
 * save what somebody asks itself [MEUP-8.2].
 */
function mcpAudience(entry: Addressed, rules: AudienceRules): Audience {
  const { mcpVisibility, findOrigin } = rules
  const own = rules.hasPrivateRuns ? privateAudience(entry, rules) : undefined
  if (own !== undefined) return readers(own)
  if (mcpVisibility === 'everyone') return undefined
  const { kind, to } = entry
  if (kind !== Kind.mcpRequest && kind !== Kind.mcpResponse) return undefined
  if (kind === Kind.mcpRequest && (to === undefined || asksItself(entry))) return undefined
  if (kind === Kind.mcpResponse && correlations(entry).every((id) => asksItself(findOrigin(id))))
    return undefined
  return readers([...(to ?? []), ...askers(entry, findOrigin)])
}

/** Longest way from a notification to the proposal that its call fulfils. */
const maxLinks = 4

/**
 * A call in a private run, and all that follows from it, is for those who take part, and for whom it passes: senders, addressees,
 * and whoever may decide what is proposed [MEUP-8.8]. `undefined` = it belongs to no private run.
 */
function privateAudience(entry: Origin, rules: AudienceRules, links = maxLinks): string[] | undefined {
  const { id, from, to = [], kind, context } = entry
  const run = context === undefined ? undefined : rules.runAudience(context)
  const origins =
    links === 0 ? [] : [...new Set(correlations(entry))].flatMap((each) => rules.findOrigin(each) ?? [])
  const before = origins
    .filter((origin) => namespaceOf(origin.kind) === 'mcp')
    .flatMap((origin) => privateAudience(origin, rules, links - 1) ?? [])
  if (run === undefined && before.length === 0) return undefined
  const deciding = kind === Kind.mcpProposal ? rules.deciders(id) : []
  return [...(run ?? []), ...before, ...deciding, ...to, from]
}

const asksItself = (request: Origin | undefined): boolean =>
  request?.kind === Kind.mcpRequest &&
  request.to !== undefined &&
  request.to.every((id) => id === request.from)

/** What a response answers, and what a request fulfils: their senders read along. */
const answered: Partial<Record<string, string>> = {
  [Kind.mcpResponse]: Kind.mcpRequest,
  [Kind.mcpRequest]: Kind.mcpProposal,
}

/** Its sender, that of the request it answers, and that of the proposal which the request fulfils. */
function askers(entry: Origin, findOrigin: AudienceRules['findOrigin']): string[] {
  const kind = answered[entry.kind]
  const ids = kind === undefined ? [] : [...new Set(correlations(entry))]
  const asked = ids.flatMap((id) => findOrigin(id) ?? []).filter((origin) => origin.kind === kind)
  return [entry.from, ...asked.flatMap((origin) => askers(origin, findOrigin))]
}

/** The one predicate: live delivery, replay and every view ask it and nothing else [MEUP-8.1]. */
export const mayRead = (reader: Reader, audience: Audience): boolean =>
  mayAllRead(reader, audience) || audience?.participants.has(reader.participant) === true

/** Whether all with these rights may read it, not only those it is for. */
export const mayAllRead = ({ readsTargeted, readsRefusals }: ReadRights, audience: Audience): boolean =>
  audience === undefined ||
  (readsTargeted && !audience.isWithheld) ||
  (readsRefusals && audience.isRefusal === true)

/** The contexts of a space, as far as they hide runs. */
interface HidingContexts {
  open(): readonly (Hiding & { readonly context: string })[]
  getRun(context: string): Hiding | undefined
}

/** A run is hidden like this from this seq on; `undefined`: not any more. */
interface Change {
  readonly seq: number
  readonly run: string
  readonly hiding: Hiding | undefined
}

/**
 * Which runs are hidden as of the envelope that was delivered last. What has been admitted since is kept until it is
 * delivered, so that each thought is decided on at its place in the log, and nothing by what the log may not get.
 */
export class HiddenRuns {
  /** Counts what was changed. */
  version = 0
  readonly #hidden: Map<string, Hiding>
  #changes: Change[] = []

  /** `contexts`: as of the last delivery. */
  constructor(contexts: HidingContexts) {
    const runs = contexts
      .open()
      .filter(({ context, hiddenBy }) => hiddenBy && contextRoot(context) === context)
    this.#hidden = new Map(runs.map((run) => [run.context, run]))
  }

  /** Whether nobody else may read what this participant thinks in a context. */
  withholds(context: string, from: string): boolean {
    const run = this.#hidden.size > 0 && this.#hidden.get(contextRoot(context))
    return run ? withholds(run, from) : false
  }

  /** Notes what an envelope changes that `contexts` have just been told of. */
  note({ seq = 0, kind, context, payload }: Envelope, contexts: HidingContexts): void {
    const place = kind === Kind.observeVisibility ? (payload as VisibilityPayload).context : context
    if (place === undefined || !changing.has(kind)) return
    const run = contexts.getRun(place)
    this.#changes.push({ seq, run: contextRoot(place), hiding: run?.hiddenBy && run })
  }

  /** Everything up to this seq is about to be delivered. */
  advance(seq: number): void {
    for (let next = this.#changes[0]; next !== undefined && next.seq <= seq; next = this.#changes[0]) {
      this.version++
      if (next.hiding !== undefined) this.#hidden.set(next.run, next.hiding)
      else this.#hidden.delete(next.run)
      this.#changes.shift()
    }
  }

  /** What has not been delivered never will be. */
  forget(): void {
    this.#changes = []
  }
}

/** What hides or shows a run, and what ends one. */
const changing: ReadonlySet<string> = new Set([
  Kind.observeVisibility,
  Kind.reasoningConclusion,
  Kind.reasoningCancel,
])
