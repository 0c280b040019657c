import { isMap, isScalar, isSeq } from 'yaml'
import { find, locate, type Path, type Source } from './source.js'

/** Where a setting stands in the file. */
export interface Origin {
  readonly line: number
  /** Environment variables that it is made of. */
  readonly variables: readonly string[]
}

const reference = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)/g

/** `undefined` = the file does not say it. */
export function originOf(source: Source, path: Path): Origin | undefined {
  const found = find(source, path)
  if (found === undefined) return undefined
  const names = textsIn(found.value).flatMap((text) => [...text.matchAll(reference)])
  return {
    line: locate(source, path, 'key').line,
    variables: [...new Set(names.flatMap(([, name]) => name ?? []))],
  }
}

/** The words of a setting as the file has them: `${NAME}` is not replaced, so that no secret shows. */
export function asWritten(source: Source, path: Path): string {
  return textsIn(find(source, path)?.value).join(' ')
}

function textsIn(node: unknown): string[] {
  if (isScalar(node)) return [node.source ?? String(node.value)]
  if (isSeq(node)) return node.items.flatMap(textsIn)
  return isMap(node) ? node.items.flatMap(({ value }) => textsIn(value)) : []
}
