import { ContextStates, type ContextStatesSnapshot, isInside, type OpenedContext } from '@meup/folds'
import {
  type ContextInfo,
  contextParent,
  contextRoot,
  correlations,
  type Envelope,
  GUEST,
  Kind,
  namespaceOf,
} from '@meup/protocol'
import { type AudienceRules, decideAudience, mayRead, type Reader, readers } from '../may-read.js'
import {
  type Counted,
  countEnvelope,
  nothingBy,
  type OpenContextCounts,
  restoreCounts,
  type StoredCounts,
  shownCounts,
  storeCounts,
} from './context-counts.js'
import { type FreePathReport, FreePaths, type FreePathsSnapshot } from './free-paths.js'

/** A context, with the counts of public envelopes in it and below it. */
export interface ContextReport extends ContextInfo {
  readonly counts: OpenContextCounts
}

/** The gateway's notes on a context, in addition to its state and counts. */
interface Notes {
  /** Participants in the audiences of its start and of the starts of all its ancestors; absent = everyone. */
  readonly audience?: readonly string[]
  /** For a private run, or one declared public: the envelopes that it is about. */
  readonly triggers?: readonly string[]
  /** For a run that was opened without a program (`session`): time of the owner's last envelope in it. */
  lastAt?: string
}

type Noted = Notes & Counted
type StoredNotes = Notes & StoredCounts

/** A context that its owner has opened. */
export interface OwnContext extends OpenedContext {
  /** Time of the owner's last envelope in the context; the time of its start if no other is recorded. */
  readonly lastAt: string
}

interface Configured {
  readonly mcp: { readonly visibility: AudienceRules['mcpVisibility'] }
}

interface ContextsSnapshot {
  readonly states: ContextStatesSnapshot
  readonly noted: readonly (readonly [context: string, noted: StoredNotes])[]
  /** Whether the space has ever had a private run. */
  readonly hasPrivateRuns: boolean
  readonly mcpVisibility: AudienceRules['mcpVisibility']
  /** Absent in snapshots of earlier versions. */
  readonly free?: FreePathsSnapshot
}

/** Snapshots of the formats 8 to 11; the earliest of them lack `hasPrivateRuns`. */
interface EarlierSnapshot {
  readonly opened: readonly (StoredNotes & {
    readonly info: ContextInfo
    readonly session?: string
    readonly nested: readonly string[]
  })[]
  readonly closed: readonly string[]
  readonly hasPrivateRuns?: boolean
  readonly mcpVisibility: AudienceRules['mcpVisibility']
}

/** The contexts opened by reasoning [MEUP-2.2, 2.4], their participants, and counts of their envelopes. A fold over the log. */
export class Contexts {
  /** Unlimited here, because admission bounds the open contexts [MEUP-2.11]. */
  readonly #states = new ContextStates({ open: Number.POSITIVE_INFINITY })
  readonly #noted = new Map<string, Noted>()
  /** Roots of the runs that are private or declared public, by owner and trigger (an envelope that the run is about). */
  readonly #byTrigger = new Map<string, string>()
  readonly #openOf = new OpenOf()
  readonly #free = new FreePaths()
  /** Whether the space has ever had a private run. */
  hasPrivateRuns = false
  #mcpVisibility: AudienceRules['mcpVisibility'] = 'everyone'

  apply(envelope: Envelope): void {
    for (const { what, opened } of this.#states.apply(envelope)) {
      if (what === 'opened') this.#begin(opened, envelope)
      else if (what === 'closed') this.#openOf.delete(opened)
      else if (what === 'forgotten') this.#forget(opened)
    }
    const { kind, payload } = envelope
    if (kind === Kind.systemSpace && payload.event === 'configured')
      this.#mcpVisibility = (payload as unknown as Configured).mcp.visibility
  }

