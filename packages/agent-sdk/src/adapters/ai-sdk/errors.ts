import { addAdvice, getErrorMessage } from '@meup/protocol'
import type { APICallError } from 'ai'
import { Notice } from '../../client/errors.js'
import { withoutCredentials } from '../credentials.js'
import { NoStreamError } from './fetch-stream.js'
import { findWords, isPage, quoteWords, readStreamError, readWords, toWords } from './provider-words.js'
import { isTooLong } from './refusals.js'
import { describeWait, findWait, readWait } from './retry-after.js'

/** Functions of the `ai` package that are used here. */
type Ai = Pick<
  typeof import('ai'),
  | 'APICallError'
  | 'InvalidResponseDataError'
  | 'JSONParseError'
  | 'LoadAPIKeyError'
  | 'NoOutputGeneratedError'
  | 'TypeValidationError'
  | 'UnsupportedModelVersionError'
>

/** The failed model, as error messages name it. */
export interface FailingModel {
  readonly name: string
  /** Name and address, such as `qwen3 at http://127.0.0.1:11434/v1`. */
  readonly title: string
  readonly provider: string
  readonly baseURL: string | undefined
  /** Credentials that messages must not quote. */
  readonly credentials: readonly string[]
}

export interface ModelFailure {
  /** The predicate of a sentence whose subject is the model, such as "answered 503". */
  readonly what: string
  /** Advice to the reader; `''` = none. */
  readonly remedy: string
  /** The provider's message, for programs. */
  readonly words: string
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean
  /** The answer had begun, but the stream ended without a finish reason. */
  readonly isBrokenOff: boolean
  /** Milliseconds to wait, according to the provider. */
  readonly waitMs: number | undefined
  readonly cause: unknown
}

/** Thrown if the model sends nothing for too long. */
export class StallError extends Error {
  override readonly name = 'StallError'

  constructor(ms: number) {
    super(`said nothing for ${ms / 1000} s`)
  }
}

/** Thrown if the response ends without content. */
export class NothingSentError extends Error {
  override readonly name = 'NothingSentError'
}

interface FailedRequest {
  /** Whether a part of the answer had arrived. */
  readonly hasBegun: boolean
  /** Returns the sent conversation, which messages must not quote. */
  getSent(): string
}

/** A failed request to a model, which each function in `kinds` recognizes or not. */
interface Failed {
  readonly ai: Ai
  readonly error: unknown
  readonly of: FailingModel
  readonly hasBegun: boolean
}

/** The description of a failure by the function in `kinds` that recognizes it. */
interface Description
  extends Partial<Pick<ModelFailure, 'remedy' | 'words' | 'isPassing' | 'isBrokenOff' | 'waitMs' | 'cause'>> {
  readonly what: string
  /** The provider's message, appended; `''` = none. */
  readonly said?: string
}

/** Describes the error of a request for people and for programs. */
export function readFailure(
  ai: Ai,
  error: unknown,
  of: FailingModel,
  { hasBegun, getSent }: FailedRequest,
): ModelFailure {
  const found = describe({ ai, error, of, hasBegun })
  const { what, said = '', remedy = '', words = said, isPassing = false, isBrokenOff = false, waitMs } = found
  const cause = 'cause' in found ? found.cause : error
  const shown = quoteWords(said, getSent)
  return {
    what: shown === '' ? what : `${what}: ${shown}`,
    remedy: isTooLong(words) ? 'ask for less, or clear its memory' : remedy,
    words: toWords(words, getSent),
    isPassing,
    isBrokenOff,
    waitMs,
    cause,
  }
}

