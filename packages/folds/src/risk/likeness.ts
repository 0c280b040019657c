import { isObject } from '../text.js'
import { splitCommands } from './shell.js'

interface LikenedCall {
  readonly from: string
  readonly to?: readonly string[] | undefined
  readonly tool: string
  readonly parameters: unknown
}

/**
 * A key that is equal for calls of one participant to one tool with similar arguments: the same command, files of the same
 * folder and type, the same choices. A user who allows one of them probably allows the others.
 */
export const getLikeness = ({ from, to, tool, parameters }: LikenedCall): string =>
  JSON.stringify([from, to ?? [], tool, kindOf(parameters, '', 0)])

const maxDepth = 6
/** Maximum characters of a text without spaces that counts as a choice among few values. */
const maxChoiceChars = 32
const commandName = /^(?:command|cmd|script)$/i

function kindOf(value: unknown, name: string, depth: number): unknown {
  if (typeof value === 'string') return kindOfText(value, name)
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? value : typeof value
  if (depth >= maxDepth) return 'nested'
  if (Array.isArray(value)) {
    const kinds = value.map((each) => JSON.stringify(kindOf(each, name, depth + 1)))
    return [...new Set(kinds)].sort()
  }
  if (!isObject(value)) return 'object'
  const fields = Object.entries(value).map(([key, each]) => [key, kindOf(each, key, depth + 1)] as const)
  return fields.sort(([one], [other]) => (one < other ? -1 : 1))
}

function kindOfText(text: string, name: string): unknown {
  if (commandName.test(name)) return splitCommands(text).map(({ words }) => words)
  const [, folder, ending] = /^((?:[^\s/]*\/)*)[^\s/]*?(\.\w{1,8})?$/.exec(text) ?? []
  if (folder || ending) return ['path', folder, ending ?? '']
  return /\s/.test(text) || text.length > maxChoiceChars ? 'text' : ['choice', text]
}
