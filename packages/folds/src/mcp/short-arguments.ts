import { isObject } from '../text.js'

/** Fields beside a command that change nothing of what it says. */
const asides: ReadonlySet<string> = new Set(['command', 'description', 'title', 'cwd', 'workdir', 'timeout'])

/**
 * The arguments of a call in a few words, where its tool is one that coding agents have: `$ npm test`, or the files that it
 * changes. `undefined`: they are shown as they are.
 */
export function shortenArguments(args: unknown): string | undefined {
  if (!isObject(args)) return undefined
  const { command, diffs } = args
  if (typeof command === 'string' && Object.keys(args).every((name) => asides.has(name)))
    return `$ ${command}`
  if (!Array.isArray(diffs) || diffs.length === 0) return undefined
  const paths = diffs.map((diff: unknown) => (isObject(diff) ? diff.path : undefined))
  return paths.every((path) => typeof path === 'string') ? paths.join(', ') : undefined
}
