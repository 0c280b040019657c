import { type Frame, frameOf, type Glob, headOf, isFramed } from './glob.js'
import type { Node } from './parse.js'
import { type Places, ROOT } from './places.js'
import { compileNode, type Test } from './value.js'

/** What is asked of the text at a place: to be another; to be framed by two, or not; to begin with one and pass a test. */
const EQUAL = 0
const FRAMED = 1
const NOT_FRAMED = 2
const TEST = 3

/** A question is the place, what is asked, a text, another one, and what a frame is without, or a test. */
const WIDTH = 5

/**
 * A test of the payload that `places` looks at: its questions, one behind the other in a single array. Each object more
 * is another wait for memory, where thousands of participants are checked by turns.
 */
export type PayloadTest = readonly (number | string | Test | undefined)[]

/**
 * Compiles a pattern for payloads: the fields of nested objects are tested where they are, what differs most often
 * first.
 */
export function compilePayload(pattern: Node, places: Places): PayloadTest {
  const begun: PayloadTest[] = []
  const literals: PayloadTest[] = []
  const others: PayloadTest[] = []

  function add(node: Node, place: number): void {
    if (node.type === 'glob' && node.text !== undefined)
      literals.push([place, EQUAL, node.text, '', undefined])
    else if (node.type !== 'object' || node.fields.length === 0) {
      const framed = framedQuestions(node, place)
      const [head = ''] = framed === undefined ? [] : [framed[2]]
      if (framed === undefined) others.push([place, TEST, headOf(onlyGlob(node)), '', compileNode(node)])
      else if (head === '') others.push(framed)
      else begun.push(framed)
    } else {
      for (const [key, field] of node.fields) add(field, places.at(place, key))
      if (node.inside !== undefined) add({ type: 'object', fields: [], inside: node.inside }, place)
    }
  }

  add(pattern, ROOT)
  return [...begun, ...literals, ...others].flat()
}

/** The questions for what a single glob must match, and others must not; undefined for any other pattern. */
function framedQuestions(node: Node, place: number): PayloadTest | undefined {
  const { some, none } = node.type === 'choice' ? node : { some: [node], none: [] }
  const [only, ...more] = some
  if (only === undefined || more.length > 0) return undefined
  const taken = questionOf(only, place, FRAMED)
  const refused = none.map((each) => questionOf(each, place, NOT_FRAMED))
  return taken && refused.every((each) => each !== undefined) ? [taken, ...refused].flat() : undefined
}

function questionOf(node: Node, place: number, asked: number): PayloadTest | undefined {
  const frame = node.type === 'glob' ? frameOf(node) : undefined
  return frame && [place, asked, frame.head, frame.tail, frame.without]
}

/** The one glob that a matching string must match, where there is one. */
function onlyGlob(node: Node): Glob | undefined {
  if (node.type === 'glob') return node
  const [only, ...more] = node.type === 'choice' ? node.some : []
  return more.length === 0 && only?.type === 'glob' ? only : undefined
}

/** Whether the payload passes. */
export function fits(test: PayloadTest, places: Places): boolean {
  for (let at = 0; at < test.length; at += WIDTH) {
    const value = places.value(test[at] as number)
    const asked = test[at + 1] as number
    const text = test[at + 2] as string
    if (asked === EQUAL) {
      if (value !== text) return false
    } else if (asked === TEST) {
      if (text !== '' && !isFramed(value, text, '', undefined)) return false
      if (!(test[at + 4] as Test)(value)) return false
    } else {
      const without = test[at + 4] as Frame['without']
      if (isFramed(value, text, test[at + 3] as string, without) !== (asked === FRAMED)) return false
    }
  }
  return true
}
