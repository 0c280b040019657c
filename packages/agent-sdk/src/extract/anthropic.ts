import type { ExtractionCollector } from './extraction-collector.js'
import { isFilled, type Json, record, records, string } from './json.js'

interface Block {
  readonly index: string
  /** The content block as it began, to which the text of thoughts is appended. */
  readonly content: Record<string, unknown>
}

/** Reads responses of Anthropic's Messages API. A complete response is read like a stream. */
export function anthropicReader(collector: ExtractionCollector): (chunk: Json) => void {
  let blocks = new Map<unknown, Block>()
  let begun = 0

  function begin(index: unknown, content: Json): Block {
    const block = { index: `block-${begun++}`, content: { ...content } }
    blocks.set(index, block)
    beginBlock(block, collector)
    return block
  }

  function readMessage(message: Json): void {
    blocks = new Map()
    for (const content of records(message.content ?? [])) {
      // Responses in OpenAI's form may contain thoughts in Anthropic's form; the reader of that form, in chat.ts, reads the
      // rest.
      if (content.type === 'thinking' || !('choices' in message))
        endBlock(begin(undefined, content), collector)
    }
    collector.usage(message.usage)
    collector.finish(message.stop_reason)
  }

  return (chunk) => {
    const { type, index } = chunk
    const known = blocks.get(index)
    if (type === 'message_start') readMessage(record(chunk.message) ?? {})
    else if (type === 'content_block_start') begin(index, record(chunk.content_block) ?? {})
    else if (type === 'content_block_delta') {
      const delta = record(chunk.delta) ?? {}
      appendTo(known ?? begin(index, getBlockStart(delta)), delta, collector)
    } else if (type === 'content_block_stop') {
      if (known !== undefined) endBlock(known, collector)
      blocks.delete(index)
    } else if (type === 'message_delta') {
      collector.usage(chunk.usage)
      collector.finish(record(chunk.delta)?.stop_reason)
    } else if (Array.isArray(chunk.content)) readMessage(chunk)
  }
}

/** Returns the start of a block whose first event is missing. */
function getBlockStart(delta: Json): Json {
  const isThought = 'thinking' in delta || 'signature' in delta
  return isThought ? { type: 'thinking', thinking: '', signature: '' } : {}
}

function beginBlock({ index, content }: Block, collector: ExtractionCollector): void {
  const { type, id, name, input } = content
  if (type === 'thinking') collector.reasoning('anthropic', string(content.thinking) ?? '', index)
  else if (type === 'redacted_thinking') {
    collector.opaque(content)
    collector.sealed('anthropic')
    collector.redacted()
  } else if (type === 'text') collector.text(string(content.text) ?? '')
  else if (type === 'tool_use') {
    const isWhole = Object.keys(record(input) ?? {}).length > 0
    const given = isWhole ? { value: input } : { json: string(input) }
    collector.callPart(index, { id: string(id), name: string(name), ...given })
  }
}

function appendTo({ index, content }: Block, delta: Json, collector: ExtractionCollector): void {
  const { thinking, signature, text, partial_json: json } = delta
  if (typeof thinking === 'string') {
    content.thinking = (string(content.thinking) ?? '') + thinking
    collector.reasoning('anthropic', thinking, index)
  } else if (typeof signature === 'string') {
    content.signature = (string(content.signature) ?? '') + signature
  } else if (typeof text === 'string') collector.text(text)
  else if (typeof json === 'string' && content.type === 'tool_use') collector.callPart(index, { json })
}

/** Ends a block. A thought has to be sent back even if it is empty, but never incomplete. */
function endBlock({ index, content }: Block, collector: ExtractionCollector): void {
  if (content.type === 'thinking') {
    collector.endThought()
    collector.opaque(content)
    if (isFilled(content.signature)) collector.sealed('anthropic')
  } else if (content.type === 'tool_use') collector.endCalls(index)
}
