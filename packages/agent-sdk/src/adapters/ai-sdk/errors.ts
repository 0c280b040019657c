import { cut, onOneLine } from '@meup/folds'
import { getErrorMessage } from '../../client/errors.js'
import { withoutCredentials } from '../credentials.js'
import { NoStreamError } from './fetch-stream.js'
import { isTooLong } from './refusals.js'
import { describeWait, findWait, readWait } from './retry-after.js'

/** The used part of the package. */
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

/** Which model failed, as its users know it. */
export interface FailingModel {
  readonly name: string
  /** With where it is: `qwen3 at http://127.0.0.1:11434/v1`. */
  readonly title: string
  readonly provider: string
  readonly baseURL: string | undefined
  /** Texts that no message may quote. */
  readonly credentials: readonly string[]
}

/** The failure of a request to a model. */
export interface Failure {
  /** The predicate of a sentence about the model. */
  readonly what: string
  /** The advice to its reader; `''` = none is known. */
  readonly remedy: string
  /** The provider's words, for programs. */
  readonly words: string
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean
  /** Whether the answer had begun, and ended without a word why. */
  readonly isBrokenOff: boolean
  /** Milliseconds, as the provider says. */
  readonly waitMs: number | undefined
  readonly cause: unknown
}

/** A model said nothing for too long. */
export class StallError extends Error {
  override readonly name = 'StallError'

  constructor(ms: number) {
    super(`said nothing for ${ms / 1000} s`)
  }
}

/** The answer has ended before it began. */
export class NothingSentError extends Error {
  override readonly name = 'NothingSentError'
}

/** Characters of a provider's words for people, and for programs. */
const [maxQuoteChars, maxWordsChars] = [300, 1500]

interface FailedRequest {
  /** Whether a part of the answer had arrived. */
  readonly hasBegun: boolean
  /** The conversation, which nothing quotes. */
  getSent(): string
}

/** Reads the error of a request, for people and for programs. */
export function readFailure(ai: Ai, error: unknown, of: FailingModel, request: FailedRequest): Failure {
  const failure = read(ai, error, of, request)
  return isTooLong(failure.words) ? { ...failure, remedy: 'ask for less, or clear its memory' } : failure
}

