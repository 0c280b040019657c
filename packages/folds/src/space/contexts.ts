import {
  type ContextInfo,
  contextParent,
  contextRoot,
  type Envelope,
  GATEWAY,
  hiddenByAfter,
  Kind,
  openedContext,
  type WelcomePayload,
  withholds,
} from '@meup/protocol'
import { Oldest } from '../bounded.js'

/** A context opened by a start [MEUP-2.2]. */
export interface OpenedContext {
  readonly context: string
  readonly owner: string
  readonly state: 'open' | 'concluded' | 'cancelled'
  /** Time of opening by the gateway's clock. */
  readonly startedAt: string
  /** Session of the program that opened the context; absent = unnamed. */
  readonly session?: string
  /** Participants that hide a run [MEUP-9.6]; absent = visible, or not a run. */
  readonly hiddenBy?: readonly string[]
}

/** A context that an envelope has opened, closed, hidden or shown, or that was forgotten. */
export interface ContextStateChange {
  /**
   * The kind of change. `visibility`: a run was hidden or shown. `forgotten`: dropped, beyond the capacity for open or closed
   * contexts.
   */
  readonly what: 'opened' | 'closed' | 'visibility' | 'forgotten'
  readonly opened: OpenedContext
}

export interface ContextStatesSnapshot {
  /** All kept contexts in the order of opening. */
  readonly opened: readonly OpenedContext[]
  /** Paths of the closed contexts, in the order of closing. */
  readonly closed: readonly string[]
}

interface Capacity {
  /**
   * Maximum number of open contexts; the oldest are dropped, because a client that filters reasoning never sees them end.
   * Default: 10,000.
   */
  readonly open?: number
  /**
   * Maximum number of closed contexts. An envelope in a forgotten one counts as sent in a context that was never opened.
   * Default: 10,000.
   */
  readonly closed?: number
}

const none: readonly ContextStateChange[] = []

/**
 * The contexts opened by reasoning, with their owners, states and visibility [MEUP-2.2 to 2.6, 9.6]. Free paths, which no start
 * opened, are not kept. Apply each envelope once, in log order.
 */
export class ContextStates {
  readonly #capacity: Required<Capacity>
  /** Open and closed contexts by path, in the order of opening, like `#open`. */
  readonly #all = new Map<string, OpenedContext>()
  readonly #open = new Map<string, OpenedContext>()
  /** Open nested contexts by the context that they are directly in, so that ending one scans no others. */
  readonly #nested = new Map<string, Map<string, OpenedContext>>()
  readonly #closed = new Set<string>()
  readonly #oldestOpen = new Oldest(this.#open)
  readonly #oldestClosed = new Oldest(this.#closed)
  /**
   * Seq of the log's head in the last welcome. The state of the welcome includes the envelopes up to it, so replayed ones have
   * no effect.
   */
  #head = 0

  constructor({ open = 10_000, closed = 10_000 }: Capacity = {}) {
    this.#capacity = { open, closed }
  }

  get(path: string): OpenedContext | undefined {
    return this.#all.get(path)
  }

  /** Finds the run that a context belongs to; `undefined` if its root was not opened. */
  getRun(path: string): OpenedContext | undefined {
    return this.#all.get(contextRoot(path))
  }

  /** Iterates over the open contexts, oldest first. */
  open(): Iterable<OpenedContext> {
    return this.#open.values()
  }

  get openCount(): number {
    return this.#open.size
  }

  /** Iterates over open and closed contexts in the order of opening: a context comes before its nested ones. */
  values(): Iterable<OpenedContext> {
    return this.#all.values()
  }

  /** Whether the context has ended [MEUP-2.7]. */
  isOver(path: string): boolean {
    for (let at: string | undefined = path; at !== undefined; at = contextParent(at)) {
      const opened = this.#all.get(at)
      if (opened !== undefined) return opened.state !== 'open'
    }
    return false
  }

  /** Whether a start opens a context; below a closed path it does not [MEUP-2.2]. */
  opens({ context }: Pick<Envelope, 'context'>): boolean {
    return context === undefined || this.#open.has(context)
  }

  /** Whether only this participant may read its thoughts in a context [MEUP-9.6]. */
  withholds(path: string, from: string): boolean {
    const run = this.getRun(path)
    return run?.hiddenBy !== undefined && withholds(run, from)
  }

  /** Converts a context to its form in a welcome. */
  toInfo({ context, owner, state, startedAt }: OpenedContext): ContextInfo {
    return { context, owner, state, ...toVisibility(this.getRun(context)?.hiddenBy), startedAt }
  }