/** Kinds of failures; the first match describes the error. */
const kinds: readonly ((failed: Failed) => Description | undefined)[] = [
  // The error may quote an API key that the provider's package read from the environment. `credentials` does not contain that
  // key, so the error does not become the cause.
  ({ error }) =>
    isBadHeader(error)
      ? {
          what: 'could not be asked: a header contains an invalid character',
          remedy: 'check the API key and the headers for line breaks, quotation marks and the like',
          cause: undefined,
        }
      : undefined,
  ({ error }) =>
    error instanceof StallError ? { what: error.message, remedy: 'ask again later' } : undefined,
  (failed) =>
    failed.error instanceof NothingSentError || failed.ai.NoOutputGeneratedError.isInstance(failed.error)
      ? describeBrokenOff(failed)
      : undefined,
  ({ error, of }) =>
    error instanceof NoStreamError
      ? {
          what: isPage(error.body) ? 'answered with a web page' : 'gave no answer',
          said: readWords(error.body),
          remedy: hintAtAddress(of.baseURL) || (isPage(error.body) ? checkAddress : ''),
        }
      : undefined,
  ({ ai, error }) => {
    if (!isNonsense(ai, error)) return undefined
    // Only the error is quoted: the rest of the response may contain reasoning that must not be shown.
    const value = ai.TypeValidationError.isInstance(error) ? Object(error.value) : {}
    const said = findWords('choices' in value ? value.error : value)
    return said === '' ? nonsense : { what: 'failed', said }
  },
  (failed) => {
    if (!failed.ai.InvalidResponseDataError.isInstance(failed.error)) return undefined
    return failed.error.data === undefined ? describeBrokenOff(failed) : nonsense
  },
  ({ ai, error }) =>
    error instanceof ai.UnsupportedModelVersionError
      ? {
          what: 'is not known to the installed version of ai',
          remedy: 'install the version of ai that its provider is made for next to @meup/agent-sdk',
        }
      : undefined,
  ({ ai, error }) =>
    ai.LoadAPIKeyError.isInstance(error)
      ? { what: 'has no API key', said: error.message, words: '' }
      : undefined,
  // Replaces the original message, which lists ways to get a key on many lines.
  ({ error }) =>
    Object(error).name === 'GatewayAuthenticationError'
      ? { what: 'needs a valid key', remedy: 'set AI_GATEWAY_API_KEY where the agent runs' }
      : undefined,
  (failed) =>
    failed.ai.APICallError.isInstance(failed.error) ? describeCall(failed, failed.error) : undefined,
]

function describe(failed: Failed): Description {
  for (const kind of kinds) {
    const found = kind(failed)
    if (found !== undefined) return found
  }
  return { what: 'failed', said: readStreamError(failed.error) }
}

const describeBrokenOff = ({ hasBegun, of }: Failed): Description =>
  hasBegun
    ? { what: 'broke off its answer', isBrokenOff: true }
    : { what: 'ended its answer before it began', remedy: hintAtAddress(of.baseURL), isPassing: true }

function describeCall(failed: Failed, error: APICallError): Description {
  const { statusCode: status, responseBody: body = '', responseHeaders = {}, isRetryable: isPassing } = error
  if (status === undefined) {
    const said = error.message.replace(/^Cannot connect to API: /, '')
    return {
      what: 'cannot be reached',
      said: /SSL routines:[^:]*:([^:]+)/.exec(said)?.[1] ?? said,
      words: '',
      remedy: getRemedyOfSilence(error, failed.of),
      isPassing,
    }
  }
  if (status < 300) return isNonsense(failed.ai, error.cause) ? nonsense : describeBrokenOff(failed)
  const said = readWords(body) || error.message
  const waitMs = readWait(responseHeaders) ?? findWait(body)
  // A message about the key is not quoted: some servers repeat the refused key in it.
  const isAboutKey =
    (status === 401 || status === 403) && /key|token|credential|bearer|secret|authoriz/i.test(said)
  return {
    what: `answered ${status}`,
    said: isAboutKey ? '' : said,
    words: mayAdapt(status) ? `${said} ${body}` : '',
    remedy: getRemedy(status, failed.of, waitMs, said),
    isPassing,
    waitMs,
  }
}

/** Whether a changed request may succeed after this status. Servers report chat template errors as 5xx. */
const mayAdapt = (status: number): boolean => ![401, 402, 403, 408, 429].includes(status)

/**
 * The failure in one sentence, which all participants may read: model, server, what happened, what to do. The original error
 * becomes the cause, unless it quotes a credential.
 */
