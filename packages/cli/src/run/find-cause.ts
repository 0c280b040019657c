/** Matches an error of a compiler such as esbuild: `file:line:column: ERROR: message`. */
const placed = /^(\S.*:\d+:\d+): (?:ERROR|error): (.+)$/
/** Matches the line of an uncaught error in Node.js, Python and others. */
const uncaught = /^(?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?: .+$/
/** Matches the `file:line` that Node.js prints before an error. */
const nodePlace = /^(?:file:\/\/)?(\/.+:\d+)$/

/**
 * Finds why a program has ended in the last lines of its stderr: an error, if possible with file and line; `undefined` if there
 * is none. `folder`: its working directory; paths below it are shortened.
 */
export function findCause(lines: readonly string[], folder: string): string | undefined {
  const [, place, message] = lines.map((line) => placed.exec(line)).find((match) => match !== null) ?? []
  const error = lines.findLast((line) => uncaught.test(line))
  const before = lines.flatMap((line) => nodePlace.exec(line)?.[1] ?? []).at(-1)
  const isSyntax = before !== undefined && error?.startsWith('SyntaxError')
  const cause = place === undefined ? (isSyntax ? `${before}: ${error}` : error) : `${place}: ${message}`
  return cause?.replaceAll(`${folder}/`, '')
}
