import { copyNumberTexts } from '@meup/protocol'
import { isObject } from '../text.js'

/** Copies a value without `null` members: some libraries write absent members as `null`. */
export function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return copyNumberTexts(value.map(dropNulls), value)
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return copyNumberTexts(Object.fromEntries(members.map(([key, member]) => [key, dropNulls(member)])), value)
}

/** Drops `null` members of a tool, except in its schemas, where `null` may be a value. */
export function dropToolNulls({
  inputSchema,
  outputSchema,
  ...tool
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...(dropNulls(tool) as Record<string, unknown>),
    inputSchema: isObject(inputSchema) ? dropOwnNulls(inputSchema) : { type: 'object' },
    ...(isObject(outputSchema) && { outputSchema: dropOwnNulls(outputSchema) }),
  }
}

/** Drops `null` members of a tool result, except in its structured content, where `null` may be a value. */
export function dropResultNulls({
  structuredContent,
  ...result
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...(dropNulls(result) as Record<string, unknown>),
    ...(structuredContent !== undefined && structuredContent !== null && { structuredContent }),
  }
}

const dropOwnNulls = (value: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  copyNumberTexts(Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)), value)
