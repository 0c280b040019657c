import { isObject } from '../text.js'

/**
 * The content blocks of a tool's result. A text is read as a block of text, one block as a list of it, and a block with a text and
 * no type as text: so some servers write them.
 */
export function readBlocks(content: unknown): Readonly<Record<string, unknown>>[] {
  const list: readonly unknown[] = Array.isArray(content) ? content : [content]
  return list.map(readBlock).filter(isObject)
}

function readBlock(each: unknown): unknown {
  if (typeof each === 'string') return { type: 'text', text: each }
  if (!isObject(each) || typeof each.text !== 'string') return each
  return each.type === undefined || each.type === null ? { ...each, type: 'text' } : each
}
