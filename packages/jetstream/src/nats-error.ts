import { LogError } from '@meup/gateway'
import { streamTexts } from './errors.js'

/** API codes for an account that may not use JetStream. */
const notEnabled = [10039, 10076]
const refusals = ['AuthorizationError', 'UserAuthenticationExpiredError', 'PermissionViolationError']

/** Converts an error of the NATS client to one with advice. */
export function asNatsError(error: unknown, doing: string): LogError {
  if (error instanceof LogError) return error
  const reason = error instanceof Error ? `${error.message}${describeCause(error)}` : String(error)
  const [details, options] = [{ doing, reason }, { cause: error }]
  if (error instanceof Error && refusals.includes(error.name))
    return new LogError('server', streamTexts.refused, details, options)
  if ([error, Object(error).cause].some((each) => notEnabled.includes(getApiCode(each))))
    return new LogError('server', streamTexts.account, details, options)
  return new LogError('unavailable', streamTexts.failed, details, options)
}

const describeCause = ({ cause, message }: Error): string =>
  cause instanceof Error && cause.message !== message ? ` (${cause.message})` : ''

/** Whether the server reported that no client listens on the subject of a request. */
export function isNobodyThere(error: unknown): boolean {
  const { isNoResponders } = Object(error) as { isNoResponders?: () => boolean }
  return isNoResponders?.call(error) === true
}

/** Code of a JetStream API error; 0 = another error. */
export function getApiCode(error: unknown): number {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'number' ? code : 0
}
