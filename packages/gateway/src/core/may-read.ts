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

/** Read access beyond public envelopes and one's own. */
export interface ReadRights {
  /** May read envelopes addressed to others. */
  readonly readsTargeted: boolean
  /** May read refusals of public envelopes, because it may restrict their senders. */
  readonly readsRefusals: boolean
}

export interface Reader extends ReadRights {
  readonly participant: string
}

/** A key that is equal for readers with equal rights. */
export const getRightsKey = ({ readsTargeted, readsRefusals }: ReadRights): string =>
  `${readsTargeted ? 'all' : 'own'}${readsRefusals ? ' and refusals' : ''}`

/** The readers of an envelope; `undefined` = everyone in the space. */
export type Audience = Readers | undefined

interface Readers {
  readonly participants: ReadonlySet<string>
  /** A thought of a hidden run: `readsTargeted` does not suffice. */
  readonly isWithheld: boolean
  /** A refusal of a public envelope: `readsRefusals` suffices. */
  readonly isRefusal?: true
}

export interface AudienceRules {
  readonly mcpVisibility: 'everyone' | 'addressees'
  /** Whether the run of a context is hidden and withholds the thoughts of this participant. */
  withholds(context: string, from: string): boolean
  /** The sender, recipients, kind, context and correlation of an admitted envelope. */
  findOrigin(id: string): Origin | undefined
  /** The participants of the run of a context; `undefined` = everyone [MEUP-2.13]. */
  runAudience(context: string): readonly string[] | undefined
  /** Whether the space ever had a private run; if not, lookups are skipped. */
  readonly hasPrivateRuns: boolean
  /** Participants that may fulfil or reject a proposal at present. */
  deciders(proposal: string): readonly string[]
}

type Origin = Pick<Entry, 'id' | 'from' | 'to' | 'kind' | 'context' | 'correlationId'>

/** The fields that decide who may read an envelope. */
export type Addressed = Pick<Entry, 'id' | 'from' | 'kind' | 'to' | 'context' | 'correlationId'>

/** `Addressed` of an envelope that has a seq, because it is logged. */
export type LoggedAddress = Addressed & Pick<Entry, 'seq'>

/** The audience of an erased envelope [MEUP-10.11]. */
export const nobody: Audience = { participants: new Set(), isWithheld: true }

/** Decides the audience once per envelope, for all readers [MEUP-8.1]. */
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
 * In MCP envelopes `to` names who must act. With visibility `addressees`, a request, its responses and notifications are for
 * the addressees and the askers only, except requests to oneself [MEUP-8.2].
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

/** Longest chain from a notification to the proposal that its call fulfils. */
const maxLinks = 4

/**
 * A call in a private run and everything that follows from it is for the participants of the run and of the call: senders,
 * addressees, and participants that may decide a proposal [MEUP-8.8]. `undefined` = no private run.
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

/** The kind that each kind answers or fulfils. The sender of the answered envelope may read the answer. */
const answered: Partial<Record<string, string>> = {
  [Kind.mcpResponse]: Kind.mcpRequest,
  [Kind.mcpRequest]: Kind.mcpProposal,
}

/** The senders of the envelope, of the request that it answers, and of the proposal that this request fulfils. */
function askers(entry: Origin, findOrigin: AudienceRules['findOrigin']): string[] {
  const kind = answered[entry.kind]
  const ids = kind === undefined ? [] : [...new Set(correlations(entry))]
  const asked = ids.flatMap((id) => findOrigin(id) ?? []).filter((origin) => origin.kind === kind)
  return [entry.from, ...asked.flatMap((origin) => askers(origin, findOrigin))]
}

/** The only predicate for reading: live delivery, replay and every view use it [MEUP-8.1]. */
export const mayRead = (reader: Reader, audience: Audience): boolean =>
  mayAllRead(reader, audience) || audience?.participants.has(reader.participant) === true

/** Whether every reader with these rights may read the envelope, even outside of its audience. */
export const mayAllRead = ({ readsTargeted, readsRefusals }: ReadRights, audience: Audience): boolean =>
  audience === undefined ||
  (readsTargeted && !audience.isWithheld) ||
  (readsRefusals && audience.isRefusal === true)

/** The part of `Contexts` that hides runs. */
interface HidingContexts {
  open(): readonly (Hiding & { readonly context: string })[]
  getRun(context: string): Hiding | undefined
}

/** The visibility of a run from this seq on; `undefined` = visible. */
interface Change {
  readonly seq: number
  readonly run: string
  readonly hiding: Hiding | undefined
}

/**
 * The runs that are hidden as of the last delivered envelope. Later changes wait until they are delivered, so that each thought
 * is judged at its place in the log, and never by an envelope that may fail to commit.
 */
export class HiddenRuns {
  /** Increases with each applied change. Caches of the audience of logged thoughts are then outdated. */
  version = 0
  readonly #hidden: Map<string, Hiding>
  #changes: Change[] = []

  /** `contexts`: their state as of the last delivery. */
  constructor(contexts: HidingContexts) {
    const runs = contexts
      .open()
      .filter(({ context, hiddenBy }) => hiddenBy && contextRoot(context) === context)
    this.#hidden = new Map(runs.map((run) => [run.context, run]))
  }

  /** Whether only this participant may read its thoughts in a context. */
  withholds(context: string, from: string): boolean {
    const run = this.#hidden.size > 0 && this.#hidden.get(contextRoot(context))
    return run ? withholds(run, from) : false
  }

  /** Notes a change of visibility by an envelope that was just applied to `contexts`. */
  note({ seq = 0, kind, context, payload }: Envelope, contexts: HidingContexts): void {
    const place = kind === Kind.observeVisibility ? (payload as VisibilityPayload).context : context
    if (place === undefined || !changing.has(kind)) return
    const run = contexts.getRun(place)
    this.#changes.push({ seq, run: contextRoot(place), hiding: run?.hiddenBy && run })
  }

  /** Applies the changes up to this seq, before it is delivered. */
  advance(seq: number): void {
    for (let next = this.#changes[0]; next !== undefined && next.seq <= seq; next = this.#changes[0]) {
      this.version++
      if (next.hiding !== undefined) this.#hidden.set(next.run, next.hiding)
      else this.#hidden.delete(next.run)
      this.#changes.shift()
    }
  }

  /** Drops changes that will never be delivered. */
  forget(): void {
    this.#changes = []
  }
}

/** Kinds that hide, show or end a run. */
const changing: ReadonlySet<string> = new Set([
  Kind.observeVisibility,
  Kind.reasoningConclusion,
  Kind.reasoningCancel,
])
