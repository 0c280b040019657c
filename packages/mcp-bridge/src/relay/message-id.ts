import type { RequestId } from '@modelcontextprotocol/client'

/** The number that an id of ours is: some servers give ids and progress tokens back as text. `undefined`: it is no number. */
export function readNumber(id: unknown): number | undefined {
  if (typeof id === 'number') return id
  return typeof id === 'string' && /^(?:0|[1-9]\d{0,15})$/.test(id) ? Number(id) : undefined
}

/** The key under which a map has this id, also where the other side writes it as text, or as a number. */
export const findId = <Id extends RequestId>(known: ReadonlyMap<Id, unknown>, id: unknown): Id | undefined =>
  known.has(id as Id) ? (id as Id) : [...known.keys()].find((each) => isSameId(each, id))

export const isSameId = (one: unknown, other: unknown): boolean =>
  one === other || (readNumber(one) !== undefined && readNumber(one) === readNumber(other))
