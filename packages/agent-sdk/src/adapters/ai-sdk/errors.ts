import { getErrorMessage } from '../../client/errors.js'
import { withoutCredentials } from '../credentials.js'

/** What is used of the package. */
type Ai = Pick<
  typeof import('ai'),
  | 'APICallError'
  | 'InvalidResponseDataError'
  | 'JSONParseError'
  | 'LoadAPIKeyError'
  | 'RetryError'
  | 'TypeValidationError'
  | 'UnsupportedModelVersionError'
>

/** Which model failed, as its users know it. */
export interface FailingModel {
  /** Who provides it: `anthropic`, or its address. */
  readonly provider: string
  readonly model: string
  /** Texts that no message may quote. */
  readonly credentials: readonly string[]
}

/**
 * What went wrong with a request to a model, and what to do: for everyone to read. The original error is the cause, unless it quotes
 * a credential.
 */
export function explainError(ai: Ai, error: unknown, of: FailingModel): Error {
  const [last, tries] = ai.RetryError.isInstance(error) ? [error.lastError, error.errors.length] : [error, 1]
  // Keys that a provider's package reads by itself are not known here.
  if (isBadHeader(last)) return new Error(`the request to ${of.provider} could not be made: ${badHeader}`)
  return withoutCredentials(explain(ai, last, of, tries), of.credentials)
}

const badHeader = 'a header holds a character that no header can; check the API key for line breaks'

/** The platform quotes the value that it refuses. */
function isBadHeader(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /\bheader value\b|\bheader content\b/i.test(error.message) || isBadHeader(error.cause)
}

function explain(ai: Ai, error: unknown, of: FailingModel, tries: number): Error {
  const say = (text: string): Error => new Error(text, { cause: error })
  const often = tries > 1 ? ` ${tries} times` : ''
  if (isNonsense(ai, error)) return say(nonsense)
  if (ai.InvalidResponseDataError.isInstance(error)) {
    return say(error.data === undefined ? brokenOff : nonsense)
  }
  if (error instanceof ai.UnsupportedModelVersionError) {
    const remedy = 'install the version of ai that its provider is made for beside @meup/agent-sdk'
    return say(`the installed version of ai does not know ${of.model} of ${of.provider}: ${remedy}`)
  }
  if (ai.LoadAPIKeyError.isInstance(error)) return say(error.message)
  // It lists its ways to get a key on many lines.
  if (Object(error).name === 'GatewayAuthenticationError')
    return say(`${of.model} needs a valid key: set AI_GATEWAY_API_KEY where the agent runs`)
  if (!ai.APICallError.isInstance(error)) return asError(error)
  const { statusCode, message, responseHeaders } = error
  if (statusCode === undefined) return say(`${of.provider} cannot be reached${often}: ${message}`)
  if (statusCode < 300) return say(isNonsense(ai, error.cause) ? nonsense : brokenOff)
  // Some servers quote the key that they refuse.
  const quote = statusCode === 401 || statusCode === 403 ? '' : message
  const remedy = getRemedy(statusCode, of.model, responseHeaders?.['retry-after'])
  const why = [quote, remedy].filter((part) => part !== '').join('; ')
  return say(`${of.provider} answered ${statusCode}${often}: ${why || 'it does not say why'}`)
}

const nonsense = `the model's provider sent what makes no sense`
const brokenOff = `the model's answer broke off`

/** These quote the response, which may hold reasoning that must not be shown. */
const isNonsense = ({ JSONParseError, TypeValidationError }: Ai, error: unknown): boolean =>
  JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)

function getRemedy(status: number, model: string, retryAfter: string | undefined): string {
  if (status === 401) return 'it needs a valid API key'
  if (status === 403) return `its API key may not use ${model}`
  if (status === 404) return `is ${model} the name of a model there?`
  if (status !== 429 && status < 500) return ''
  const seconds = Number.parseInt(retryAfter ?? '', 10)
  return seconds > 0 ? `ask again in ${seconds} s` : 'ask again later'
}

/** Providers report errors within a stream in forms of their own. */
function asError(error: unknown): Error {
  if (error instanceof Error) return error
  const { message } = (error ?? {}) as { message?: unknown }
  if (typeof message === 'string') return new Error(message)
  return new Error(JSON.stringify(error) ?? getErrorMessage(error))
}
