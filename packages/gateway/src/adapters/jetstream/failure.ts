import { LogError } from '../../log/error.js'

const advice = 'It is tried again; see that the NATS servers run and that most of them reach each other.'
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
  return new LogError('unavailable', `NATS failed ${doing}: ${said}. ${advice}`, { cause: error })
}

const causeOf = ({ cause }: Error): string => (cause instanceof Error ? ` (${cause.message})` : '')

/** What JetStream calls a refusal; 0 = it is none of its own. */
export function apiCodeOf(error: unknown): number {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'number' ? code : 0
}
