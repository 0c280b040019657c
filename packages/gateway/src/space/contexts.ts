import { type ContextInfo, contextRoot, type Envelope, GATEWAY, Kind, openedContext } from '@meup/protocol'

interface OpenedContext extends ContextInfo {
  readonly nested: string[]
}

/** Closed contexts past this many are forgotten; what is said in them then is said in a free path. */
const rememberedClosed = 10_000

/** The contexts that reasoning opened, and who may close them [MEUP-2.2, 2.4]. A fold over the log. */
export class Contexts {
  readonly #byPath = new Map<string, OpenedContext>()
  readonly #closed: string[] = []

  apply(envelope: Envelope): void {
    if (envelope.kind === Kind.reasoningStart) this.#open(envelope)
    else if (envelope.kind === Kind.reasoningConclusion) this.#closeIfStarter(envelope, 'concluded')
    else if (envelope.kind === Kind.reasoningCancel) this.#closeIfStarter(envelope, 'cancelled')
  }

  get(path: string): ContextInfo | undefined {
    return this.#byPath.get(path)
  }

  /** Who runs what this context belongs to; `undefined` for a free path. */
  runOwner(path: string): string | undefined {
    return this.#byPath.get(contextRoot(path))?.owner
  }

  open(): ContextInfo[] {
    return [...this.#byPath.values()].filter(isOpen).map(({ nested: _, ...info }) => info)
  }

  /** The outermost contexts that this participant left open. */
  leftOpenBy(owner: string): ContextInfo[] {
    return this.open().filter((context) => context.owner === owner)
  }

  #open(start: Envelope): void {
    const parent = start.context === undefined ? undefined : this.#byPath.get(start.context)
    if (start.context !== undefined && (parent === undefined || !isOpen(parent))) return
    const context = openedContext(start)
    this.#byPath.set(context, {
      context,
      owner: start.from,
      state: 'open',
      reasoningVisible: true,
      startedAt: start.ts,
      nested: [],
    })
    parent?.nested.push(context)
  }

  #closeIfStarter({ context, from }: Envelope, state: 'concluded' | 'cancelled'): void {
    const opened = context === undefined ? undefined : this.#byPath.get(context)
    if (opened !== undefined && (opened.owner === from || from === GATEWAY)) this.#close(opened, state)
  }

  #close(opened: OpenedContext, state: 'concluded' | 'cancelled'): void {
    if (!isOpen(opened)) return
    opened.state = state
    this.#closed.push(opened.context)
    for (const path of opened.nested) {
      const inner = this.#byPath.get(path)
      if (inner !== undefined) this.#close(inner, state)
    }
    while (this.#closed.length > rememberedClosed) this.#byPath.delete(this.#closed.shift() ?? '')
  }
}

const isOpen = ({ state }: ContextInfo): boolean => state === 'open'
