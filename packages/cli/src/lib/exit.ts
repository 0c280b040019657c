import { ConnectionError, ProposalError, ToolError } from '@meup/agent-sdk'
import { brief, formatDuration, keepOffMargin, printable } from '@meup/folds'
import { ProtocolError } from '@meup/protocol'
import { ConfigError } from '../config/config-error.js'
import { exitCodes } from '../failure/exit-codes.js'
import { addRemedy, CodedError, describeFailure, invalidValue, UsageError } from '../failure/failure.js'
import { furtherLine, printNotice } from './output.js'

export { invalidValue, UsageError }

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
  participant_away: exitCodes.timeout,
  not_configured: exitCodes.usage,
  aborted: exitCodes.interrupted,
}

const byOutcome: Record<ProposalError['outcome']['state'], number> = {
  rejected: exitCodes.rejected,
  expired: exitCodes.timeout,
  withdrawn: exitCodes.error,
}

/** Whether `--json` was given, so that errors are printed as JSON too. */
export const printsJson = (): boolean => process.argv.includes('--json')

/**
 * Prints an error on stderr, as text or, with `--json`, as a JSON object; with `--verbose` also its stack. Sets the exit code.
 */
export function reportError(error: unknown): void {
  const message = explainError(error)
  if (printsJson()) printErrorJson(getErrorCode(error), message, getExitCode(error), error)
  else printNotice(`meup: ${message}`)
  if (process.argv.includes('--verbose') && error instanceof Error) printNotice(error.stack ?? '')
  process.exitCode = getExitCode(error)
}

/** Example: `{"error":{"code":"timeout","message":"…","exitCode":6,"details":{"timeoutMs":60000}}}` */
export function printErrorJson(code: string, message: string, exitCode: number, cause?: unknown): void {
  const problems = cause instanceof ConfigError ? { problems: cause.problems } : {}
  const details = hasDetails(cause) && Object.keys(cause.details).length > 0 && { details: cause.details }
  printNotice(JSON.stringify({ error: { code, message, exitCode, ...problems, ...details } }))
}

const hasDetails = (error: unknown): error is Error & { readonly code: string; readonly details: object } =>
  [ProtocolError, ConnectionError, CodedError].some((type) => error instanceof type)

/** The code of an error that has one, otherwise its kind. */
function getErrorCode(error: unknown): string {
  if (hasDetails(error)) return error.code
  if (error instanceof ProposalError) return `proposal_${error.outcome.state}`
  if (error instanceof ToolError) return 'tool_failed'
  if (error instanceof ConfigError) return 'wrong_config'
  return getExitCode(error) === exitCodes.usage ? 'usage' : 'failed'
}

export function getExitCode(error: unknown): number {
  if (error instanceof CodedError) return error.exitCode
  if (error instanceof ConfigError) return exitCodes.usage
  if (error instanceof ProtocolError) return byProtocolCode[error.code] ?? exitCodes.error
  if (error instanceof ConnectionError) return byLocalCode[error.code] ?? exitCodes.error
  if (error instanceof ProposalError) return byOutcome[error.outcome.state]
  return exitCodes.error
}

/** Formats an error as one line. */
export function formatError(error: unknown): string {
  if (error instanceof ProtocolError) return `${error.message} (${error.code})`
  if (error instanceof ProposalError) return brief(error.message, 500)
  if (error instanceof ToolError)
    return `the tool failed: ${keepOffMargin(printable(error.message), furtherLine)}`
  if (!(error instanceof Error)) return String(error)
  return describeSystemError(error) ?? error.message
}

/** Formats an error, with advice that names options and commands of this program. */
function explainError(error: unknown): string {
  if (error instanceof ConnectionError && error.details.option === 'url' && error.details.url === undefined)
    return describeFailure('no_gateway', { folder: process.cwd() })
  if (error instanceof ConnectionError && error.code === 'unreachable')
    return addRemedy(error.message, 'unreachable')
  if (error instanceof ConnectionError && error.code === 'timeout')
    return addRemedy(
      error.message.replace(/\d+ ms$/, (ms) => formatDuration(Number.parseInt(ms, 10))),
      'no_answer',
    )
  if (!(error instanceof ProtocolError)) return formatError(error)
  if (error.code === 'payload_too_large')
    return `${formatError(error)}; send a part of it, or raise limits.maxEnvelopeBytes in space.yaml`
  // Replaces the advice in the gateway's message about tokens: it addresses authors of clients, not users of commands.
  const [what = ''] = error.message.split('. ')
  if (what.startsWith('A token is required')) return `${addRemedy(what, 'no_token')} (${error.code})`
  if (what.startsWith('Invalid token')) return `${addRemedy(what, 'wrong_token')} (${error.code})`
  return formatError(error)
}

/** Formats an error of the file system; `undefined` for other errors. */
function describeSystemError({ code = '', path }: NodeJS.ErrnoException): string | undefined {
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code))
    return describeFailure('full_disk', { path: path ?? 'a file' })
  if (path === undefined) return undefined
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return describeFailure('forbidden_file', { path })
  return code === 'ENOENT' ? describeFailure('missing_file', { path }) : undefined
}
