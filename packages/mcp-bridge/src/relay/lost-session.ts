/** The refusal of a message with a session. 200: with a JSON-RPC error. */
export interface SessionRefusal {
  readonly status: number
  readonly body: string
}

/** A server's way to report an unknown session. */
interface Row {
  isStatus(status: number): boolean
  /** Required text of the body; absent = any. */
  readonly words?: RegExp
}

const aboutSession =
  /\bsession\b.{0,40}\b(?:not|unknown|invalid|expired|terminated|closed|ended|gone|lost|missing|no longer|unrecognized)\b|\b(?:no|not|unknown|invalid|expired|missing|terminated|unrecognized|stale)\b.{0,30}\bsession\b/i
const aboutHandshake = /\b(?:not|before)\b.{0,15}\binitiali[sz](?:ed|ation)\b|\buninitiali[sz]ed\b/i

/** 401 and 403 are about the caller; 502 to 504 come from a proxy without a server. */
const isOther = (status: number): boolean => ![401, 403, 502, 503, 504].includes(status)

/** The specification requires 404; the others are used by SDKs and servers. */
const rows: readonly Row[] = [
  { isStatus: (status) => status === 404 || status === 410 },
  { isStatus: (status) => status === 400, words: /^\s*$|\bsession\b/i },
  { isStatus: isOther, words: aboutSession },
  { isStatus: isOther, words: aboutHandshake },
]

/** JSON-RPC's own code: the session is known, but not the method. */
const methodNotFound = -32601
const maxWordChars = 500

/**
 * Whether a server refused a message because of an unknown session, and so did not carry it out. `params`: those of the
 * message. If they mention a session, an error in a response (200) may be about that one.
 */
export function hasLostSession({ status, body }: SessionRefusal, params: unknown): boolean {
  const { code, message = body } = readError(body)
  const isOwn = status === 200 && /session/i.test(JSON.stringify(params) ?? '')
  if (code === methodNotFound || isOwn) return false
  const words = splitNames(message.slice(0, maxWordChars))
  return rows.some((row) => row.isStatus(status) && (row.words?.test(words) ?? true))
}

/** `session_not_found` and `SessionNotFound` as separate words. */
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