function read(ai: Ai, error: unknown, of: FailingModel, { hasBegun, getSent }: FailedRequest): Failure {
  const toWords = (text: string): string => withoutEchoes(onOneLine(text).slice(0, maxWordsChars), getSent)
  const failure = {
    what: '',
    remedy: '',
    words: '',
    isPassing: false,
    isBrokenOff: false,
    waitMs: undefined,
    cause: error,
  }
  const quote = (said: string): string => {
    const shown = cut(toWords(withoutKeyLike(said.slice(0, 2 * maxWordsChars))), maxQuoteChars).trim()
    return shown === '' ? '' : `: ${shown}`
  }
  if (isBadHeader(error)) {
    // Keys that a provider's package reads by itself are not known here.
    return {
      ...failure,
      what: 'could not be asked: a header holds a character that no header can',
      remedy: 'check the API key for line breaks',
      cause: undefined,
    }
  }
  if (error instanceof StallError) return { ...failure, what: error.message, remedy: 'ask again later' }
  const brokenOff = hasBegun
    ? { what: 'broke off its answer', isBrokenOff: true }
    : { what: 'ended its answer before it began', remedy: hintAtAddress(of.baseURL), isPassing: true }
  if (error instanceof NothingSentError || ai.NoOutputGeneratedError.isInstance(error))
    return { ...failure, ...brokenOff }
  if (error instanceof NoStreamError) {
    const said = readWords(error.body)
    const what = isPage(error.body)
      ? `answered with a web page${quote(said)}`
      : `gave no answer${quote(said)}`
    return {
      ...failure,
      what,
      remedy: hintAtAddress(of.baseURL),
      words: toWords(said),
    }
  }
  if (isNonsense(ai, error)) {
    // All else of the response may be reasoning that must not be shown.
    const said = ai.TypeValidationError.isInstance(error) ? findWords(Object(error.value).error, 0) : ''
    return said === ''
      ? { ...failure, ...nonsense }
      : { ...failure, what: `failed${quote(said)}`, words: toWords(said) }
  }
  if (ai.InvalidResponseDataError.isInstance(error))
    return { ...failure, ...(error.data === undefined ? brokenOff : nonsense) }
  if (error instanceof ai.UnsupportedModelVersionError) {
    const remedy = 'install the version of ai that its provider is made for beside @meup/agent-sdk'
    return { ...failure, what: 'is not known to the installed version of ai', remedy }
  }
  if (ai.LoadAPIKeyError.isInstance(error))
    return { ...failure, what: `has no API key${quote(error.message)}` }
  // It lists its ways to get a key on many lines.
  if (Object(error).name === 'GatewayAuthenticationError')
    return { ...failure, what: 'needs a valid key', remedy: 'set AI_GATEWAY_API_KEY where the agent runs' }
  if (!ai.APICallError.isInstance(error)) {
    const said = readStreamError(error)
    return {
      ...failure,
      what: `failed${quote(said)}`,
      words: toWords(said),
    }
  }
  const {
    statusCode: status,
    responseBody = '',
    responseHeaders = {},
    message,
    isRetryable: isPassing,
  } = error
  if (status === undefined) {
    const why = message.replace(/^Cannot connect to API: /, '')
    return {
      ...failure,
      what: `cannot be reached${quote(why)}`,
      remedy: getRemedyOfSilence(error, of),
      isPassing,
    }
  }
  if (status < 300) return { ...failure, ...(isNonsense(ai, error.cause) ? nonsense : brokenOff) }
  const said = readWords(responseBody) || message
  const waitMs = readWait(responseHeaders) ?? findWait(responseBody)
  // Some servers quote the key that they refuse.
  const isAboutKey =
    (status === 401 || status === 403) && /key|token|credential|bearer|secret|authoriz/i.test(said)
  return {
    ...failure,
    what: `answered ${status}${isAboutKey ? '' : quote(said)}`,
    remedy: getRemedy(status, of, waitMs),
    words: mayAdapt(status) ? toWords(`${said} ${responseBody}`) : '',
    isPassing,
    waitMs,
  }
}

/** Whether a changed request may succeed after this status. Servers report errors of chat templates as 5xx. */
const mayAdapt = (status: number): boolean => ![401, 402, 403, 408, 429].includes(status)

/**
 * The failure in one sentence, for everyone to read: model, server, what happened, what to do. The original error is the cause,
 * unless it quotes a credential.
 */
export function explainFailure({ what, remedy, cause }: Failure, of: FailingModel, tries = 1): Error {
  const often = tries > 1 ? ` ${tries} times` : ''
  const happened = what.replace(
    /^(?:answered \d+|cannot be reached|ended its answer before it began)/,
    `$&${often}`,
  )
  const text = [`${of.title} ${happened}`, remedy]
    .filter((part) => part !== '')
    .join(/^answered \d+$/.test(what) ? ': ' : '; ')
  return withoutCredentials(new Error(text, cause === undefined ? {} : { cause }), of.credentials)
}

const nonsense = { what: 'sent what makes no sense' }

/** The platform quotes the value that it refuses. */
function isBadHeader(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /\bheader value\b|\bheader content\b/i.test(error.message) || isBadHeader(error.cause)
}

const isNonsense = ({ JSONParseError, TypeValidationError }: Ai, error: unknown): boolean =>
  JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)

type Remedy = (of: FailingModel, waitMs: number | undefined) => string

const askAgain: Remedy = (_, waitMs) => `ask again ${waitMs === undefined ? 'later' : describeWait(waitMs)}`
/** By status; of all others above 500 the one of 500. */
const remedies: Readonly<Record<number, Remedy>> = {
  401: () => 'it needs a valid API key',
  402: () => 'its account needs credit',
  403: ({ name }) => `its API key may not use ${name}`,
  404: ({ name, baseURL }) => hintAtAddress(baseURL) || `is ${name} the name of a model there?`,
  405: ({ baseURL }) => hintAtAddress(baseURL) || 'check its address',
  408: askAgain,
  429: askAgain,
  500: askAgain,
}

