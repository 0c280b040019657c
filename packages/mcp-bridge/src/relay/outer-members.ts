import type { DroppedText } from '../child/text-buffer.js'

type Members = Readonly<Record<string, unknown>>

/**
 * Reads the scalar members of a dropped JSON object from its first and last 64 KiB. The member that makes the object large is
 * usually between them.
 */
export const readOuterMembers = ({ head, tail }: DroppedText): Members => ({
  ...readLastMembers(tail),
  ...readFirstMembers(head),
})

/** Matches a string, a separator, or another scalar. */
const token = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+)/y

/** Reads the complete scalar members at the beginning of the outermost object. */
function readFirstMembers(head: string): Members {
  const members: Record<string, unknown> = {}
  let depth = 0
  let key: unknown
  let value: unknown
  token.lastIndex = Math.max(0, head.indexOf('{'))
  for (let found = token.exec(head); found !== null; found = token.exec(head)) {
    const [, text = ''] = found
    if (depth === 1 && (text === ',' || text === '}')) {
      if (typeof key === 'string' && value !== undefined) members[key] = value
      key = undefined
      value = undefined
    }
    if (text === '{' || text === '[') depth++
    else if (text === '}' || text === ']') depth--
    else if (depth === 1 && text !== ',' && text !== ':') {
      if (key === undefined) key = parse(text)
      else value = parse(text)
    }
    if (depth === 0) break
  }
  return members
}

/** Maximum characters of a member, and maximum members read from the end. */
const [maxMemberChars, maxMembers] = [600, 8]
const lastMember = /[,{]\s*("[^"\\]*")\s*:\s*("[^"\\]*"|-?\d[\d.eE+-]*|true|false|null)\s*$/

/** Reads the scalar members at the end of the outermost object. */
function readLastMembers(tail: string): Members {
  const members: Record<string, unknown> = {}
  let rest = tail.trimEnd()
  if (!rest.endsWith('}')) return members
  rest = rest.slice(0, -1)
  for (let count = 0; count < maxMembers; count++) {
    const end = rest.slice(-maxMemberChars)
    const found = lastMember.exec(end)
    if (found === null) break
    const key = parse(found[1] ?? '')
    if (typeof key === 'string') members[key] = parse(found[2] ?? '')
    rest = rest.slice(0, rest.length - end.length + found.index)
  }
  return members
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // Not JSON.
  }
}
