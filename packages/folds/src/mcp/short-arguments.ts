import { isObject } from '../text.js'

/** Arguments of a shell tool: its command, and fields that do not change the meaning of the command. */
const asides: ReadonlySet<string> = new Set(['command', 'description', 'title', 'cwd', 'workdir', 'timeout'])

/**
 * Shortens the arguments of the usual tools of coding agents: `$ npm test`, or the changed files. `undefined` = show the
 * arguments in full.
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
