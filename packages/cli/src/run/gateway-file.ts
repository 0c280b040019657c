import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a running gateway tells the commands started in its folder. */
export interface GatewayFile {
  readonly url: string
  readonly spaces: readonly string[]
  readonly pid: number
  /** The people of each space; commands act for the first unless told otherwise. */
  readonly people: Readonly<Record<string, readonly string[]>>
}

const fileIn = (directory: string): string => join(directory, '.meup', 'gateway.json')

export function writeGatewayFile(directory: string, content: GatewayFile): void {
  const file = fileIn(directory)
  mkdirSync(join(directory, '.meup'), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.${content.pid}`, `${JSON.stringify(content)}\n`, { mode: 0o600 })
  renameSync(`${file}.${content.pid}`, file)
}

export function readGatewayFile(directory: string): GatewayFile | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(directory), 'utf8')) as GatewayFile
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Only the gateway that wrote it takes it away. */
export function removeGatewayFile(directory: string, pid: number): void {
  if (readGatewayFile(directory)?.pid === pid) rmSync(fileIn(directory), { force: true })
}
