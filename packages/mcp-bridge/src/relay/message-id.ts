import type { RequestId } from '@modelcontextprotocol/client'

/**
 * Converts an id to the number that this client sent: some servers return ids and progress tokens as strings. `undefined` = not
 * a number.
 */
export function readNumber(id: unknown): number | undefined {
  if (typeof id === 'number') return id
  return typeof id === 'string' && /^(?:0|[1-9]\d{0,15})$/.test(id) ? Number(id) : undefined
}

/** Finds an id in a map, even if the other side has converted it from number to string or back. */
export const findId = <Id extends RequestId>(known: ReadonlyMap<Id, unknown>, id: unknown): Id | undefined =>
  known.has(id as Id) ? (id as Id) : [...known.keys()].find((each) => isSameId(each, id))

export const isSameId = (one: unknown, other: unknown): boolean =>
  one === other || (readNumber(one) !== undefined && readNumber(one) === readNumber(other))
