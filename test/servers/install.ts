import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installProgram } from '../support/npm-cache.js'
import { publicServers } from './table.js'

export type ServerName = keyof typeof publicServers

const names = Object.keys(publicServers) as ServerName[]
const { MEUP_SERVERS = 'all', MEUP_SERVERS_DIR = join(tmpdir(), 'meup-servers') } = process.env

/** Those that tests start: all of them, or those that `MEUP_SERVERS` names, with commas between them. */
export const testedServers: readonly ServerName[] =
  MEUP_SERVERS === 'all' ? names : MEUP_SERVERS.split(',').map(findServer)

function findServer(name: string): ServerName {
  const found = names.find((each) => each === name)
  if (found === undefined) throw new Error(`MEUP_SERVERS names ${name}, which is none of ${names.join(', ')}`)
  return found
}

/** Installs a server, once, into `MEUP_SERVERS_DIR`, and returns the path of its program. Scripts of packages are not run. */
export function installServer(server: ServerName): Promise<string> {
  const { package: name, version, program } = publicServers[server]
  const spec = `${name}@${version}`
  return installProgram(MEUP_SERVERS_DIR, { spec, program, folder: `${server}-${version}` }, [
    '--ignore-scripts',
  ])
}
