import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Options with which npm fails soon if there is no network. */
const flags = [
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
]

/** A package in the npm registry, and one of its programs. */
export interface NpmProgram {
  /** Package with version, as npm takes it: `name@version`. */
  readonly spec: string
  readonly program: string
  /** Name of the package's folder in the cache. */
  readonly folder: string
}

/** Installs a package from npm once, into a cache. Returns the path of its program. */
export async function installProgram(
  cache: string,
  { spec, program, folder: name }: NpmProgram,
  more: readonly string[] = [],
): Promise<string> {
  const folder = join(cache, name)
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true })
    const partial = await mkdtemp(`${folder}.`)
    try {
      await run('npm', ['install', '--prefix', partial, ...flags, ...more, spec])
      await rename(partial, folder)
    } catch (error) {
      await rm(partial, { recursive: true, force: true })
      // If the folder exists, another process has installed the package.
      if (!existsSync(folder)) throw error
    }
  }
  return join(folder, 'node_modules/.bin', program)
}
