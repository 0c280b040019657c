import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { hashDirectory, makeOwnFolder } from './own-folder.js'
import { type GatewayFile, isRunning, readGatewayFile } from './running-gateway.js'

/** A running gateway of this user on this machine. */
export interface RunningSpace extends Pick<GatewayFile, 'url' | 'spaces' | 'pid'> {
  /** The folder of its configuration file. */
  readonly directory: string
}

/** Folder with one file per running gateway of this user. */
const getFolder = (): string =>
  process.env.XDG_RUNTIME_DIR
    ? join(process.env.XDG_RUNTIME_DIR, 'meup')
    : join(tmpdir(), `meup-of-${userInfo().uid}`)

const getFile = (directory: string): string => join(getFolder(), `${hashDirectory(directory)}.json`)

/** Registers the gateway of a folder. Throws if the file cannot be written. */
export function listRunning(directory: string): void {
  makeOwnFolder(getFolder())
  writeFileSync(getFile(directory), JSON.stringify({ directory }), { mode: 0o600 })
}

export const unlistRunning = (directory: string): void => rmSync(getFile(directory), { force: true })

/** Lists the gateways that are running; removes the files of killed ones. */
export async function findRunning(): Promise<RunningSpace[]> {
  const found = await Promise.all(readFolder().map(readEntry))
  return found
    .filter((each) => each !== undefined)
    .sort((one, other) => (one.directory < other.directory ? -1 : 1))
}

function readFolder(): string[] {
  try {
    return readdirSync(getFolder()).filter((name) => name.endsWith('.json'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function readEntry(name: string): Promise<RunningSpace | undefined> {
  const path = join(getFolder(), name)
  const directory = readDirectory(path)
  const file = directory === undefined ? undefined : readGatewayFile(directory)
  if (directory === undefined || file === undefined || !(await isRunning(file))) {
    rmSync(path, { force: true })
    return undefined
  }
  const { url, spaces, pid } = file
  return { directory, url, spaces, pid }
}

function readDirectory(path: string): string | undefined {
  try {
    const { directory } = JSON.parse(readFileSync(path, 'utf8')) as { readonly directory?: unknown }
    return typeof directory === 'string' ? directory : undefined
  } catch {
    return undefined // The file is incomplete or damaged.
  }
}
