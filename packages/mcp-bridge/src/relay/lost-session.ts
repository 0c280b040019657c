/** The response with which a server refused a message. If its status is 200, its body is a JSON-RPC error. */
export interface SessionRefusal {
  readonly status: number
  readonly body: string
}

/** A form in which servers report an unknown session. */
interface Form {
  isStatus(status: number): boolean
  /** Pattern that the error message must match; absent = any message. */
  readonly words?: RegExp
}

const aboutSession =
  /\bsession\b.{0,40}\b(?:not|unknown|invalid|expired|terminated|closed|ended|gone|lost|missing|no longer|unrecognized)\b|\b(?:no|not|unknown|invalid|expired|missing|terminated|unrecognized|stale)\b.{0,30}\bsession\b/i
const aboutHandshake = /\b(?:not|before)\b.{0,15}\binitiali[sz](?:ed|ation)\b|\buninitiali[sz]ed\b/i

/**
 * Whether a refusal with this status may concern the session: not the credentials (401, 403), nor a proxy without a server (502
 * to 504).
 */
const mayConcernSession = (status: number): boolean => ![401, 403, 502, 503, 504].includes(status)

/** The MCP specification requires 404. The other forms are used by SDKs and servers. */
const forms: readonly Form[] = [
  { isStatus: (status) => status === 404 || status === 410 },
  { isStatus: (status) => status === 400, words: /^\s*$|\bsession\b/i },
  { isStatus: mayConcernSession, words: aboutSession },
  { isStatus: mayConcernSession, words: aboutHandshake },
]

/** The JSON-RPC code for an unknown method, which means that the session itself is known. */
const methodNotFound = -32601
const maxWordChars = 500

/**
 * Whether a server refused a message because it does not know the session, so that the message was not carried out. `params`:
 * those of the message. If they contain the word session, an error in a response (200) may concern them.
 */
export function hasLostSession({ status, body }: SessionRefusal, params: unknown): boolean {
  const { code, message = body } = readError(body)
  const isOwn = status === 200 && /session/i.test(JSON.stringify(params) ?? '')
  if (code === methodNotFound || isOwn) return false
  const words = splitNames(message.slice(0, maxWordChars))
  return forms.some((form) => form.isStatus(status) && (form.words?.test(words) ?? true))
}

/** Splits names such as `session_not_found` and `SessionNotFound` into words. */
const splitNames = (text: string): string => text.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ')

function readError(body: string): { readonly code?: unknown; readonly message?: string } {
  try {
    const { error } = Object(JSON.parse(body)) as { error?: unknown }
    if (typeof error === 'string') return { message: error }
    const { code, message } = Object(error) as { code?: unknown; message?: unknown }
    return typeof message === 'string' ? { code, message } : { code }
  } catch {
    return {} // Plain text or empty.
  }
}
