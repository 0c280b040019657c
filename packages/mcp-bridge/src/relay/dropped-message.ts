import { readOuterMembers } from '../child/outer-members.js'
import type { DroppedText } from '../child/text-buffer.js'
import type { Fault } from './read-message.js'

/** Characters of its beginning that are quoted. */
const maxTextChars = 100

/** A message that is too long to be kept, and has not ended yet. */
export function createTooLong(head: string, maxBytes: number): Fault {
  const text = `${head.slice(0, maxTextChars).toWellFormed()}…`
  return { problem: `it has more than ${maxBytes} bytes, the limit of a message`, text }
}

/** The same at its end: its first and last members say whose it is, as a large one stands between them. */
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
