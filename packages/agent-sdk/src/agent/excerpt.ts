import type { McpResponsePayload, ProtocolError } from '@meup/protocol'

/** Bytes of the text of a result that is too large to be sent whole. */
const maxExcerptBytes = 16 * 1024
/** JSON-RPC's own code. */
export const internalError = -32603

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

/**
 * What stands for a response that the space refused as too large [MEUP-1.5]: its size, the limit, and the beginning of
 * its text. A tool's result becomes a result that says `isError`, so that a model reads it; any other an error of JSON-RPC.
 */
export function excerptOf(
  method: string,
  { result, error }: McpResponsePayload,
  { details }: ProtocolError,
): McpResponsePayload | undefined {
  if (result === undefined || error !== undefined) return undefined
  const bytes = details.bytes ?? encoder.encode(JSON.stringify(result)).length
  const limit = typeof details.maxBytes === 'number' ? ` A response may have ${details.maxBytes}.` : ''
  const summary = `The result has ${bytes} bytes and is too large for this space.${limit}`
  const beginning = firstBytes(textOf(result), maxExcerptBytes)
  const text = beginning === '' ? summary : `${summary} Its text begins:\n\n${beginning}`
  return method === 'tools/call'
    ? { result: { content: [{ type: 'text', text }], isError: true } }
    : { error: { code: internalError, message: summary, data: { text: beginning } } }
}

/** The texts of a tool's result, of a resource or of a prompt; otherwise its structured content, or all of it, as JSON. */
function textOf(result: Record<string, unknown>): string {
  const blocks = [result.content, result.contents, result.messages].find(Array.isArray)
  if (blocks === undefined) return JSON.stringify(result.structuredContent ?? result)
  const texts = blocks.map(textOfBlock).filter((text) => typeof text === 'string')
  if (texts.length > 0) return texts.join('\n')
  return result.structuredContent === undefined ? '' : JSON.stringify(result.structuredContent)
}

function textOfBlock(block: unknown): unknown {
  const { text, content, resource } = Object(block) as Record<string, unknown>
  return text ?? (Object(content ?? resource) as Record<string, unknown>).text
}

/** At most so many bytes of UTF-8, cut between two characters. */
function firstBytes(text: string, maxBytes: number): string {
  const bytes = encoder.encode(text.slice(0, maxBytes))
  if (bytes.length <= maxBytes) return text.slice(0, maxBytes).toWellFormed()
  return decoder.decode(bytes.subarray(0, maxBytes)).replace(/\uFFFD+$/, '')
}