  snapshot(): ContextsSnapshot {
    return {
      states: this.#states.snapshot(),
      noted: [...this.#noted].map(([context, noted]) => [context, storeCounts(noted)]),
      hasPrivateRuns: this.hasPrivateRuns,
      mcpVisibility: this.#mcpVisibility,
      free: this.#free.snapshot(),
    }
  }

  /** Takes ownership of the snapshot. */
  restore(snapshot: ContextsSnapshot | EarlierSnapshot): void {
    const {
      states,
      noted,
      hasPrivateRuns,
      mcpVisibility,
      free = [],
    } = 'states' in snapshot ? snapshot : convert(snapshot)
    this.#states.restore(states)
    for (const each of this.#states.open()) this.#openOf.add(each)
    for (const [context, each] of noted) this.#note(context, restoreCounts(each))
    this.hasPrivateRuns = hasPrivateRuns
    this.#mcpVisibility = mcpVisibility
    this.#free.restore(free)
  }

  get(path: string): OpenedContext | undefined {
    return this.#states.get(path)
  }

  /** The participants of the run of a context; `undefined` = everyone, also if no reasoning has opened the path [MEUP-2.13]. */
  runAudience(path: string): readonly string[] | undefined {
    return this.#noted.get(contextRoot(path))?.audience
  }

  /** The audience of this participant's run about one of these triggers: `everyone` if declared public; `undefined` = no such run. */
  audienceAbout(owner: string, triggers: readonly string[]): readonly string[] | 'everyone' | undefined {
    for (const trigger of triggers) {
      const run = this.#byTrigger.get(`${owner} ${trigger}`)
      if (run !== undefined) return this.runAudience(run) ?? 'everyone'
    }
    return undefined
  }

  /** Whether a start opens a context; below a closed path it does not [MEUP-2.2]. */
  opens(start: Pick<Envelope, 'context'>): boolean {
    return this.#states.opens(start)
  }

  /** The run of a context; `undefined` = no reasoning has opened it (a free path). */
  getRun(path: string): OpenedContext | undefined {
    return this.#states.getRun(path)
  }

  /** The open contexts; with `reader`, those whose start it may read. */
  open(reader?: Reader): ContextInfo[] {
    return this.#shownTo(reader, this.#states.open())
  }

  /** Counts of open contexts: of this participant, of all guests if it is one, and in all. */
  openCounts(owner: string): { readonly own: number; readonly guests: number; readonly all: number } {
    const guests = owner.startsWith(GUEST) ? this.#openOf.ofGuests : 0
    return { own: this.#openOf.count(owner), guests, all: this.#states.openCount }
  }

  /** The open contexts of this participant, with the programs that opened them. */
  of(owner: string): OwnContext[] {
    return this.#openOf
      .get(owner)
      .flatMap((path) => this.#states.get(path) ?? [])
      .map((opened) => ({ ...opened, lastAt: this.#getNoted(opened).lastAt ?? opened.startedAt }))
  }

  /** Open and closed contexts whose start this reader may read, oldest first; with `path`, it and those below. */
  report(reader: Reader, path?: string): ContextReport[] {
    const all = [...this.#states.values()]
    const asked = path === undefined ? all : all.filter(({ context }) => isInside(path, context))
    return this.#shownTo(reader, asked).map((info) => {
      const counts = shownCounts(this.#getNoted(info), this.getRun(info.context))
      return { ...info, counts }
    })
  }

  /**
   * Free paths, which no reasoning has opened, with envelopes at or after this seq; also contexts whose start the reader may
   * not read.
   */
  reportFree(reader: Reader, oldest: number): FreePathReport[] {
    const shown = new Set(this.report(reader).map(({ context }) => context))
    const all = this.#free.report(oldest, (path) => this.getRun(path))
    return all.filter(({ context }) => !shown.has(context))
  }

  /** Counts an envelope in its context. Envelopes with addressees are not counted, so that counts reveal nothing unreadable. */
  count(context: string, envelope: Envelope): void {
    const { from, ts } = envelope
    const root = contextRoot(context)
    const run = this.#states.get(root)
    const noted = this.#noted.get(root)
    if (noted !== undefined && run?.session === undefined && run?.owner === from) noted.lastAt = ts
    const isPrivate = noted?.audience !== undefined
    if (decideAudience(envelope, publicRules[this.#mcpVisibility]) !== undefined) return
    for (let at: string | undefined = context; at !== undefined; at = contextParent(at)) {
      const counted = this.#noted.get(at)
      if (counted !== undefined && !isPrivate) countEnvelope(counted, envelope, run?.owner)
      // MCP envelopes are not counted here: in a private run, their audience does not follow from their addressees alone.
      const isForAll = namespaceOf(envelope.kind) !== 'mcp'
      if (isForAll && (counted === undefined || counted.audience !== undefined))
        this.#free.count(at, envelope, run?.owner)
    }
  }

  #shownTo(reader: Reader | undefined, all: Iterable<OpenedContext>): ContextInfo[] {
    const isShown = (opened: OpenedContext): boolean => {
      const { audience } = this.#getNoted(opened)
      return reader === undefined || mayRead(reader, audience && readers(audience))
    }
    return [...all].filter(isShown).map((opened) => this.#states.toInfo(opened))
  }

  #getNoted({ context, owner }: Pick<OpenedContext, 'context' | 'owner'>): Noted {
    return this.#noted.get(context) ?? nothingBy(owner)
  }

  #begin(opened: OpenedContext, start: Envelope): void {
    const { from, to, context: parent } = start
    const around = parent === undefined ? undefined : this.#noted.get(parent)?.audience
    const audience = intersect(to && [...to, from], around)
    const triggers = parent === undefined && keepsTriggers(start) ? correlations(start) : undefined
    if (audience !== undefined) this.hasPrivateRuns = true
    this.#openOf.add(opened)
    if (audience === undefined) this.#free.delete(opened.context)
    this.#note(opened.context, {
      ...(audience && { audience }),
      ...(triggers && { triggers }),
      ...nothingBy(from),
    })
  }

  #note(context: string, noted: Noted): void {
    this.#noted.set(context, noted)
    for (const trigger of noted.triggers ?? [])
      this.#byTrigger.set(`${this.get(context)?.owner} ${trigger}`, context)
  }

  #forget({ context, owner }: OpenedContext): void {
    for (const trigger of this.#noted.get(context)?.triggers ?? []) {
      const key = `${owner} ${trigger}`
      if (this.#byTrigger.get(key) === context) this.#byTrigger.delete(key)
    }
    this.#noted.delete(context)
  }
}

function convert({ opened, closed, hasPrivateRuns, mcpVisibility }: EarlierSnapshot): ContextsSnapshot {
  const states = opened.map(({ info: { context, owner, state, startedAt, hiddenBy }, session }) => ({
    ...{ context, owner, state, startedAt },
    ...(session !== undefined && { session }),
    ...(hiddenBy && { hiddenBy }),
  }))
  return {
    states: { opened: states, closed },
    noted: opened.map(({ info, session: _, nested: __, ...noted }) => [info.context, noted]),
    hasPrivateRuns: hasPrivateRuns ?? opened.some(({ audience }) => audience),
    mcpVisibility,
  }
}

/** Rules that judge by the addressees alone, in any context: they identify the envelopes that everyone may read. */
const publicRules = { everyone: rulesFor('everyone'), addressees: rulesFor('addressees') }

function rulesFor(mcpVisibility: AudienceRules['mcpVisibility']): AudienceRules {
  return {
    mcpVisibility,
    hasPrivateRuns: false,
    withholds: () => false,
    findOrigin: () => undefined,
    runAudience: () => undefined,
    deciders: () => [],
  }
}

/**
 * Returns `true` if the triggers of a run, the envelopes that it is about, are kept: answers to them without a context then
 * find the run, whose audience differs from theirs.
 */
const keepsTriggers = ({ to, payload }: Envelope): boolean => to !== undefined || payload.public === true

/**
 * The participants that are in both lists; absent = everyone. Used for nested contexts, because reading one reveals the outer
 * one [MEUP-8.1].
 */
function intersect(some?: readonly string[], others?: readonly string[]): readonly string[] | undefined {
  if (some === undefined || others === undefined) return some ?? others
  return some.filter((each) => others.includes(each))
}

/** Paths of the open contexts by owner. */
class OpenOf {
  readonly #byOwner = new Map<string, Set<string>>()
  /** Open contexts of all guests together. */
  ofGuests = 0

  get(owner: string): string[] {
    return [...(this.#byOwner.get(owner) ?? [])]
  }

  count(owner: string): number {
    return this.#byOwner.get(owner)?.size ?? 0
  }

  add({ context, owner }: OpenedContext): void {
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(context))
    if (owner.startsWith(GUEST)) this.ofGuests++
  }

  delete({ context, owner }: OpenedContext): void {
    const own = this.#byOwner.get(owner)
    if (own?.delete(context) && owner.startsWith(GUEST)) this.ofGuests--
    if (own?.size === 0) this.#byOwner.delete(owner)
  }
}
