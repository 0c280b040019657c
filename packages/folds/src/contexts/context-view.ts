import { contextParent, type Envelope, isContextAncestor } from '@meup/protocol'
import type { Quoted, Source } from '../source.js'

/** Something that reasoning builds on. */
export interface Reference {
  readonly id: string
  /** Whether there is an envelope with this id. */
  readonly isResolved: boolean
}

/** A context: one that a start has opened, or a free path, which groups envelopes and has no state [MEUP-2.8]. */
export interface ContextView {
  readonly context: string
  readonly state: 'open' | 'concluded' | 'cancelled' | 'free'
  /** Who opened it; `null` for a free path. */
  readonly owner: string | null
  /** Its start. */
  readonly opening: Quoted | null
  /** What ended it; the text is the conclusion, or why it was cancelled. */
  readonly ending: Quoted | null
  /** `false` while its run is hidden [MEUP-9.6]. */
  readonly reasoningVisible: boolean
  /** Who hides its run: the owner its own thoughts, anybody else all of them. */
  readonly hiddenBy: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly references: readonly Reference[]
  /** Everybody who has said something in it or below it. */
  readonly contributors: readonly string[]
  /** In it and below it. `late`: after its end. */
  readonly counts: Counts
  /** The answer that its run led to [MEUP-2.10]. */
  readonly answer: Source | null
  /** Ids of the proposals that are based on it or were made in it, the latest 100. */
  readonly proposals: readonly string[]
  /** By the gateway's clock. A free path starts with its first envelope and never ends. */
  readonly startedAt: string
  /** Of the first envelope that told of it. */
  readonly firstSeq: number
  readonly endedAt: string | null
  /** When the gateway cancels it, at the earliest, as its owner has left; `null` while the owner is here [MEUP-2.3]. */
  readonly expiresAt: string | null
  /** From start to end, in milliseconds. */
  readonly duration: number | null
}

export interface Counts {
  readonly envelopes: number
  readonly thoughts: number
  readonly calls: number
  readonly late: number
}

/** A context and what is nested in it. */
export interface ContextNode extends ContextView {
  readonly children: readonly ContextNode[]
}

/** Whether an envelope came after the end of its context, or of one around it [MEUP-2.7]. */
export function isLate(
  { context, seq = 0 }: Envelope,
  getContext: (context: string) => ContextView | undefined,
): boolean {
  for (let at = context; at !== undefined; at = contextParent(at)) {
    const { state = 'free', ending } = getContext(at) ?? {}
    if (state !== 'free' && ending && seq > ending.source.seq) return true
  }
  return false
}

/** The roots, oldest first; a context whose parent is not among them stands as a root itself. */
export function contextTree(contexts: Iterable<ContextView>): readonly ContextNode[] {
  const nodes = new Map<string, ContextView & { children: ContextNode[] }>()
  for (const each of contexts) nodes.set(each.context, { ...each, children: [] })
  const roots: ContextNode[] = []
  for (const node of [...nodes.values()].sort(byAge)) {
    const parent = nodes.get(contextParent(node.context) ?? '')
    ;(parent?.children ?? roots).push(node)
  }
  return roots
}

function byAge(one: ContextView, other: ContextView): number {
  if (one.startedAt === other.startedAt) return one.firstSeq - other.firstSeq
  return one.startedAt < other.startedAt ? -1 : 1
}

/** Whether a path is this context, or is below it. */
export const isInside = (context: string, path: string | undefined): boolean =>
  path !== undefined && (path === context || isContextAncestor(context, path))
