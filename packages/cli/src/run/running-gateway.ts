import { type GatewayFile, readGatewayFile } from './gateway-file.js'

/** Milliseconds that a gateway on this machine may take to answer. */
const patienceMs = 2000

/** The gateway that runs for this folder. The file of one that was killed is no proof: it has to answer. */
export async function findGateway(directory: string): Promise<GatewayFile | undefined> {
  const file = readGatewayFile(directory)
  if (file === undefined || !isAlive(file.pid)) return undefined
  const answer = await askHealth(file.url)
  return answer instanceof Response && answer.ok ? file : undefined
}

/** What `/healthz` answers; an error where nothing does. */
export async function askHealth(url: string): Promise<Response | Error> {
  try {
    return await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(patienceMs) })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.cause instanceof Error ? error.cause : error
  }
}

/** Whether a gateway lets this token in: a post of nothing tells, and changes nothing. Rejects when none answers. */
export async function letsIn(url: string, space: string, token: string): Promise<boolean> {
  const { ok } = await fetch(new URL(`/spaces/${space}/envelopes`, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: '[]',
    signal: AbortSignal.timeout(patienceMs),
  })
  return ok
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process lives, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
