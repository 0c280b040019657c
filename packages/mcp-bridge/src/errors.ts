import { type Details, errorsOf, type McpResponsePayload } from '@meup/protocol'

/**
 * The messages of `ProgramError`, by code: what happened, with the value. `reason` is the end of a sentence that begins with
 * "it". The program that reads the settings, such as `meup up`, adds what to do, because it knows where the settings are.
 */
export const programTexts = {
  cannot_start: 'cannot start "{command}": {reason}',
  not_started: 'the tool server "{name}" did not start: it {reason}',
  late: 'timed out: no answer to {request} within {timeoutMs} ms',
  unavailable: 'the tool server "{name}" at {url} is not available: it {reason}',
  ended: 'the tool server "{name}" has ended: it {reason}. Send it again when the server is back.',
  invalid_address:
    'the address of the tool server "{name}" cannot be used. Write one such as https://tools.example/mcp.',
  secret_in_address: 'the address of the tool server "{name}" contains a password. Set it in a header.',
  /** The message omits the header's value, which may be a secret. */
  invalid_header:
    'the header {header} for the tool server "{name}" contains characters that a header cannot have. Remove them.',
} as const

/** A tool server or coding agent cannot be started or used. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError'
  constructor(
    readonly code: string,
    message: string,
    readonly details: Details,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

export const programError = errorsOf(
  programTexts,
  (code, message, details, options?: ErrorOptions) => new ProgramError(code, message, details, options),
)

const check = 'Check whether the call was carried out before you repeat it.'

/** The messages of responses to calls that the server `name` has not answered. */
export const relayTexts = {
  ended: 'the tool server "{name}" has ended: it {reason}. Repeat the call when the server is back.',
  ended_meanwhile: `the tool server "{name}" ended while the call was running: it {reason}. ${check}`,
  not_taken: 'the tool server "{name}" did not take the call: it {reason}. Correct that, or call it later.',
  broken_off: `the tool server "{name}" broke off its reply. ${check}`,
  cut: `the tool server "{name}" cut its reply {cuts} times without a message in between. ${check}`,
  late: `the tool server "{name}" did not answer within {timeoutMs} ms. ${check}`,
  cancelled: 'the call was cancelled: {reason}',
  cancelled_by_server: 'the tool server "{name}" cancelled the call: {reason}',
  no_outcome:
    'the tool server "{name}" answered with neither a result nor an error. Report that to its developer.',
  unreadable: 'the answer of the tool server "{name}" cannot be read: {problem}. It begins with {text}',
  no_status: 'the tool server "{name}" gave the task {task} no status. Report that to its developer.',
  unanswerable: 'the tool server "{name}" asks for more than it can be given. Call it with more arguments.',
} as const

/**
 * JSON-RPC codes of these errors; all others have the code -32000. The code for cancelled calls is from the Language Server
 * Protocol.
 */
const rpcCodes: Readonly<Partial<Record<keyof typeof relayTexts, number>>> = {
  ...{ late: -32001, cancelled: -32800, cancelled_by_server: -32800 },
  ...{ no_outcome: -32603, unreadable: -32603, no_status: -32603, unanswerable: -32603 },
}

export const relayError = errorsOf(
  relayTexts,
  (code, message): McpResponsePayload => ({
    jsonrpc: '2.0',
    error: { code: rpcCodes[code] ?? -32000, message },
  }),
)
