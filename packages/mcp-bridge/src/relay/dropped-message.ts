import { readOuterMembers } from '../child/outer-members.js'
import type { DroppedText } from '../child/text-buffer.js'
import type { Fault } from './read-message.js'

/** Quoted characters of its beginning. */
const maxTextChars = 100

/** A message that is too long, at its beginning. */
export function createTooLong(head: string, maxBytes: number): Fault {
  const text = `${head.slice(0, maxTextChars).toWellFormed()}…`
  return { problem: `it has more than ${maxBytes} bytes, the limit of a message`, text }
}

/** The same message at its end: its first and last members identify it, because a large member is usually in between. */
export function readDropped(dropped: DroppedText, maxBytes: number): Fault {
  const { bytes, head } = dropped
  const { id, method } = readOuterMembers(dropped)
  const { text } = createTooLong(head, maxBytes)
  const fault = {
    problem: `it has ${bytes} bytes; the limit of a message is ${maxBytes}`,
    text,
    isReported: true as const,
  }
  if (typeof id !== 'string' && typeof id !== 'number') return fault
  return method === undefined ? { ...fault, responseTo: id } : { ...fault, requestId: id }
}
