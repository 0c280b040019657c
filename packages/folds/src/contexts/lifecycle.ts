import { contextParent, type Envelope, GATEWAY, isContextAncestor, Kind, openedContext } from '@meup/protocol'
import { Register, type RegisterSnapshot } from '../bounded.js'

/** A context that a start has opened. */
export interface Opened {
  readonly context: string
  readonly starter: string
  readonly state: 'open' | 'concluded' | 'cancelled'
}

export type LifecycleSnapshot = RegisterSnapshot<Opened>

const isOpen = ({ state }: Opened): boolean => state === 'open'
const none: readonly Opened[] = []

/** Which contexts are open [MEUP-2.2 to 2.6]. */
export class Lifecycle {
  readonly #contexts = new Register<Opened>({ isOpen, capacity: { open: 10_000, over: 10_000 } })

  /** The contexts that this envelope opens or closes, the outermost first. */
  apply(envelope: Envelope): readonly Opened[] {
    if (envelope.kind === Kind.reasoningStart) return this.#open(envelope)
    if (envelope.kind === Kind.reasoningConclusion) return this.#close(envelope, 'concluded')
    return envelope.kind === Kind.reasoningCancel ? this.#close(envelope, 'cancelled') : none
  }

  /** Adds an open context that a welcome lists. */
  learn(opened: Opened): void {
    if (this.#contexts.get(opened.context) === undefined) this.#contexts.set(opened.context, opened)
  }

  /** Whether the context of this path has ended [MEUP-2.7]. */
  isOver(path: string): boolean {
    for (let at: string | undefined = path; at !== undefined; at = contextParent(at)) {
      const opened = this.#contexts.get(at)
      if (opened !== undefined) return !isOpen(opened)
    }
    return false
  }

  snapshot(): LifecycleSnapshot {
    return this.#contexts.snapshot()
  }

  restore(snapshot: LifecycleSnapshot): void {
    this.#contexts.restore(snapshot)
  }

  #open(start: Envelope): readonly Opened[] {
    if (start.context !== undefined && this.#contexts.get(start.context)?.state !== 'open') return none
    const opened: Opened = { context: openedContext(start), starter: start.from, state: 'open' }
    this.#contexts.set(opened.context, opened)
    return [opened]
  }

  #close({ context = '', from }: Envelope, state: Opened['state']): readonly Opened[] {
    const outermost = this.#contexts.get(context)
    if (outermost === undefined || !isOpen(outermost)) return none
    if (outermost.starter !== from && from !== GATEWAY) return none
    const nested = [...this.#contexts.open()].filter((each) => isContextAncestor(context, each.context))
    const closed = [outermost, ...nested].map((each) => ({ ...each, state }))
    for (const each of closed) this.#contexts.set(each.context, each)
    return closed
  }
}
