import {
  type ContextInfo,
  contextParent,
  contextRoot,
  correlations,
  type Envelope,
  GATEWAY,
  GUEST,
  type Hiding,
  hiddenByAfter,
  isThought,
  Kind,
  openedContext,
  type VisibilityPayload,
  withholds,
} from '@meup/protocol'
import { type AudienceRules, decideAudience, mayRead, type Reader, readers } from '../may-read.js'

/** A context, and how much was said in it and below it of what everyone may read at present. */
export interface ContextReport extends ContextInfo {
  readonly counts: ContextCounts
}

interface OpenedContext extends Counted {
  readonly info: ContextInfo
  /** Who may read its start and those of the contexts that it is nested in; absent = everyone. */
  readonly audience?: readonly string[]
  /** Of a run that is private, or public by its own word: what it is about. */
  readonly triggers?: readonly string[]
  /** The program of its owner that opened it; absent = the owner's connection has named none. */
  readonly session?: string
  /** When the owner of a run without a session has said something in it last. */
  lastAt?: string
  readonly nested: string[]
}

/** A context that its owner has open. */
export interface OwnContext {
  readonly context: string
  /** Absent = its owner's connection has named none. */
  readonly session?: string
  /** When its owner has said something in it last, as far as that is kept. */
  readonly lastAt: string
}

interface Configured {
  readonly mcp: { readonly visibility: AudienceRules['mcpVisibility'] }
}

interface ContextsSnapshot {
  /** In the order in which they were opened. */
  readonly opened: readonly OpenedContext[]
  /** In the order in which they were closed. */
  readonly closed: readonly string[]
  /** There was a private run. */
  readonly hasPrivateRuns?: true
  readonly mcpVisibility: AudienceRules['mcpVisibility']
}

/** Earlier versions do not say whether there was a private run. */
type Restored = Omit<ContextsSnapshot, 'hasPrivateRuns'> & { readonly hasPrivateRuns?: boolean }

/** Closed contexts past this many are forgotten; what is said in them then is said in a free path. */
const rememberedClosed = 10_000

/** The contexts that reasoning opened, and who may close them [MEUP-2.2, 2.4]. A fold over the log. */
export class Contexts {
  readonly #byPath = new Map<string, OpenedContext>()
  /** Runs by their owner and what they are about, of those that keep that. */
  readonly #byTrigger = new Map<string, OpenedContext>()
  readonly #open = new OpenContexts<OpenedContext>()
  #closed: string[] = []
  /** Whether there was a run that is not for everyone, ever. */
  hasPrivateRuns = false
  #mcpVisibility: AudienceRules['mcpVisibility'] = 'everyone'

  apply(envelope: Envelope): void {
    const { kind, payload } = envelope
    if (kind === Kind.reasoningStart) this.#begin(envelope)
    else if (kind === Kind.reasoningConclusion) this.#closeIfStarter(envelope, 'concluded')
    else if (kind === Kind.reasoningCancel) this.#closeIfStarter(envelope, 'cancelled')
    else if (kind === Kind.observeVisibility) this.#show(envelope)
    else if (kind === Kind.systemSpace && payload.event === 'configured') {
      this.#mcpVisibility = (payload as unknown as Configured).mcp.visibility
    }
  }

  snapshot(): ContextsSnapshot {
    return {
      opened: [...this.#byPath.values()],
      closed: this.#closed,
      mcpVisibility: this.#mcpVisibility,
      ...(this.hasPrivateRuns && { hasPrivateRuns: true }),
    }
  }

  /** What the snapshot holds belongs to this object from now on. */
  restore({
    opened,
    closed,
    mcpVisibility,
    hasPrivateRuns = opened.some(({ audience }) => audience),
  }: Restored): void {
    for (const context of opened) {
      this.#byPath.set(context.info.context, context)
      if (isOpen(context.info)) this.#open.add(context)
      this.#noteTriggers(context)
    }
    this.#closed = [...closed]
    this.#mcpVisibility = mcpVisibility
    this.hasPrivateRuns = hasPrivateRuns
  }

  get(path: string): ContextInfo | undefined {
    return this.#byPath.get(path)?.info
  }

  /** Who takes part in the run that this context belongs to; `undefined` = everyone, or it is a free path [MEUP-2.13]. */
  runAudience(path: string): readonly string[] | undefined {
    return this.#byPath.get(contextRoot(path))?.audience
  }

  /** The same of the run of this participant about one of these: `everyone` by its own word; `undefined` = there is none. */
  audienceAbout(owner: string, triggers: readonly string[]): readonly string[] | 'everyone' | undefined {
    for (const trigger of triggers) {
      const run = this.#byTrigger.get(`${owner} ${trigger}`)
      if (run !== undefined) return run.audience ?? 'everyone'
    }
    return undefined
  }

  /** Whether a start opens a context: nothing is opened below a path that is not open [MEUP-2.2]. */
  opens({ context }: Pick<Envelope, 'context'>): boolean {
    return context === undefined || this.get(context)?.state === 'open'
  }

  /** How the run that this context belongs to is hidden, if it is [MEUP-9.6]. */
  hiding(path: string): Hiding | undefined {
    const run = this.#byPath.get(contextRoot(path))?.info
    return run?.hiddenBy && { owner: run.owner, hiddenBy: run.hiddenBy }
  }

  /** Who runs what this context belongs to; `undefined` for a free path. */
  runOwner(path: string): string | undefined {
    return this.#byPath.get(contextRoot(path))?.info.owner
  }

  /** The open ones; of those whose start this reader may read, where one is given. */
  open(reader?: Reader): ContextInfo[] {
    return shownTo(reader, this.#open.list()).map(({ info }) => this.#asShown(info))
  }

  /** How many are open: of this participant, of all guests where it is one of them, and in all. */
  openCounts(owner: string): { readonly own: number; readonly guests: number; readonly all: number } {
    const { ofGuests, size } = this.#open
    return { own: this.#open.count(owner), guests: owner.startsWith(GUEST) ? ofGuests : 0, all: size }
  }

  /** What this participant has open, and which program of it opened each. */
  of(owner: string): OwnContext[] {
    return this.#open.of(owner).map(({ info, session, lastAt = info.startedAt }) => ({
      context: info.context,
      ...(session !== undefined && { session }),
      lastAt,
    }))
  }

