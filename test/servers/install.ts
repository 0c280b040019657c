import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installProgram } from '../support/npm-cache.js'

const { MEUP_SERVERS_DIR = join(tmpdir(), 'meup-servers') } = process.env

/**
 * Installs a package once, into `MEUP_SERVERS_DIR`, and returns the path of its program. Does not run install scripts, because
 * they would download browsers.
 */
export const install = (
  name: string,
  { package: of, version, program }: { package: string; version: string; program: string },
): Promise<string> =>
  installProgram(MEUP_SERVERS_DIR, { spec: `${of}@${version}`, program, folder: `${name}-${version}` }, [
    '--ignore-scripts',
  ])
