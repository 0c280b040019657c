import { isDeepStrictEqual } from 'node:util'
import { isMap, isNode, isScalar, stringify, type YAMLMap } from 'yaml'
import { isMapValue } from './validate.js'
import { plainValue, readYaml, type YamlSource } from './yaml-source.js'

interface Placement {
  /** Keys of the map of participants, from the root. */
  readonly place: readonly string[]
  readonly id: string
  readonly participant: object
}

/**
 * Returns the text of space.yaml with this participant added or replaced. With a block map of participants, other lines are
 * unchanged; with a flow map such as `{ ana: … }`, the file is reformatted, with its comments kept. `undefined` if the map is a
 * YAML alias, which cannot be changed.
 */
export function putParticipant(text: string, placement: Placement): string | undefined {
  const { source } = readYaml(text)
  const wanted = setPlain(plainValue(source), placement)
  const candidates = [() => splice(text, source, placement), () => rewrite(source, placement)]
  for (const write of candidates) {
    const written = write()
    if (written !== undefined && isDeepStrictEqual(tryToRead(written), wanted)) return written
  }
  return undefined
}

function setPlain(root: unknown, { place, id, participant }: Placement): unknown {
  const wanted = structuredClone(root)
  let map = wanted
  for (const key of place) {
    if (!isMapValue(map)) return undefined
    map[key] ??= {}
    map = map[key]
  }
  if (isMapValue(map)) map[id] = structuredClone(participant)
  return wanted
}

function tryToRead(text: string): unknown {
  const { source, problems } = readYaml(text)
  return problems.length === 0 ? plainValue(source) : undefined
}

/** Changes only the participant's lines. */
function splice(
  text: string,
  { document }: YamlSource,
  { place, id, participant }: Placement,
): string | undefined {
  const map = document.getIn(place, true)
  const items = isMap(map) && !map.flow ? map.items : []
  const last = items.at(-1)
  const start = getStart(items[0]?.key)
  if (last === undefined || start === undefined) return undefined
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start)
  if (indent.trim() !== '') return undefined
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const block = stringify({ [id]: participant }, { lineWidth: 0 })
    .trimEnd()
    .replace(/\n(?=.)/g, `${newline}${indent}`)
  const old = items.find(({ key }) => isScalar(key) && key.value === id)
  const from = getStart(old?.key)
  if (old !== undefined && from !== undefined)
    return text.slice(0, from) + block + text.slice(findEnd(text, old))
  const end = findEnd(text, last)
  const lineEnd = end + (/\r?\n/.exec(text.slice(end))?.index ?? text.length - end)
  return `${text.slice(0, lineEnd)}${newline}${newline}${indent}${block}${text.slice(lineEnd) || newline}`
}

const getStart = (key: unknown): number | undefined => (isScalar(key) ? key.range?.[0] : undefined)

/** The offset of a participant's end, including a comment on its last line. */
function findEnd(text: string, { key, value }: YAMLMap['items'][number]): number {
  const node = value ?? key
  return text.slice(0, isNode(node) ? node.range?.[1] : 0).trimEnd().length
}

function rewrite({ document }: YamlSource, { place, id, participant }: Placement): string | undefined {
  const nodes = place.map((_, depth) => document.getIn(place.slice(0, depth + 1), true))
  const last = nodes.at(-1)
  if (nodes.every(isMap)) document.setIn([...place, id], document.createNode(participant))
  else if (
    nodes.slice(0, -1).every(isMap) &&
    (last === undefined || (isScalar(last) && last.value === null))
  ) {
    const first = document.createNode({ [id]: participant })
    first.commentBefore = last?.comment ?? null
    document.setIn(place, first)
  } else return undefined
  return document.toString({ lineWidth: 0 })
}
