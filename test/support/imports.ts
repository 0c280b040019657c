import { posix } from 'node:path'
import { type Source, stringsAt } from './source.js'

/** Every module that the source names in `import`, `export … from` or `import()`, types included. */
export function importsOf(source: Source): string[] {
  return stringsAt(source, /\b(?:from\s*|import\s*\(?\s*)("\d+")/g)
}

/** A file without its extension, since the specifier of `a.ts` or `a.tsx` ends in `a.js`. */
const modulePath = (path: string): string => path.replace(/\.[jt]sx?$/, '')

/** The module that a relative specifier names, written in the file `importer`. */
export function resolveRelative(importer: string, specifier: string): string {
  return modulePath(posix.join(posix.dirname(importer), specifier))
}
