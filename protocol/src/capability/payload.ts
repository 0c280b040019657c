import { type Glob, headOf } from './glob.js'
import type { Node } from './parse.js'
import { type Places, ROOT } from './places.js'
import { compileNode, type Test } from './value.js'

interface Literal {
  readonly place: number
  readonly text: string
}

interface Pending {
  readonly place: number
  readonly test: Test
  /** Where a matching string has which UTF-16 unit: told at a glance, and most strings differ there; -1 = unknown. */
  readonly at: number
  readonly unit: number
}

/**
 * Compiles a pattern for payloads to a test of the payload that `places` looks at: the fields of nested objects are
 * tested where they are, what is cheap to compare first, because most envelopes differ there.
 */
export function compilePayload(pattern: Node, places: Places): () => boolean {
  const literals: Literal[] = []
  const tests: Pending[] = []

  function add(node: Node, place: number): void {
    if (node.type === 'glob' && node.text !== undefined) literals.push({ place, text: node.text })
    else if (node.type !== 'object' || node.fields.length === 0) {
      const head = headOf(onlyGlob(node))
      tests.push({
        place,
        test: compileNode(node),
        at: head.length - 1,
        unit: head.charCodeAt(head.length - 1),
      })
    } else {
      for (const [key, field] of node.fields) add(field, places.at(place, key))
      if (node.inside !== undefined) add({ type: 'object', fields: [], inside: node.inside }, place)
    }
  }

  add(pattern, ROOT)
  return () => {
    for (const { place, text } of literals) if (places.value(place) !== text) return false
    for (const { place, test, at, unit } of tests) {
      const value = places.value(place)
      if (at !== -1 && (typeof value !== 'string' || value.charCodeAt(at) !== unit)) return false
      if (!test(value)) return false
    }
    return true
  }
}

/** The one glob that a matching string must match, where there is one. */
function onlyGlob(node: Node): Glob | undefined {
  if (node.type === 'glob') return node
  const [only, ...more] = node.type === 'choice' ? node.some : []
  return more.length === 0 && only?.type === 'glob' ? only : undefined
}
