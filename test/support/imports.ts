import { posix } from 'node:path'
import { type Source, stringsAt } from './source.js'

/** Every module that the source names in `import`, `export … from` or `import()`, types included. */
export function importsOf(source: Source): string[] {
  return stringsAt(source, /\b(?:from\s*|import\s*\(?\s*)("\d+")/g)
}

/** `@scope/name/a/b` is the package `@scope/name` and its subpath `./a/b`. */
export function splitSpecifier(specifier: string): { name: string; subpath: string } {
  const segments = specifier.split('/')
  const length = specifier.startsWith('@') ? 2 : 1
  return { name: segments.slice(0, length).join('/'), subpath: ['.', ...segments.slice(length)].join('/') }
}

/** A file without its extension, since the specifier of `a.ts` or `a.tsx` ends in `a.js`. */
export const modulePath = (path: string): string => path.replace(/\.[jt]sx?$/, '')

/** The module that a relative specifier names, written in the file `importer`. */
export function resolveRelative(importer: string, specifier: string): string {
  return modulePath(posix.join(posix.dirname(importer), specifier))
}

/** The nodes of one cycle, first and last the same; `undefined` if there is none. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const visit = (node: string, trail: readonly string[]): string[] | undefined => {
    const start = trail.indexOf(node)
    if (start >= 0) return [...trail.slice(start), node]
    if (done.has(node)) return undefined
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...trail, node])
      if (cycle !== undefined) return cycle
    }
    done.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const cycle = visit(node, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}
