import { type Glob, headOf } from './glob.js'
import type { Node } from './parse.js'
import { type Places, ROOT } from './places.js'
import { compileNode, type Test } from './value.js'

interface Literal {
  readonly place: number
  readonly text: string
}

/** A test of the payload that `places` looks at. */
export interface PayloadTest extends Glance {
  fits(): boolean
}

/** What a matching string begins with: told at a glance, and most strings differ there. Empty: nothing is known. */
interface Glance {
  readonly place: number
  readonly head: string
}

interface Pending extends Glance {
  readonly test: Test
}

const nowhere: Glance = { place: ROOT, head: '' }

/**
 * Compiles a pattern for payloads: the fields of nested objects are tested where they are, what is cheap to compare
 * first, because most envelopes differ there.
 */
export function compilePayload(pattern: Node, places: Places): PayloadTest {
  const literals: Literal[] = []
  const tests: Pending[] = []

  function add(node: Node, place: number): void {
    if (node.type === 'glob' && node.text !== undefined) literals.push({ place, text: node.text })
    else if (node.type !== 'object' || node.fields.length === 0) {
      tests.push({ place, head: headOf(onlyGlob(node)), test: compileNode(node) })
    } else {
      for (const [key, field] of node.fields) add(field, places.at(place, key))
      if (node.inside !== undefined) add({ type: 'object', fields: [], inside: node.inside }, place)
    }
  }

  add(pattern, ROOT)
  const { place, head } = tests.find((pending) => pending.head !== '') ?? nowhere
  return {
    place,
    head,
    fits() {
      for (const { place, text } of literals) if (places.value(place) !== text) return false
      for (const { place, head, test } of tests) {
        if (!places.beginsWith(place, head) || !test(places.value(place))) return false
      }
      return true
    },
  }
}

/** The one glob that a matching string must match, where there is one. */
function onlyGlob(node: Node): Glob | undefined {
  if (node.type === 'glob') return node
  const [only, ...more] = node.type === 'choice' ? node.some : []
  return more.length === 0 && only?.type === 'glob' ? only : undefined
}