  /** The contexts whose start this reader may read, open and closed, oldest first; of a path, it and those below. */
  report(reader: Reader, path?: string): ContextReport[] {
    const asked = path === undefined ? this.#byPath.values() : this.#below(path)
    return shownTo(reader, [...asked]).map((opened) => {
      const counts = shownCounts(opened, this.hiding(opened.info.context))
      return { ...this.#asShown(opened.info), counts }
    })
  }

  /** A nested context is as visible as its run; the flags are kept there alone. */
  #asShown(info: ContextInfo): ContextInfo {
    const { hiddenBy } = this.hiding(info.context) ?? {}
    return hiddenBy ? { ...info, reasoningVisible: false, hiddenBy: [...hiddenBy] } : info
  }

  /** Each before what is nested in it. */
  *#below(path: string): Generator<OpenedContext> {
    const opened = this.#byPath.get(path)
    if (opened === undefined) return
    yield opened
    for (const nested of opened.nested) yield* this.#below(nested)
  }

  #begin(start: Envelope): void {
    const parent = start.context === undefined ? undefined : this.#byPath.get(start.context)
    if (!this.opens(start)) return
    const { from, to, ts, session } = start
    const context = openedContext(start)
    const audience = intersect(to && [...to, from], parent?.audience)
    const opened: OpenedContext = {
      info: { context, owner: from, state: 'open', reasoningVisible: true, startedAt: ts },
      ...(audience && { audience }),
      ...(parent === undefined && keepsTriggers(start) && { triggers: correlations(start) }),
      ...(session !== undefined && { session }),
      nested: [],
      ...nothingBy(from),
    }
    if (audience !== undefined) this.hasPrivateRuns = true
    this.#noteTriggers(opened)
    this.#byPath.set(context, opened)
    this.#open.add(opened)
    parent?.nested.push(context)
  }

  /** Counts what is said in a context, but for what is addressed to some: the counts tell nobody more than it may read. */
  count(context: string, envelope: Envelope): void {
    const { kind, from, ts } = envelope
    const run = this.#byPath.get(contextRoot(context))
    if (run !== undefined && run.session === undefined && run.info.owner === from) run.lastAt = ts
    if (run?.audience !== undefined) return
    const rules = {
      mcpVisibility: this.#mcpVisibility,
      hasPrivateRuns: false,
      withholds: () => false,
      findOrigin: () => undefined,
      runAudience: () => undefined,
      deciders: () => [],
    }
    if (decideAudience(envelope, rules) !== undefined) return
    const isThinking = isThought(kind)
    const isOwn = isThinking && from === this.runOwner(context)
    for (let at: string | undefined = context; at !== undefined; at = contextParent(at)) {
      const opened = this.#byPath.get(at)
      if (opened === undefined) continue
      opened.envelopes++
      if (isThinking) opened.thoughts++
      if (isOwn) opened.ownerThoughts++
      if (from !== GATEWAY) countContributor(opened, from, isThinking)
    }
  }

  /** Only a run that goes on can be hidden; that it is over shows it [MEUP-9.7]. */
  #show(envelope: Envelope): void {
    const { context } = envelope.payload as VisibilityPayload
    const run = this.#byPath.get(context)
    if (run === undefined || contextParent(context) !== undefined || !isOpen(run.info)) return
    hide(run.info, hiddenByAfter(run.info, envelope))
  }

  #closeIfStarter({ context, from }: Envelope, state: 'concluded' | 'cancelled'): void {
    const opened = context === undefined ? undefined : this.#byPath.get(context)
    if (opened !== undefined && (opened.info.owner === from || from === GATEWAY)) this.#close(opened, state)
  }

  #close(opened: OpenedContext, state: 'concluded' | 'cancelled'): void {
    const { info, nested } = opened
    if (!isOpen(info)) return
    this.#open.delete(opened)
    info.state = state
    hide(info, undefined)
    this.#closed.push(info.context)
    for (const path of nested) {
      const inner = this.#byPath.get(path)
      if (inner !== undefined) this.#close(inner, state)
    }
    while (this.#closed.length > rememberedClosed) this.#forget(this.#closed.shift() ?? '')
  }

  #noteTriggers(run: OpenedContext): void {
    for (const trigger of run.triggers ?? []) this.#byTrigger.set(`${run.info.owner} ${trigger}`, run)
  }

  #forget(path: string): void {
    const { info, triggers = [] } = this.#byPath.get(path) ?? {}
    for (const trigger of triggers) {
      const key = `${info?.owner} ${trigger}`
      if (this.#byTrigger.get(key)?.info === info) this.#byTrigger.delete(key)
    }
    this.#byPath.delete(path)
    const siblings = this.#byPath.get(contextParent(path) ?? '')?.nested ?? []
    const at = siblings.indexOf(path)
    if (at !== -1) siblings.splice(at, 1)
  }
}

