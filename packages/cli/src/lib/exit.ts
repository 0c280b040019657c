import { ConnectionError, ProposalError, ToolError } from '@meup/agent-sdk'
import { brief } from '@meup/folds'
import { ProtocolError } from '@meup/protocol'
import { ConfigError } from '../config/config-error.js'
import { TokenError } from '../config/tokens.js'

/** Exit codes. */
export const exitCodes = {
  ok: 0,
  error: 1,
  usage: 2,
  unreachable: 3,
  auth: 4,
  denied: 5,
  timeout: 6,
  rejected: 7,
  auditMismatch: 8,
  interrupted: 130,
} as const

/** The command was called wrongly. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const byProtocolCode: Partial<Record<string, number>> = {
  unauthorized: exitCodes.auth,
  forbidden: exitCodes.denied,
  capability_violation: exitCodes.denied,
  grant_exceeds_own: exitCodes.denied,
  participant_paused: exitCodes.denied,
  unavailable: exitCodes.unreachable,
}

const byLocalCode: Partial<Record<string, number>> = {
  unreachable: exitCodes.unreachable,
  closed: exitCodes.unreachable,
  timeout: exitCodes.timeout,
  not_configured: exitCodes.usage,
  aborted: exitCodes.interrupted,
}

const byOutcome: Record<ProposalError['outcome']['state'], number> = {
  rejected: exitCodes.rejected,
  expired: exitCodes.timeout,
  withdrawn: exitCodes.error,
}

export function getExitCode(error: unknown): number {
  const isUsage = [UsageError, ConfigError, TokenError].some((type) => error instanceof type)
  if (isUsage) return exitCodes.usage
  if (error instanceof ProtocolError) return byProtocolCode[error.code] ?? exitCodes.error
  if (error instanceof ConnectionError) return byLocalCode[error.code] ?? exitCodes.error
  if (error instanceof ProposalError) return byOutcome[error.outcome.state]
  return exitCodes.error
}

/** Formats an error as one line: what happened, and what to do. */
export function formatError(error: unknown): string {
  if (error instanceof ProtocolError) return `${error.message} (${error.code})`
  if (error instanceof ProposalError) return brief(error.message, 500)
  if (error instanceof ToolError) return `the tool failed: ${error.message}`
  if (!(error instanceof Error)) return String(error)
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
    return `${error.message}; another gateway may be running: stop it, or use --listen with another port`
  }
  return error.message
}