const getRemedy = (status: number, of: FailingModel, waitMs: number | undefined): string =>
  remedies[Math.min(status, 500)]?.(of, waitMs) ?? ''

/** Advice about an unusual address: the address of most servers ends in `/v1`. */
function hintAtAddress(address: string | undefined): string {
  if (address === undefined) return ''
  const [base, ...more] = address.split(/\/(?:chat\/)?completions|\/responses/)
  if (more.length > 0) return `the baseURL ends too late: try ${base}`
  return /\/v\d|\/openai\b|\/api\b/.test(address) ? '' : `try the baseURL ${address.replace(/\/$/, '')}/v1`
}

function getRemedyOfSilence(error: Error, { baseURL }: FailingModel): string {
  const isCircle = /redirect/.test(`${error.message} ${getErrorMessage(error.cause)}`)
  if (isCircle) return 'check its address, and whether it needs a login'
  return baseURL === undefined ? 'check the network' : 'check that its server runs there'
}

const isPage = (body: string): boolean => /^\s*<(?:!|html|head|body)/i.test(body)

/** Fields in which servers say what went wrong, the most telling first. */
const wordFields = [
  'error_description',
  'message',
  'Message',
  'detail',
  'msg',
  'error',
  'errors',
  'reason',
  'title',
  'details',
]

/** The server's words about a failure in JSON of any shape, a web page or a text; `''` = none. */
function readWords(body: string): string {
  if (isPage(body)) return /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim() ?? ''
  return findWords(body.replace(/^data:\s*/, ''), 0)
}

function findWords(value: unknown, depth: number): string {
  if (depth > 6) return ''
  if (typeof value === 'string') {
    const json = /^\s*[[{]/.test(value) ? parse(value) : undefined
    return json === undefined ? value.trim() : findWords(json, depth + 1)
  }
  if (Array.isArray(value)) {
    const all = value.slice(0, 3).map((each) => findWords(each, depth + 1))
    return all.filter((text) => text !== '').join('; ')
  }
  if (typeof value !== 'object' || value === null) return ''
  const fields: Readonly<Record<string, unknown>> = { ...value }
  const said = wordFields.map((name) => findWords(fields[name], depth + 1)).find((text) => text !== '') ?? ''
  // Where in the request, as FastAPI says; what another server said, as OpenRouter does.
  const place = Array.isArray(fields.loc) ? `${fields.loc.join('.')}: ` : ''
  const raw = findWords(Object(fields.metadata).raw, depth + 1)
  return `${place}${said}${raw === '' ? '' : `: ${raw}`}`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Providers report errors within a stream in forms of their own. */
function readStreamError(error: unknown): string {
  if (error instanceof Error) return findWords(error.message, 0)
  return findWords(error, 0) || (JSON.stringify(error) ?? getErrorMessage(error))
}

/** Redacts texts that look like keys, also partly masked ones. */
const withoutKeyLike = (text: string): string =>
  text
    .replace(/(?<![A-Za-z0-9])[\w-]*?[A-Za-z0-9]{16,}[\w-]*/g, (found) =>
      /\d/.test(found) && /[A-Za-z]/.test(found) ? redacted : found,
    )
    .replace(/[\w-]*\*{3,}[\w-]*/g, redacted)

const redacted = '[redacted:key]'

/** Characters that are an echo, if they were sent. */
const echoChars = 40

/** A text without what it repeats of the conversation that was sent. */
function withoutEchoes(text: string, getSent: () => string): string {
  if (text.length < echoChars) return text
  const sent = onOneLine(getSent())
  let kept = ''
  for (let at = 0; at < text.length; ) {
    let length = 0
    while (
      at + length + echoChars <= text.length &&
      sent.includes(text.slice(at + length, at + length + echoChars))
    )
      length++
    if (length === 0) kept += text[at++]
    else {
      kept += '[…]'
      at += length + echoChars - 1
    }
  }
  return kept
}
