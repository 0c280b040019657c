import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'
import { LogError } from './error.js'

const requireHere = createRequire(import.meta.url)
let driver: typeof Database | undefined
/** Kept: collecting a database as garbage aborts Node 24.19 and newer, if better-sqlite3 12 was compiled for it. */
let first: Database.Database
/** Version 13 has compiled addons in it, for Node-API 10: it ends Node 20. */
const packages =
  Number(process.versions.napi) >= 10 ? ['better-sqlite3-13', 'better-sqlite3'] : ['better-sqlite3']

/**
 * The driver of SQLite. It is compiled when it is installed: on a machine where that is not possible, everything but SQLite works.
 * Throws a `LogError` of code `driver`.
 */
export function loadSqlite(): typeof Database {
  driver ??= load()
  return driver
}

function load(): typeof Database {
  let cause: unknown
  for (const name of packages) {
    try {
      const Sqlite = requireHere(name) as typeof Database
      first = new Sqlite(':memory:') // The first database loads what was compiled.
      first.close()
      return Sqlite
    } catch (error) {
      cause = error
    }
  }
  throw new LogError('driver', describeDriverError(cause), { cause })
}

const compilers = 'python3, make and a C++ compiler'
const instead = 'A space runs without SQLite with storage: { kind: memory }.'

/** What a failure to load it means, by its message: what is wrong, and what to do. */
const causes: readonly (readonly [message: RegExp, what: string, advice: string])[] = [
  [/NODE_MODULE_VERSION/, 'was built for another version of Node', 'Run npm rebuild better-sqlite3.'],
  [
    /bindings file/,
    'was not compiled',
    `Install ${compilers}, then run npm rebuild better-sqlite3 (with pnpm: pnpm approve-builds).`,
  ],
  [
    /^Cannot find module 'better-sqlite3'/,
    'is not installed',
    `Install ${compilers}, then run npm install better-sqlite3@12.`,
  ],
]

function describeDriverError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const [, what, advice] = causes.find(([pattern]) => pattern.test(message)) ?? [
    message,
    `cannot be loaded (${message.split('\n')[0]})`,
    'Run npm rebuild better-sqlite3.',
  ]
  return `SQLite needs the package better-sqlite3, which ${what}. ${advice} ${instead}`
}
