import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HttpClient, ProtocolError } from '@meup/agent-sdk/http'

/** Timeout for a gateway on this machine. */
const localTimeoutMs = 2000

/**
 * Finds the running gateway of this folder by `.meup/gateway.json`. It must respond, because a killed gateway leaves the file
 * behind.
 */
export async function findGateway(directory: string): Promise<GatewayFile | undefined> {
  const file = findGatewayProcess(directory)
  if (file === undefined) return undefined
  const answer = await fetchProbe(file.url, 'healthz')
  return !(answer instanceof Error) && answer.ok ? file : undefined
}

/** Whether the gateway that wrote this `.meup/gateway.json` is still running. A timeout counts as running: it may be busy. */
export async function isRunning({ pid, url }: GatewayFile): Promise<boolean> {
  if (!isAlive(pid)) return false
  const answer = await fetchProbe(url, 'healthz')
  return answer instanceof Error ? answer.name === 'TimeoutError' : answer.ok
}

/** The content of this folder's `.meup/gateway.json`, if its process is alive, responsive or not. */
export function findGatewayProcess(directory: string): GatewayFile | undefined {
  const file = readGatewayFile(directory)
  return file !== undefined && isAlive(file.pid) ? file : undefined
}

/** The response of `/healthz` or `/readyz`, or the error if there is none. */
export async function fetchProbe(url: string, probe: 'healthz' | 'readyz'): Promise<Response | Error> {
  try {
    return await fetch(new URL(`/${probe}`, url), { signal: AbortSignal.timeout(localTimeoutMs) })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.cause instanceof Error ? error.cause : error
  }
}

/** Whether a gateway accepts this token. Rejects if no gateway responds. */
export const acceptsToken = async (url: string, space: string, token: string): Promise<boolean> =>
  (await findTokenRefusal(url, space, token)) === undefined

/**
 * Tests a token with an empty request. Resolves to the gateway's error, or `undefined` if it accepts the token. Rejects if no
 * gateway responds.
 */
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
    // EPERM: the process is alive but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** `.meup/gateway.json`, which a running gateway writes for commands in the same folder. */
export interface GatewayFile {
  readonly url: string
  readonly spaces: readonly string[]
  readonly pid: number
  /** Human participants by space; commands act as the first one by default. */
  readonly people: Readonly<Record<string, readonly string[]>>
  /** Path of the control socket of `meup up`; absent for `meup gateway`. */
  readonly control?: string
}

const fileIn = (directory: string): string => join(directory, '.meup', 'gateway.json')

export function writeGatewayFile(directory: string, content: GatewayFile): void {
  const file = fileIn(directory)
  mkdirSync(join(directory, '.meup'), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.${content.pid}`, `${JSON.stringify(content)}\n`, { mode: 0o600 })
  renameSync(`${file}.${content.pid}`, file)
}

/** Participant names, one per line, for shell completion: starting `meup` for them would be too slow. */
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

/** Removes `.meup/gateway.json` and the list of participant names, unless another gateway has overwritten them. */
export function removeGatewayFile(directory: string, pid: number): void {
  if (readGatewayFile(directory)?.pid !== pid) return
  for (const file of [fileIn(directory), namesIn(directory)]) rmSync(file, { force: true })
}
