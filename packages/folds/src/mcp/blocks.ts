import { isObject } from '../text.js'

/**
 * The content blocks of a tool's result. A text is read as a block of text, one block as a list of it, and a block with a text and
 * no type as text: so some servers write them.
 */
export function readBlocks(content: unknown): Readonly<Record<string, unknown>>[] {
  const list = Array.isArray(content) ? content : [content]
  return list.flatMap((each) => {
    if (typeof each === 'string') return { type: 'text', text: each }
    if (!isObject(each)) return []
    const isUntyped = (each.type === undefined || each.type === null) && typeof each.text === 'string'
    return isUntyped ? { ...each, type: 'text' } : each
  })
}
