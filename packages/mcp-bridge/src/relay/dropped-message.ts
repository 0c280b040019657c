import type { DroppedText } from '../child/text-buffer.js'
import { readOuterMembers } from './outer-members.js'
import type { Fault } from './read-message.js'

/** Maximum characters quoted from the beginning of a message. */
const maxTextChars = 100

/** Describes a message over the size limit when only its beginning has arrived. */
export function createTooLong(head: string, maxBytes: number): Fault {
  const text = `${head.slice(0, maxTextChars).toWellFormed()}…`
  return { problem: `it has more than ${maxBytes} bytes, the limit of a message`, text }
}

/**
 * Describes a message over the size limit when it has arrived completely. Its first and last members identify it; the large
 * member is usually between them.
 */
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
