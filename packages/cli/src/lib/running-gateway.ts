import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HttpClient, ProtocolError } from '@meup/agent-sdk/http'

/** Milliseconds that a gateway on this machine may take to answer. */
const localTimeoutMs = 2000

/** The running gateway of this folder. It has to answer, since a killed gateway leaves its file behind. */
export async function findGateway(directory: string): Promise<GatewayFile | undefined> {
  const file = findGatewayProcess(directory)
  if (file === undefined) return undefined
  const answer = await fetchProbe(file.url, 'healthz')
  return !(answer instanceof Error) && answer.ok ? file : undefined
}

/** Whether the gateway that wrote the file still runs. One that is too busy to answer does. */
export async function isRunning({ pid, url }: GatewayFile): Promise<boolean> {
  if (!isAlive(pid)) return false
  const answer = await fetchProbe(url, 'healthz')
  return answer instanceof Error ? answer.name === 'TimeoutError' : answer.ok
}

/** The file of this folder's gateway, if its process lives; it may be unresponsive. */
export function findGatewayProcess(directory: string): GatewayFile | undefined {
  const file = readGatewayFile(directory)
  return file !== undefined && isAlive(file.pid) ? file : undefined
}

/** The answer of `/healthz` or `/readyz`, or why there is none. */
export async function fetchProbe(url: string, probe: 'healthz' | 'readyz'): Promise<Response | Error> {
  try {
    return await fetch(new URL(`/${probe}`, url), { signal: AbortSignal.timeout(localTimeoutMs) })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.cause instanceof Error ? error.cause : error
  }
}

/** Whether a gateway accepts this token. Rejects if no gateway answers. */
export const acceptsToken = async (url: string, space: string, token: string): Promise<boolean> =>
  (await findTokenRefusal(url, space, token)) === undefined

/** Why a gateway refuses a token: tests it with an empty post. Rejects if no gateway answers. */
export async function findTokenRefusal(
  url: string,
  space: string,
  token: string,
): Promise<ProtocolError | undefined> {
  try {
    await new HttpClient({ url, space, token }, { timeoutMs: localTimeoutMs }).postJson('envelopes', [])
    return undefined
  } catch (error) {
    if (error instanceof ProtocolError) return error
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
  /** The socket of `meup up` for commands; absent for `meup gateway`. */
  readonly control?: string
}

const fileIn = (directory: string): string => join(directory, '.meup', 'gateway.json')

export function writeGatewayFile(directory: string, content: GatewayFile): void {
  const file = fileIn(directory)
  mkdirSync(join(directory, '.meup'), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.${content.pid}`, `${JSON.stringify(content)}\n`, { mode: 0o600 })
  renameSync(`${file}.${content.pid}`, file)
}

/** A name a line, which the shell offers for Tab: it is too slow to ask a program. */
const namesIn = (directory: string): string => join(directory, '.meup', 'names')

export const writeNames = (directory: string, names: readonly string[]): void =>
  writeFileSync(namesIn(directory), [...new Set(names)].map((name) => `${name}\n`).join(''), { mode: 0o600 })

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
  if (readGatewayFile(directory)?.pid !== pid) return
  for (const file of [fileIn(directory), namesIn(directory)]) rmSync(file, { force: true })
}