  /** Applies the next envelope. Returns the changes, those of outer contexts first. */
  apply(envelope: Envelope): readonly ContextStateChange[] {
    const { kind, seq } = envelope
    if (seq !== undefined && seq <= this.#head) return none
    if (kind === Kind.reasoningStart) return this.#begin(envelope)
    if (kind === Kind.reasoningConclusion) return this.#close(envelope, 'concluded')
    if (kind === Kind.reasoningCancel) return this.#close(envelope, 'cancelled')
    return kind === Kind.observeVisibility ? this.#show(envelope) : none
  }

  /** Replaces the state by a welcome. Returns the runs that were hidden or shown since the last envelope. */
  onWelcome({ contexts, space }: Pick<WelcomePayload, 'contexts' | 'space'>): readonly ContextStateChange[] {
    const before = [...this.#open.values()]
    this.#head = space.head
    for (const all of [this.#all, this.#open, this.#nested, this.#closed]) all.clear()
    for (const each of contexts) this.learn(each)
    return before.flatMap((then) => {
      const opened = this.#all.get(then.context) ?? withHiding(then, undefined)
      return opened.hiddenBy?.join() === then.hiddenBy?.join() ? [] : [{ what: 'visibility', opened }]
    })
  }

  /** Adds an open context of a welcome, unless it is known. */
  learn({ context, owner, startedAt, hiddenBy }: Omit<ContextInfo, 'reasoningVisible'>): void {
    if (this.#all.has(context)) return
    const isHidden = hiddenBy?.length && contextParent(context) === undefined
    this.#set(withHiding({ context, owner, state: 'open', startedAt }, isHidden ? hiddenBy : undefined))
  }

  snapshot(): ContextStatesSnapshot {
    return { opened: [...this.#all.values()], closed: [...this.#closed] }
  }

  restore({ opened, closed }: ContextStatesSnapshot): void {
    for (const each of opened) this.#set(each)
    for (const path of closed) this.#closed.add(path)
  }

  #begin(start: Envelope): readonly ContextStateChange[] {
    const context = openedContext(start)
    const known = this.#all.get(context)
    if (!this.opens(start) || (known !== undefined && known.state !== 'open')) return none
    const { from: owner, ts: startedAt, session } = start
    const begun = {
      context,
      owner,
      state: 'open',
      startedAt,
      ...(session !== undefined && { session }),
    } as const
    const opened = withHiding(begun, known?.hiddenBy)
    this.#set(opened)
    if (this.#open.size <= this.#capacity.open) return [{ what: 'opened', opened }]
    const oldest = this.#forget(this.#oldestOpen.next() ?? '')
    return [{ what: 'opened', opened }, ...oldest]
  }

  /** The owner and the gateway end a context with its nested ones; a cancel of another participant is a request [MEUP-2.4]. */
  #close({ context = '', from }: Envelope, state: 'concluded' | 'cancelled'): readonly ContextStateChange[] {
    const outermost = this.#open.get(context)
    if (outermost === undefined || (from !== outermost.owner && from !== GATEWAY)) return none
    const changes: ContextStateChange[] = []
    for (const each of this.#listWithNested(outermost)) {
      const opened = { ...withHiding(each, undefined), state }
      this.#set(opened)
      this.#closed.add(opened.context)
      changes.push({ what: 'closed', opened })
    }
    // A hidden run becomes visible when it ends [MEUP-9.7].
    const [{ opened } = {}] = changes
    if (outermost.hiddenBy && opened) changes.push({ what: 'visibility', opened })
    while (this.#closed.size > this.#capacity.closed)
      changes.push(...this.#forget(this.#oldestClosed.next() ?? ''))
    return changes
  }

  /** Hides or shows a run, if it is open. */
  #show(envelope: Envelope): readonly ContextStateChange[] {
    const run = this.#open.get(String(envelope.payload.context))
    if (run === undefined || contextParent(run.context) !== undefined) return none
    const hiddenBy = hiddenByAfter(run, envelope)
    if (hiddenBy?.join() === run.hiddenBy?.join()) return none
    const opened = withHiding(run, hiddenBy)
    this.#set(opened)
    return [{ what: 'visibility', opened }]
  }

  #set(opened: OpenedContext): void {
    const { context, state } = opened
    this.#all.set(context, opened)
    if (state !== 'open') this.#unsetOpen(context)
    else {
      this.#open.set(context, opened)
      const parent = contextParent(context)
      if (parent === undefined) return
      this.#nested.set(parent, (this.#nested.get(parent) ?? new Map()).set(context, opened))
    }
  }

  /** Lists a context and its open nested ones, outer contexts first. Not recursive: a path may have many steps. */
  #listWithNested(outermost: OpenedContext): OpenedContext[] {
    const found = [outermost]
    for (const { context } of found) found.push(...(this.#nested.get(context)?.values() ?? []))
    return found
  }

  #unsetOpen(context: string): void {
    this.#open.delete(context)
    const parent = contextParent(context) ?? ''
    const siblings = this.#nested.get(parent)
    if (siblings?.delete(context) && siblings.size === 0) this.#nested.delete(parent)
  }

  #forget(path: string): readonly ContextStateChange[] {
    const opened = this.#all.get(path)
    this.#unsetOpen(path)
    for (const each of [this.#all, this.#closed]) each.delete(path)
    return opened === undefined ? none : [{ what: 'forgotten', opened }]
  }
}

function withHiding(opened: OpenedContext, hiddenBy: readonly string[] | undefined): OpenedContext {
  if (hiddenBy !== undefined) return { ...opened, hiddenBy }
  if (opened.hiddenBy === undefined) return opened
  const { hiddenBy: _, ...visible } = opened
  return visible
}

export const toVisibility = (
  hiddenBy: readonly string[] | undefined,
): Pick<ContextInfo, 'reasoningVisible' | 'hiddenBy'> =>
  hiddenBy === undefined ? { reasoningVisible: true } : { reasoningVisible: false, hiddenBy: [...hiddenBy] }
