import { existsSync, readFileSync } from 'node:fs'
import { importsOf, resolveRelative } from './imports.js'
import { scan } from './source.js'

/** Matches modules for programs, sockets, threads and databases. */
const outside =
  /^(?:node:(?:child_process|dgram|https?|net|worker_threads)|better-sqlite3|esbuild|ws|@meup\/agent-sdk\/transcript\/file)$/
/** Matches calls that serve, store or start something. */
const reaching =
  /\bprocess\.execPath\b|\b(?:mkdtemp|mkdtempSync|sqliteStore)\b|\{[^}]*\bserve\b[^}]*\} from "\d+"/

interface TestFile {
  readonly reaches: boolean
  /** Paths of imported files, except sources of packages. */
  readonly imports: readonly string[]
}
const read = new Map<string, TestFile>()

function readTest(path: string): TestFile {
  const source = scan(readFileSync(path, 'utf8'))
  const imports = importsOf(source)
  return {
    reaches: imports.some((each) => outside.test(each)) || reaching.test(source.code),
    imports: imports
      .filter((each) => each.startsWith('.') && !each.includes('/src/'))
      .map((each) => `${resolveRelative(path, each)}.ts`)
      .filter((each) => existsSync(each)),
  }
}

/** Whether a test, or a test file that it imports, works outside of its own process and memory. */
export function reachesOutside(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path)) return false
  seen.add(path)
  const file = read.get(path) ?? readTest(path)
  read.set(path, file)
  return file.reaches || file.imports.some((each) => reachesOutside(each, seen))
}
