import type { DroppedText } from './text-buffer.js'

type Members = Readonly<Record<string, unknown>>

/** The scalar members of a JSON object that was dropped, as far as both of its ends show them: a large one stands between them. */
export const readOuterMembers = ({ head, tail }: DroppedText): Members => ({
  ...readLastMembers(tail),
  ...readFirstMembers(head),
})

/** A string, a sign, or another scalar. */
const token = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+)/y

/** The scalar members of the outermost object, as far as its beginning shows them whole. */
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

/** Characters of a member, and how many of them are read, from the last one on. */
const [maxMemberChars, maxMembers] = [600, 8]
const lastMember = /[,{]\s*("[^"\\]*")\s*:\s*("[^"\\]*"|-?\d[\d.eE+-]*|true|false|null)\s*$/

/** The scalar members with which the outermost object ends. */
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
    return undefined // Then it is no JSON, and says nothing about whose it is.
  }
}