export function explainFailure({ what, remedy, cause }: ModelFailure, of: FailingModel, tries = 1): Error {
  const often = tries > 1 ? ` ${tries} times` : ''
  const happened = what.replace(
    /^(?:answered \d+|cannot be reached|ended its answer before it began)/,
    `$&${often}`,
  )
  const said = `${of.title} ${happened}`
  const text = remedy === '' ? said : addAdvice(said, remedy)
  const error = cause === undefined ? new Notice(text) : new Error(text, { cause })
  return withoutCredentials(error, of.credentials)
}

const nonsense = { what: 'sent an invalid response' }

/** Whether a request failed because of an invalid header. Node quotes its value in the error; it may be a key. */
function isBadHeader(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    /\bheader (?:value|content|name)\b|\binvalid \S+ header\b|\bByteString\b/i.test(error.message) ||
    isBadHeader(error.cause)
  )
}

const isNonsense = ({ JSONParseError, TypeValidationError }: Ai, error: unknown): boolean =>
  JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)

type Remedy = (of: FailingModel, waitMs: number | undefined, said: string) => string

const askAgain: Remedy = (_, waitMs) => `ask again ${waitMs === undefined ? 'later' : describeWait(waitMs)}`
/** Advice by status; other statuses above 500 use that of 500. */
const remedies: Readonly<Record<number, Remedy>> = {
  401: () => 'it needs a valid API key',
  402: () => 'its account needs credit',
  403: ({ name }) => `its API key may not use ${name}`,
  404: ({ name, baseURL }, _, said) =>
    (/\bmodel\b/i.test(said) ? '' : hintAtAddress(baseURL)) || `is ${name} the name of a model there?`,
  405: ({ baseURL }) => hintAtAddress(baseURL) || checkAddress,
  408: askAgain,
  429: askAgain,
  500: askAgain,
}

const checkAddress = 'check its address, and whether it needs a login'

const getRemedy = (status: number, of: FailingModel, waitMs: number | undefined, said: string): string =>
  /HTTPS (?:server|port)/i.test(said)
    ? tryAddress(of.baseURL?.replace(/^http:/i, 'https:'))
    : (remedies[Math.min(status, 500)]?.(of, waitMs, said) ?? '')

const tryAddress = (address: string | undefined): string =>
  address === undefined ? '' : `try the baseURL ${address}`

/** Path suffixes that belong to the request, not to the base address. */
const requestPath = /(?:\/chat)?\/(?:completions|responses|models|messages|generate|chat)\/?$/

/** Advice about an unusual address; most servers' base address ends in `/v1`. */
function hintAtAddress(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) return ''
  const { origin, pathname } = new URL(address)
  const path = pathname.replace(/\/$/, '')
  const base = path.replace(requestPath, '').replace(/(\/v\d+)\1$/, '$1')
  if (base !== path) return `try the baseURL ${origin}${base.replace(/^\/api$/, '/v1')}`
  if (path === '/api') return tryAddress(`${origin}/v1`) // Ollama's own API; its OpenAI-compatible one is at `/v1`.
  return /\/v\d|\/openai\b|\/api\b/.test(path) ? '' : tryAddress(`${origin}${path}/v1`)
}

/** Connection errors of Node, with advice. */
const silences: readonly (readonly [RegExp, Remedy])[] = [
  [/redirect/, () => checkAddress],
  [
    /wrong version number|packet length too long/,
    ({ baseURL }) => tryAddress(baseURL?.replace(/^https:/i, 'http:')),
  ],
  [/certificate|CERT_/, () => 'its certificate is not known here: set NODE_EXTRA_CA_CERTS'],
  [/ENOTFOUND|EAI_AGAIN/, () => 'check the name of its server, and the network'],
  [/bad port|unknown scheme/, () => 'check its address'],
]

function getRemedyOfSilence(error: Error, of: FailingModel): string {
  const said = `${error.message} ${getErrorMessage(error.cause)}`
  const found = silences.find(([words]) => words.test(said))?.[1](of, undefined, said)
  return found ?? (of.baseURL === undefined ? 'check the network' : 'check that its server runs there')
}