/** Whether answers without a context have to find the run: it is not as public as what it is about. */
const keepsTriggers = ({ to, payload }: Envelope): boolean => to !== undefined || payload.public === true

function hide(run: ContextInfo, hiddenBy: string[] | undefined): void {
  run.reasoningVisible = hiddenBy === undefined
  if (hiddenBy) run.hiddenBy = hiddenBy
  else delete run.hiddenBy
}

const isOpen = ({ state }: ContextInfo): boolean => state === 'open'

/** Who is in both; absent = everyone. That something is nested tells of what it is nested in [MEUP-8.1]. */
function intersect(some?: readonly string[], others?: readonly string[]): readonly string[] | undefined {
  if (some === undefined || others === undefined) return some ?? others
  return some.filter((each) => others.includes(each))
}

function shownTo(reader: Reader | undefined, all: OpenedContext[]): OpenedContext[] {
  if (reader === undefined) return all
  return all.filter(({ audience }) => mayRead(reader, audience && readers(audience)))
}

/** How much was said in a context and below it, of what is addressed to nobody. */
interface Counted {
  envelopes: number
  thoughts: number
  /** Thoughts of the owner of the run. */
  ownerThoughts: number
  /** Who has said more than thoughts. */
  readonly contributors: string[]
  /** Who has said nothing but thoughts. */
  readonly thinkers: string[]
}

export interface ContextCounts {
  readonly envelopes: number
  readonly thoughts: number
  readonly contributors: number
}

/** Contributors of one context past this many are not told apart. */
const remembered = 1000

const nothingBy = (owner: string): Counted => ({
  envelopes: 0,
  thoughts: 0,
  ownerThoughts: 0,
  contributors: [owner],
  thinkers: [],
})

/** What everyone may read of it, while its run is hidden like this, or by nobody. */
function shownCounts(counted: Counted, hiding: Hiding | undefined): ContextCounts {
  const { envelopes, thoughts, ownerThoughts, contributors, thinkers } = counted
  if (hiding === undefined) {
    return { envelopes, thoughts, contributors: contributors.length + thinkers.length }
  }
  const isAllHidden = hiding.hiddenBy?.some((id) => id !== hiding.owner)
  const withheld = isAllHidden ? thoughts : ownerThoughts
  const shown = thinkers.filter((id) => !withholds(hiding, id))
  return {
    envelopes: envelopes - withheld,
    thoughts: thoughts - withheld,
    contributors: contributors.length + shown.length,
  }
}

/** A participant that says more than thoughts moves from `thinkers` to `contributors`. */
function countContributor({ contributors, thinkers }: Counted, id: string, isThought: boolean): void {
  if (contributors.includes(id)) return
  const at = thinkers.indexOf(id)
  if (at === -1 && contributors.length + thinkers.length >= remembered) return
  if (!isThought) {
    if (at !== -1) thinkers.splice(at, 1)
    contributors.push(id)
  } else if (at === -1) {
    thinkers.push(id)
  }
}

/** What is known of the contexts that are open, in the order in which they were opened. */
class OpenContexts<Opened extends { readonly info: ContextInfo }> {
  readonly #all = new Set<Opened>()
  readonly #byOwner = new Map<string, Set<Opened>>()
  #ofGuests = 0

  /** Of all guests together. */
  get ofGuests(): number {
    return this.#ofGuests
  }

  get size(): number {
    return this.#all.size
  }

  list(): Opened[] {
    return [...this.#all]
  }

  of(owner: string): Opened[] {
    return [...(this.#byOwner.get(owner) ?? [])]
  }

  count(owner: string): number {
    return this.#byOwner.get(owner)?.size ?? 0
  }

  add(opened: Opened): void {
    const { owner } = opened.info
    this.#all.add(opened)
    if (owner.startsWith(GUEST)) this.#ofGuests++
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(opened))
  }

  delete(opened: Opened): void {
    const { owner } = opened.info
    const own = this.#byOwner.get(owner)
    if (this.#all.delete(opened) && owner.startsWith(GUEST)) this.#ofGuests--
    own?.delete(opened)
    if (own?.size === 0) this.#byOwner.delete(owner)
  }
}
