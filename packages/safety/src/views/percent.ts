import { plain } from './plain.js'
import { decodeText, type Replacement, unchanged } from './view.js'

const encoded = /(?:%[0-9a-f]{2})+/gi
const utf8 = new TextDecoder()

/** Reads `%41` as `A`; a run of such is one thing. */
export function percent(text: string): readonly Replacement[] {
  if (!text.includes('%')) return unchanged
  const replacements: Replacement[] = []
  for (const { 0: run, index } of text.matchAll(encoded)) {
    const bytes = run.slice(1).split('%')
    const read = utf8.decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)))
    replacements.push({ start: index, end: index + run.length, by: decodeText(read, plain) })
  }
  return replacements
}
