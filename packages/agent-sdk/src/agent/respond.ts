import { hasHalfCharacter, markReplaced } from '@meup/folds'
import {
  type EnvelopeOf,
  getErrorMessage,
  Kind,
  type McpResponsePayload,
  omitUndefined,
  ProtocolError,
  stringifyExact,
} from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import { ConnectionError } from '../client/errors.js'
import { createResponse } from '../client/frames.js'

type Request = Pick<EnvelopeOf<typeof Kind.mcpRequest>, 'id' | 'from' | 'context' | 'payload'>

/** Maximum characters of the gateway's refusal in the answer; it may quote the refused result. */
const maxReasonChars = 500

export const createErrorResponse = (code: number, message: string): McpResponsePayload => ({
  error: { code, message },
})

/**
 * Responds to a request. Replaces lone surrogates, with a note. If the gateway refuses the result, sends an error instead, so
 * that the asker does not have to wait for its timeout.
 */
export async function respond(
  space: Pick<BaseClient, 'sendPaced'>,
  request: Request,
  answer: McpResponsePayload,
): Promise<void> {
  const { id, from, context } = request
  const send = (response: McpResponsePayload): Promise<unknown> =>
    space.sendPaced({
      kind: Kind.mcpResponse,
      to: [from],
      correlationId: id,
      ...omitUndefined({ context }),
      payload: createResponse(request, response),
    })
  try {
    await send(hasHalfCharacter(answer.result) ? markReplaced(answer) : answer)
  } catch (error) {
    if (!canReplyWithError(error)) throw error
    const refused = (): Promise<unknown> => {
      const reason = getErrorMessage(error).slice(0, maxReasonChars).toWellFormed()
      const what = isCall(request) ? 'the tool has run; its result' : 'the answer'
      return send(createErrorResponse(internalError, `${what} cannot be sent: ${reason}`))
    }
    const excerpt = isTooLarge(error) && createExcerpt(request, answer, error)
    if (excerpt) await send(excerpt).catch(refused)
    else await refused()
  }
}

const isCall = ({ payload }: Request): boolean => payload.method === 'tools/call'

const isTooLarge = (error: unknown): error is ProtocolError =>
  error instanceof ProtocolError && error.code === 'payload_too_large'

/** Whether the gateway may accept an error after it refused the result. */
function canReplyWithError(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code !== 'capability_violation'
  return !(error instanceof ConnectionError)
}

/** Maximum bytes of an excerpt from a result that is too large. */
const maxExcerptBytes = 16 * 1024
/** The JSON-RPC code for internal errors. */
export const internalError = -32603

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

/**
 * Replaces a response that the space refused as too large [MEUP-1.5] by its size, the limit, and the beginning of its text. A
 * tool result becomes one with `isError`, so that a model reads it; other results become a JSON-RPC error.
 */
function createExcerpt(
  request: Request,
  { result, error }: McpResponsePayload,
  { details }: ProtocolError,
): McpResponsePayload | undefined {
  if (result === undefined || error !== undefined) return undefined
  const bytes = details.bytes ?? encoder.encode(JSON.stringify(result)).length
  const limit = typeof details.maxBytes === 'number' ? ` A response may have ${details.maxBytes}.` : ''
  const what = isCall(request) ? 'The tool has run. Its result' : 'The result'
  const summary = `${what} has ${bytes} bytes and is too large for this space.${limit}`
  const beginning = truncateUtf8(getText(result), maxExcerptBytes)
  const text = beginning === '' ? summary : `${summary} Its text begins:\n\n${beginning}`
  return isCall(request)
    ? { result: { content: [{ type: 'text', text }], isError: true } }
    : { error: { code: internalError, message: summary, data: { text: beginning } } }
}

/**
 * Extracts the text of a tool result, a resource or a prompt. Without one, returns the structured content or the whole result
 * as JSON.
 */
function getText(result: Record<string, unknown>): string {
  const blocks = [result.content, result.contents, result.messages].find(Array.isArray)
  if (blocks === undefined) return stringifyExact(result.structuredContent ?? result)
  const texts = blocks.map(getBlockText).filter((text) => typeof text === 'string')
  if (texts.length > 0) return texts.join('\n')
  return result.structuredContent === undefined ? '' : String(stringifyExact(result.structuredContent))
}

function getBlockText(block: unknown): unknown {
  const { text, content, resource } = Object(block) as Record<string, unknown>
  return text ?? (Object(content ?? resource) as Record<string, unknown>).text
}

/** Cuts a text to at most `maxBytes` of UTF-8, without splitting a character. */
function truncateUtf8(text: string, maxBytes: number): string {
  const bytes = encoder.encode(text.slice(0, maxBytes))
  if (bytes.length <= maxBytes) return text.slice(0, maxBytes).toWellFormed()
  return decoder.decode(bytes.subarray(0, maxBytes)).replace(/\uFFFD+$/, '')
}
