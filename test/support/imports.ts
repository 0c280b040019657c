import { posix } from 'node:path'
import { type Source, stringsAt } from './source.js'

/** Lists the modules that a source names in `import`, `export … from` or `import()`, including types. */
export function importsOf(source: Source): string[] {
  return stringsAt(source, /\b(?:from\s*|import\s*\(?\s*)("\d+")/g)
}

/** Removes the extension of a path, because the specifier of `a.ts` or `a.tsx` ends in `a.js`. */
const modulePath = (path: string): string => path.replace(/\.[jt]sx?$/, '')

/** Resolves a relative specifier in the file `importer`. */
export function resolveRelative(importer: string, specifier: string): string {
  return modulePath(posix.join(posix.dirname(importer), specifier))
}
