import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type LineCounter } from 'yaml'

/** A file as read: nodes that know their places. */
export interface Source {
  readonly document: Document.Parsed
  readonly lines: LineCounter
}

/** Keys and indexes from the root. */
export type Path = readonly string[]

/** What is wrong with a value, or with its key. */
export interface Finding {
  readonly path: Path
  readonly message: string
  /** What to point at; what is missing is shown at the map that lacks it. */
  readonly at: 'key' | 'value'
}

/** Where something stands; lines and columns count from 1. */
export function locate(
  { document, lines }: Source,
  path: Path,
  at: Finding['at'],
): { line: number; column: number } {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const [depth, segment] of path.entries()) {
    const child = childOf(node, segment, document)
    if (child === undefined) break
    const key = startOf(child.key)
    const wantsKey = at === 'key' && depth === path.length - 1
    offset = (wantsKey ? key : startOf(child.value)) ?? key ?? offset
    node = child.value
  }
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/** What stands under a path; `undefined` = nothing does. */
export function find({ document }: Source, path: Path): { key: unknown; value: unknown } | undefined {
  let found: { key: unknown; value: unknown } | undefined = { key: undefined, value: document.contents }
  for (const segment of path) {
    found = childOf(found.value, segment, document)
    if (found === undefined) return undefined
  }
  return found
}

export const keyOf = (key: unknown): string => String(isScalar(key) ? key.value : key)

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined)

/** Of a key that is there twice the last is meant, as in the plain value. */
function childOf(
  node: unknown,
  segment: string,
  document: Document,
): { key: unknown; value: unknown } | undefined {
  const parent = isAlias(node) ? node.resolve(document) : node
  if (isMap(parent)) return parent.items.findLast(({ key }) => keyOf(key) === segment)
  if (!isSeq(parent)) return undefined
  const item = parent.items[Number(segment)]
  return item === undefined ? undefined : { key: item, value: item }
}
