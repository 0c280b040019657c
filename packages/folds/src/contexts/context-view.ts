import { contextParent, type Envelope, isContextAncestor } from '@meup/protocol'
import type { Quoted, Source } from '../source.js'

/** A resolved or missing entry of `references` in a payload. */
export interface Reference {
  readonly id: string
  /** Whether an envelope with this id exists. */
  readonly isResolved: boolean
}

/**
 * A context that a `reasoning.start` opened; or a free path, which no start opened: it groups envelopes and has no state
 * [MEUP-2.8].
 */
export interface ContextView {
  readonly context: string
  readonly state: 'open' | 'concluded' | 'cancelled' | 'free'
  /** The participant that opened the context; `null` for a free path. */
  readonly owner: string | null
  /** The text of the `reasoning.start` that opened the context. */
  readonly opening: Quoted | null
  /** The text that ended the context: the conclusion, or the reason of the cancellation. */
  readonly ending: Quoted | null
  /** `false` while the run of the context is hidden [MEUP-9.6]. */
  readonly reasoningVisible: boolean
  /** Participants that hide the run of the context: its owner hides its own thoughts, others hide all thoughts. */
  readonly hiddenBy: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly references: readonly Reference[]
  /** Senders of envelopes in the context or its nested contexts. */
  readonly contributors: readonly string[]
  /** Numbers of envelopes in the context and its nested contexts; `late`: envelopes after its end. */
  readonly counts: Counts
  /** The final answer of the run of the context [MEUP-2.10]. */
  readonly answer: Source | null
  /** Ids of the latest 100 proposals in the context, or about it. */
  readonly proposals: readonly string[]
  /**
   * Time of opening by the gateway's clock. A free path, which no start opens, begins with its first envelope and never ends.
   */
  readonly startedAt: string
  /** Seq of the first envelope in the context. */
  readonly firstSeq: number
  readonly endedAt: string | null
  /** The earliest time at which the gateway cancels the context; `null` while its owner is present [MEUP-2.3]. */
  readonly expiresAt: string | null
  /** Milliseconds from start to end; `null` while the context is open. */
  readonly duration: number | null
}

export interface Counts {
  readonly envelopes: number
  readonly thoughts: number
  readonly calls: number
  readonly late: number
}

/** A context with its nested contexts. */
export type ContextNode<Each = ContextView> = Each & { readonly children: readonly ContextNode<Each>[] }

/** Whether an envelope came after the end of its context or an enclosing one [MEUP-2.7]. */
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

/** Arranges contexts as trees. Returns the roots, oldest first. */
export const contextTree = (contexts: Iterable<ContextView>): readonly ContextNode[] =>
  nestContexts([...contexts].sort(byAge))

/** Arranges contexts as trees. Returns the roots in the order of the list; a context whose parent is not in it is a root. */
export function nestContexts<Each extends { readonly context: string }>(
  contexts: readonly Each[],
): readonly ContextNode<Each>[] {
  type Node = Each & { readonly children: Node[] }
  const nodes = new Map(contexts.map((each): [string, Node] => [each.context, { ...each, children: [] }]))
  const roots: Node[] = []
  for (const node of nodes.values())
    (nodes.get(contextParent(node.context) ?? '')?.children ?? roots).push(node)
  return roots
}

function byAge(one: ContextView, other: ContextView): number {
  if (one.startedAt === other.startedAt) return one.firstSeq - other.firstSeq
  return one.startedAt < other.startedAt ? -1 : 1
}

/** Whether a path is this context or below it. */
export const isInside = (context: string, path: string | undefined): boolean =>
  path !== undefined && (path === context || isContextAncestor(context, path))
