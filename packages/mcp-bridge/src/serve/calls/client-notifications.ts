import type { McpRequestPayload } from '@meup/protocol'
import type { LoggingLevel, ServerContext } from '@modelcontextprotocol/server'

interface Report {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Creates a function that reports progress to the client; `undefined` if the client does not want progress. */
export function createProgressReporter(
  { mcpReq }: ServerContext,
  log: (line: string) => void,
): ((report: Report) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  return (report) => {
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, ...report } })
      .catch((error: Error) => log(`progress could not be sent: ${error.message}`))
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

/** Creates a function that forwards log messages about a call to the client. The SDK filters them by the client's level. */
export function createLogForwarder(
  { mcpReq }: ServerContext,
  log: (line: string) => void,
): (notification: McpRequestPayload) => void {
  return ({ method, params = {} }) => {
    const { level, data, logger } = params
    if (method !== 'notifications/message' || !levels.has(level)) return
    mcpReq
      .log(level as LoggingLevel, data, typeof logger === 'string' ? logger : undefined)
      .catch((error: Error) => log(`a log message could not be sent: ${error.message}`))
  }
}
