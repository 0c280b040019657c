import { LogError } from '../../log/error.js'

const advice = 'It is tried again; see that the NATS servers run and that most of them reach each other.'
/** What JetStream says where an account may not use it. */
const notEnabled = [10039, 10076]
const refusals = ['AuthorizationError', 'UserAuthenticationExpiredError', 'PermissionViolationError']

/** Whatever the client of NATS threw, as an error that says what to do. */
export function asNatsError(error: unknown, doing: string): LogError {
  if (error instanceof LogError) return error
  const said = error instanceof Error ? `${error.message}${causeOf(error)}` : String(error)
  if (error instanceof Error && refusals.includes(error.name)) {
    const what = 'Give it credentials that are valid, and that may use JetStream'
    return new LogError('server', `The NATS server refuses this gateway, ${doing}: ${said}. ${what}.`, {
      cause: error,
    })
  }
  if ([error, Object(error).cause].some((each) => notEnabled.includes(apiCodeOf(each)))) {
    const what = 'Enable JetStream for it (`jetstream: enabled` of an account, or nsc edit account)'
    return new LogError(
      'server',
      `The account of this gateway may not use JetStream, ${doing}: ${said}. ${what}.`,
      {
        cause: error,
      },
    )
  }
  return new LogError('unavailable', `NATS failed ${doing}: ${said}. ${advice}`, { cause: error })
}

const causeOf = ({ cause, message }: Error): string =>
  cause instanceof Error && cause.message !== message ? ` (${cause.message})` : ''

/** Whether a question had no one to answer it, which the server says at once. */
export function isNobodyThere(error: unknown): boolean {
  const { isNoResponders } = Object(error) as { isNoResponders?: () => boolean }
  return isNoResponders?.call(error) === true
}

/** What JetStream calls a refusal; 0 = it is none of its own. */
export function apiCodeOf(error: unknown): number {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'number' ? code : 0
}
