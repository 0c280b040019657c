import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'
import { LogError, logTexts } from './error.js'

const requireHere = createRequire(import.meta.url)
let driver: typeof Database | undefined
/**
 * Keeps a reference to the first database forever: garbage-collecting it aborts Node 24.19 and newer if better-sqlite3 12 was
 * compiled for it.
 */
let first: Database.Database
/** Version 13 has prebuilt addons, but they need Node-API 10 and crash Node 20. */
const packages =
  Number(process.versions.napi) >= 10 ? ['better-sqlite3-13', 'better-sqlite3'] : ['better-sqlite3']

/**
 * Loads the SQLite driver, which is compiled at installation. Without it everything except SQLite works. Throws a `LogError`
 * with code `driver`.
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
      first = new Sqlite(':memory:') // The first database loads the compiled addon.
      first.close()
      return Sqlite
    } catch (error) {
      cause = error
    }
  }
  throw explainDriver(cause, findPlace())
}

function findPlace(): string | undefined {
  try {
    return requireHere.resolve('better-sqlite3')
  } catch {
    return undefined
  }
}

/** In a project that is linked to a clone, `npm rebuild` leaves the clone's packages as they are. */
function rebuildAdvice(place = ''): string {
  const [, clone] = /^(.*?)[\\/]node_modules[\\/]\.pnpm[\\/]/.exec(place) ?? []
  return clone === undefined ? 'Run npm rebuild better-sqlite3.' : `Run pnpm install in ${clone}.`
}

const compilers = 'python3, make and a C++ compiler'

/** Causes of a failed load by its message, with advice. */
const causes: readonly (readonly [message: RegExp, reason: string, advice: string])[] = [
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

/** Explains why SQLite cannot be loaded. `place`: the file of the package, if it is installed. */
export function explainDriver(error: unknown, place: string | undefined): LogError {
  const message = error instanceof Error ? error.message : String(error)
  if (/NODE_MODULE_VERSION/.test(message)) {
    const reason = 'was built for another version of Node'
    return new LogError('driver', logTexts.driver, { reason, advice: rebuildAdvice(place) }, { cause: error })
  }
  const [, reason, advice] = causes.find(([pattern]) => pattern.test(message)) ?? [
    message,
    `cannot be loaded (${message.split('\n')[0]})`,
    'Run npm rebuild better-sqlite3.',
  ]
  return new LogError('driver', logTexts.driver, { reason, advice }, { cause: error })
}
