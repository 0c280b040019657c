import type { ServerContext } from '@modelcontextprotocol/server'

interface Report {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Tells the client how far its request is; `undefined` where it did not ask to be told. */
export function reporterOf(
  { mcpReq }: ServerContext,
  log: (line: string) => void,
): ((report: Report) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  return (report) => {
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, ...report } })
      .catch((error: Error) => log(`progress could not be told: ${error.message}`))
  }
}
