import { ConnectionError, type SpaceClient, ToolError } from '@meup/agent-sdk'
import { correlations, Kind } from '@meup/protocol'

type Result = Readonly<Record<string, unknown>>

/**
 * What comes of a proposal that this participant is about to carry out. Rejects with `ToolError` for an error, with
 * `ConnectionError` when the answer takes longer than so many milliseconds, or the space is closed.
 */
export function carriedOut(space: SpaceClient, proposal: string, timeoutMs: number): Promise<Result> {
  const { head } = space.welcome.space // What is shown of before was carried out before.
  const result = new Promise<Result>((resolve, reject) => {
    const requests = new Set<string>()
    const late = (): void => reject(new ConnectionError('timeout', `no response within ${timeoutMs} ms`))
    const timer = setTimeout(late, timeoutMs)
    space.on('closed', (error) => {
      clearTimeout(timer)
      reject(error ?? new ConnectionError('closed', 'the connection was closed'))
    })
    space.on('envelope', (envelope) => {
      if ((envelope.seq ?? 0) <= head) return
      const about = correlations(envelope)
      if (envelope.kind === Kind.mcpRequest && envelope.from === space.id && about.includes(proposal)) {
        requests.add(envelope.id)
      } else if (envelope.kind === Kind.mcpResponse && about.some((id) => requests.has(id))) {
        const { result = {}, error } = envelope.payload
        if (error === undefined) resolve(result)
        else reject(new ToolError(error.message, error.code, error.data))
      }
    })
  })
  result.catch(() => {}) // Whoever is refused the request does not ask for its result.
  return result
}
