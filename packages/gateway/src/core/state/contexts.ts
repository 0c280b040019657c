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
  type ContextCounts,
  type Counted,
  countEnvelope,
  nothingBy,
  restoreCounts,
  type StoredCounts,
  shownCounts,
  storeCounts,
} from './context-counts.js'
import { type FreePathReport, FreePaths, type FreePathsSnapshot } from './free-paths.js'

/** A context, and how much was said in it and below it of what everyone may read at present. */
export interface ContextReport extends ContextInfo {
  readonly counts: ContextCounts
}

/** What the gateway needs of a context beside its state and counts. */
interface Notes {
  /** Who may read its start and those of the contexts that it is nested in; absent = everyone. */
  readonly audience?: readonly string[]
  /** Of a run that is private, or public by its own word: what it is about. */
  readonly triggers?: readonly string[]
  /** When the owner of a run without a session has said something in it last. */
  lastAt?: string
}

type Noted = Notes & Counted
type StoredNotes = Notes & StoredCounts

/** A context that its owner has open. */
export interface OwnContext extends OpenedContext {
  /** When its owner has said something in it last, as far as that is kept. */
  readonly lastAt: string
}

interface Configured {
  readonly mcp: { readonly visibility: AudienceRules['mcpVisibility'] }
}

interface ContextsSnapshot {
  readonly states: ContextStatesSnapshot
  readonly noted: readonly (readonly [context: string, noted: StoredNotes])[]
  /** There was a private run. */
  readonly hasPrivateRuns: boolean
  readonly mcpVisibility: AudienceRules['mcpVisibility']
  /** Absent in earlier versions. */
  readonly free?: FreePathsSnapshot
}

/** Of the formats 8 to 11; the first of them do not say whether there was a private run. */
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

/** The contexts that reasoning opened [MEUP-2.2, 2.4], who takes part in them, and how much was said there. A fold over the log. */
export class Contexts {
  /** Admission bounds how many are open [MEUP-2.11]. */
  readonly #states = new ContextStates({ open: Number.POSITIVE_INFINITY })
  readonly #noted = new Map<string, Noted>()
  /** Runs by their owner and what they are about, of those that keep that. */
  readonly #byTrigger = new Map<string, string>()
  readonly #openOf = new OpenOf()
  readonly #free = new FreePaths()
  /** Whether there was a run that is not for everyone, ever. */
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

  /** What the snapshot holds belongs to this object from now on. */
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

  /** Who takes part in the run that this context belongs to; `undefined` = everyone, or it is a free path [MEUP-2.13]. */
  runAudience(path: string): readonly string[] | undefined {
    return this.#noted.get(contextRoot(path))?.audience
  }

  /** The same of the run of this participant about one of these: `everyone` by its own word; `undefined` = there is none. */
  audienceAbout(owner: string, triggers: readonly string[]): readonly string[] | 'everyone' | undefined {
    for (const trigger of triggers) {
      const run = this.#byTrigger.get(`${owner} ${trigger}`)
      if (run !== undefined) return this.runAudience(run) ?? 'everyone'
    }
    return undefined
  }

  /** Whether a start opens a context: nothing is opened below a path that is not open [MEUP-2.2]. */
  opens(start: Pick<Envelope, 'context'>): boolean {
    return this.#states.opens(start)
  }

  /** The run that this context belongs to; `undefined` for a free path. */
  getRun(path: string): OpenedContext | undefined {
    return this.#states.getRun(path)
  }

  /** The open ones; of those whose start this reader may read, where one is given. */
  open(reader?: Reader): ContextInfo[] {
    return this.#shownTo(reader, this.#states.open())
  }

  /** How many are open: of this participant, of all guests where it is one of them, and in all. */
  openCounts(owner: string): { readonly own: number; readonly guests: number; readonly all: number } {
    const guests = owner.startsWith(GUEST) ? this.#openOf.ofGuests : 0
    return { own: this.#openOf.count(owner), guests, all: this.#states.openCount }
  }

  /** What this participant has open, and which program of it opened each. */
  of(owner: string): OwnContext[] {
    return this.#openOf
      .get(owner)
      .flatMap((path) => this.#states.get(path) ?? [])
      .map((opened) => ({ ...opened, lastAt: this.#getNoted(opened).lastAt ?? opened.startedAt }))
  }

  /** The contexts whose start this reader may read, open and closed, oldest first; of a path, it and those below. */
  report(reader: Reader, path?: string): ContextReport[] {
    const all = [...this.#states.values()]
    const asked = path === undefined ? all : all.filter(({ context }) => isInside(path, context))
    return this.#shownTo(reader, asked).map((info) => {
      const counts = shownCounts(this.#getNoted(info), this.getRun(info.context))
      return { ...info, counts }
    })
  }

  /** The free paths of which the log still has something from this seq on, for who reads the starts of the others. */
  reportFree(reader: Reader, oldest: number): FreePathReport[] {
    const shown = new Set(this.report(reader).map(({ context }) => context))
    const all = this.#free.report(oldest, (path) => this.getRun(path))
    return all.filter(({ context }) => !shown.has(context))
  }

  /** Counts what is said in a context, but for what is addressed to some: the counts tell nobody more than it may read. */
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
      // The audience of a call in a private run depends on more than its address.
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

/** What everyone may read by its address alone, wherever it is said. */
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

/** Whether answers without a context have to find the run: it is not as public as what it is about. */
const keepsTriggers = ({ to, payload }: Envelope): boolean => to !== undefined || payload.public === true

/** Who is in both; absent = everyone. That something is nested tells of what it is nested in [MEUP-8.1]. */
function intersect(some?: readonly string[], others?: readonly string[]): readonly string[] | undefined {
  if (some === undefined || others === undefined) return some ?? others
  return some.filter((each) => others.includes(each))
}

/** Paths of the open contexts of each owner. */
class OpenOf {
  readonly #byOwner = new Map<string, Set<string>>()
  /** Of all guests together. */
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
