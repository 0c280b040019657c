import { getErrorMessage } from '@meup/protocol'
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'

const LONGEST_QUOTE = 200

/** Describes how the server failed, as the end of a sentence that begins with "it". */
export function describeRelayFailure(error: unknown): string {
  // Describes the cause instead: the SDK wraps errors of the handshake without adding information.
  if (error instanceof SdkError && error.cause !== undefined) return describeRelayFailure(error.cause)
  if (error instanceof SdkHttpError) return describeStatus(error)
  if (error instanceof SdkError && error.code === SdkErrorCode.ClientHttpUnexpectedContent) {
    return `answered with neither JSON nor an event stream. ${isItMcp}`
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return 'answered with a result that MCP does not define'
  if (error instanceof ProtocolError) return `answered with an error: ${error.message}`
  const name = error instanceof Error ? error.name : ''
  if (['SyntaxError', 'ZodError', '$ZodError'].includes(name)) {
    return `answered with something that is not JSON-RPC. ${isItMcp}`
  }
  return isNetworkFailure(error) ? describeNetwork(error) : getErrorMessage(error)
}

/** Whether the error shows that the address does not accept MCP messages. */
export function isUnknownAddress(error: unknown): boolean {
  if (error instanceof SdkError && error.cause !== undefined) return isUnknownAddress(error.cause)
  return error instanceof SdkHttpError && [400, 404, 405].includes(error.status ?? 0)
}

const isItMcp = 'Check that this is the address of an MCP server'

function describeStatus({ status, data, message }: SdkHttpError): string {
  if (status === 401) return 'asks for authorization (HTTP 401). Give a valid one in its headers'
  if (status === 403) return 'denies access (HTTP 403). Check its headers'
  const answered = `answered HTTP ${status}`
  // For a redirect, the SDK's message contains the target, and the name of an option that is removed here.
  const text = status < 400 ? message.replace(/^.*?: | \(redirectPolicy.*\)$/g, '') : quote(data.text)
  return status === 404 || status === 405 ? `${answered}. ${isItMcp}` : answered + (text && `: ${text}`)
}

/** Returns the text of a JSON-RPC error, or plain text; `''` for HTML pages. */
function quote(body: unknown): string {
  if (typeof body !== 'string' || body.trimStart().startsWith('<')) return ''
  return (parseErrorBody(body)?.message ?? body.trim()).slice(0, LONGEST_QUOTE).toWellFormed()
}

interface ErrorBody {
  readonly id: unknown
  readonly message: string
}

/** Reads the JSON-RPC error in the body of an HTTP error; `undefined` = it contains none. */
export function parseErrorBody(body: unknown): ErrorBody | undefined {
  try {
    const { id, error } = JSON.parse(String(body)) as { id?: unknown; error?: { message?: unknown } }
    return typeof error?.message === 'string' ? { id, message: error.message } : undefined
  } catch {
    return undefined // Not JSON, such as a proxy's error page.
  }
}

/** Whether `fetch` failed without receiving an HTTP response. */
export function isNetworkFailure(error: unknown): error is TypeError & { readonly cause: Error } {
  return error instanceof TypeError && error.cause instanceof Error
}

function describeNetwork({ cause }: { readonly cause: Error & { readonly code?: string } }): string {
  return `could not be reached: ${cause.message || cause.code}`
}
