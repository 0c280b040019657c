import { type Frame, frameOf, type Glob, headOf } from './glob.js'
import type { Node } from './parse.js'
import { type Path, pathOf } from './path.js'
import { compileNode, type Test } from './value.js'

/** What is asked of the text at a place: to be another; to be framed by two, or not; to begin with one and pass a test. */
export const EQUAL = 0
export const FRAMED = 1
export const NOT_FRAMED = 2
export const TEST = 3

/** What a pattern asks of one place in a payload. Where it is not `NOT_FRAMED`, all that passes begins with `head`. */
export interface Question {
  readonly path: Path
  readonly asked: number
  readonly head: string
  readonly tail: string
  /** What a frame is without, or a test. */
  readonly more: Frame['without'] | Test
}

/** What a pattern asks of the fields of nested objects, where they are; what differs most often comes first. */
export function questionsOf(pattern: Node): Question[] {
  const begun: Question[] = []
  const literals: Question[] = []
  const others: Question[] = []

  function add(node: Node, keys: readonly string[]): void {
    const path = pathOf(keys)
    if (node.type === 'glob' && node.text !== undefined)
      literals.push({ path, asked: EQUAL, head: node.text, tail: '', more: undefined })
    else if (node.type !== 'object' || node.fields.length === 0) {
      const framed = framedQuestions(node, path)
      if (framed === undefined)
        others.push({ path, asked: TEST, head: headOf(onlyGlob(node)), tail: '', more: compileNode(node) })
      else if (framed[0]?.head === '') others.push(...framed)
      else begun.push(...framed)
    } else {
      for (const [key, field] of node.fields) add(field, [...keys, key])
      if (node.inside !== undefined) add({ type: 'object', fields: [], inside: node.inside }, keys)
    }
  }

  add(pattern, [])
  return [...begun, ...literals, ...others]
}

/** The questions for what a single glob must match, and others must not; undefined for any other pattern. */
function framedQuestions(node: Node, path: Path): Question[] | undefined {
  const { some, none } = node.type === 'choice' ? node : { some: [node], none: [] }
  const [only, ...others] = some
  if (only === undefined || others.length > 0) return undefined
  const taken = questionOf(only, path, FRAMED)
  const refused = none.map((each) => questionOf(each, path, NOT_FRAMED))
  return taken && refused.every((each) => each !== undefined) ? [taken, ...refused] : undefined
}

function questionOf(node: Node, path: Path, asked: number): Question | undefined {
  const frame = node.type === 'glob' ? frameOf(node) : undefined
  return frame && { path, asked, head: frame.head, tail: frame.tail, more: frame.without }
}

/** The one glob that a matching string must match, where there is one. */
function onlyGlob(node: Node): Glob | undefined {
  if (node.type === 'glob') return node
  const [only, ...more] = node.type === 'choice' ? node.some : []
  return more.length === 0 && only?.type === 'glob' ? only : undefined
}
