import type { Node } from './parse.js'
import { type Places, ROOT } from './places.js'
import { compileNode, type Test } from './value.js'

/**
 * Compiles a pattern for payloads to a test of the payload that `places` looks at: the fields of nested objects are
 * tested where they are, literals first, because they are cheap to compare and most envelopes differ there.
 */
export function compilePayload(pattern: Node, places: Places): () => boolean {
  const literals: { readonly place: number; readonly text: string }[] = []
  const tests: { readonly place: number; readonly test: Test }[] = []

  function add(node: Node, place: number): void {
    if (node.type === 'glob' && node.text !== undefined) literals.push({ place, text: node.text })
    else if (node.type !== 'object' || node.fields.length === 0)
      tests.push({ place, test: compileNode(node) })
    else {
      for (const [key, field] of node.fields) add(field, places.at(place, key))
      if (node.inside !== undefined) add({ type: 'object', fields: [], inside: node.inside }, place)
    }
  }

  add(pattern, ROOT)
  return () => {
    for (const { place, text } of literals) if (places.value(place) !== text) return false
    for (const { place, test } of tests) if (!test(places.value(place))) return false
    return true
  }
}
