import { isObject } from '../text.js'

/**
 * Reads the content blocks of a tool result. Accepts common variants: a plain text, a single block instead of a list, and a
 * text block without type.
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
