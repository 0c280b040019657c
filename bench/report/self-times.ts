import type { CpuProfile, ProfileNode } from '../load/inspector.js'

const outside = new Set(['(idle)', '(root)'])

/** Self time in microseconds by node, and the parent of each node. */
export interface Times {
  readonly self: ReadonlyMap<ProfileNode, number>
  readonly parents: ReadonlyMap<ProfileNode, ProfileNode>
  /** Microseconds in which the thread was not idle. */
  readonly busy: number
}

export function timesOf({ nodes, samples, timeDeltas }: CpuProfile): Times {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map<ProfileNode, ProfileNode>()
  for (const node of nodes) {
    for (const id of node.children ?? []) {
      const child = byId.get(id)
      if (child !== undefined) parents.set(child, node)
    }
  }
  const self = new Map<ProfileNode, number>()
  let busy = 0
  samples.forEach((id, i) => {
    const node = byId.get(id)
    const delta = Math.max(0, timeDeltas[i] ?? 0)
    if (node === undefined || outside.has(node.callFrame.functionName)) return
    busy += delta
    self.set(node, (self.get(node) ?? 0) + delta)
  })
  return { self, parents, busy }
}

export interface SelfTime {
  readonly name: string
  /** Share of the time in which the thread was busy. */
  readonly part: number
}

/** Lists the functions or files with the most self time. */
export function topOf({ self, busy }: Times, by: 'function' | 'file', maximum: number): SelfTime[] {
  const sums = new Map<string, number>()
  for (const [{ callFrame }, time] of self) {
    const { functionName, url, lineNumber } = callFrame
    const file = shortUrl(url)
    const name =
      by === 'file' ? file || functionName : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`
    sums.set(name, (sums.get(name) ?? 0) + time)
  }
  return [...sums]
    .sort(([, one], [, other]) => other - one)
    .slice(0, maximum)
    .map(([name, time]) => ({ name, part: time / busy }))
}

const root = new URL('../..', import.meta.url).pathname

/** Shortens a URL to the end that still identifies it. */
const shortUrl = (url: string): string =>
  url
    .replace(/^file:\/\//, '')
    .replace(root, '')
    .replace(/^.*node_modules\//, '')
