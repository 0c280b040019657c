import { pathToFileURL } from 'node:url'

/** Matches an error of a compiler such as esbuild: `file:line:column: ERROR: message`. */
const placed = /^(\S.*:\d+:\d+): (?:ERROR|error): (.+)$/
/** Matches the line of an uncaught error in Node.js, Python and others. */
const uncaught = /^(?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?: .+$/
/** Matches the `file:line` that Node.js prints before an error. */
const nodePlace = /^(?:file:\/\/)?(\/.+:\d+)$/
/** Matches a stack frame of Node.js. */
const nodeFrame = /^\s+at (?:.*[ (])?(?:file:\/\/)?(\/.+:\d+:\d+)\)?$/
/** Matches a stack frame of Python. */
const pythonFrame = /^\s+File "(.+)", line (\d+)/
/** Folders of installed packages. */
const installed = /\/(?:node_modules|site-packages)\//

/**
 * Finds why a program has ended in the last lines of its stderr: an error, with its place in the program's own files if it has
 * one; `undefined` if there is none. `folder`: its working directory; paths below it are shortened.
 */
export function findCause(lines: readonly string[], folder: string): string | undefined {
  const [, compiled, message] = lines.map((line) => placed.exec(line)).find((match) => match !== null) ?? []
  const roots = [`${folder}/`, `${pathToFileURL(folder).pathname}/`]
  // A path that ends with the folder, as in `imported from /srv/demo/`, is shortened to `./`.
  const shorten = (text: string): string =>
    roots.reduce(
      (short, root) =>
        (short.endsWith(root) ? `${short.slice(0, -root.length)}./` : short).replaceAll(root, ''),
      text,
    )
  if (compiled !== undefined) return shorten(`${compiled}: ${message}`)
  const at = lines.findLastIndex((line) => uncaught.test(line))
  const error = lines[at]
  if (error === undefined) return undefined
  const isOwn = (place: string): boolean =>
    roots.some((root) => place.startsWith(root)) && !installed.test(place)
  const place = error.startsWith('SyntaxError')
    ? lines
        .slice(0, at)
        .flatMap((line) => nodePlace.exec(line)?.[1] ?? [])
        .at(-1)
    : findFrames(lines, at).find(isOwn)
  return shorten(place === undefined ? error : `${place}: ${error}`)
}

/** Places in the stack of the error in a line, nearest first: Node.js prints the stack after it, Python before it. */
function findFrames(lines: readonly string[], at: number): string[] {
  const after = lines.slice(at + 1).flatMap((line) => nodeFrame.exec(line)?.[1] ?? [])
  const before = lines.slice(0, at).flatMap((line) => {
    const [, file, number] = pythonFrame.exec(line) ?? []
    return file === undefined ? [] : [`${file}:${number}`]
  })
  return [...after, ...before.reverse()]
}
