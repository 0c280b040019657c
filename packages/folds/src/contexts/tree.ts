import { contextParent } from '@meup/protocol'
import type { ContextNode, ContextView } from './context-view.js'

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
