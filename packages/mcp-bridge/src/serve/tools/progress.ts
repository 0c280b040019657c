import type { McpRequestPayload } from '@meup/protocol'
import type { LoggingLevel, ServerContext } from '@modelcontextprotocol/server'

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

const levels: ReadonlySet<unknown> = new Set<LoggingLevel>([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
])

/** Passes log messages about a call on to its client, from the level on that it has asked for. */
export function loggerOf(
  { mcpReq }: ServerContext,
  log: (line: string) => void,
): (notification: McpRequestPayload) => void {
  return ({ method, params = {} }) => {
    const { level, data, logger } = params
    if (method !== 'notifications/message' || !levels.has(level)) return
    mcpReq
      .log(level as LoggingLevel, data, typeof logger === 'string' ? logger : undefined)
      .catch((error: Error) => log(`a log message could not be told: ${error.message}`))
  }
}
