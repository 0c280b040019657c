import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HttpClient, ProtocolError } from '@meup/agent-sdk/http'

/** Milliseconds that a gateway on this machine may take to answer. */
const localTimeoutMs = 2000

/** The running gateway of this folder. It has to answer, since a killed gateway leaves its file behind. */
export async function findGateway(directory: string): Promise<GatewayFile | undefined> {
  const file = readGatewayFile(directory)
  if (file === undefined || !isAlive(file.pid)) return undefined
  const answer = await fetchHealth(file.url)
  return answer instanceof Response && answer.ok ? file : undefined
}

/** The answer of `/healthz`, or an error. */
export async function fetchHealth(url: string): Promise<Response | Error> {
  try {
    return await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(localTimeoutMs) })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.cause instanceof Error ? error.cause : error
  }
}

/** Whether a gateway accepts this token: tests it with an empty post. Rejects if no gateway answers. */
export async function acceptsToken(url: string, space: string, token: string): Promise<boolean> {
  try {
    await new HttpClient({ url, space, token }, { timeoutMs: localTimeoutMs }).postJson('envelopes', [])
    return true
  } catch (error) {
    if (error instanceof ProtocolError) return false
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user is alive too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Written by a running gateway for commands in the same folder. */
export interface GatewayFile {
  readonly url: string
  readonly spaces: readonly string[]
  readonly pid: number
  /** The people of each space; commands act for the first by default. */
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

/** Removes the file, if this gateway wrote it. */
export function removeGatewayFile(directory: string, pid: number): void {
  if (readGatewayFile(directory)?.pid === pid) rmSync(fileIn(directory), { force: true })
}
