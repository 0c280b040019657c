import type { ExtractionCollector } from './extraction-collector.js'
import { isFilled, type Json, record, records, string } from './json.js'

interface Thought {
  text: string
  signature: string
}

/**
 * Reads responses of Amazon Bedrock's Converse API. In streams of the AWS SDK, each event is wrapped in a field with its name;
 * over HTTP it is not.
 */
export function bedrockReader(collector: ExtractionCollector): (chunk: Json) => void {
  const thoughts = new Map<unknown, Thought>()

  function readDelta(index: unknown, content: Json): void {
    const { reasoningContent, text, toolUse, citationsContent } = content
    const key = `block-${index}`
    if (typeof text === 'string') collector.text(text)
    else if (record(citationsContent) !== undefined) {
      for (const cited of records(record(citationsContent)?.content)) collector.text(string(cited.text) ?? '')
    } else if (record(toolUse) !== undefined) readCall(key, record(toolUse) ?? {}, collector)
    else if (record(reasoningContent) !== undefined) readThought(index, record(reasoningContent) ?? {})
  }

  function readThought(index: unknown, { text, signature, redactedContent, reasoningText }: Json): void {
    if (redactedContent !== undefined) {
      collector.opaque({ reasoningContent: { redactedContent } })
      collector.sealed('reasoningContent')
      collector.redacted()
      return
    }
    const reasoning = record(reasoningText) ?? { text, signature }
    const thought = thoughts.get(index) ?? { text: '', signature: '' }
    thoughts.set(index, thought)
    thought.text += string(reasoning.text) ?? ''
    thought.signature += string(reasoning.signature) ?? ''
    collector.reasoning('reasoningContent', string(reasoning.text) ?? '', `block-${index}`)
  }

  function endBlock(index: unknown): void {
    const thought = thoughts.get(index)
    if (thought !== undefined) {
      thoughts.delete(index)
      collector.endThought()
      const { text, signature } = thought
      collector.opaque({ reasoningContent: { reasoningText: { text, ...(signature && { signature }) } } })
      if (isFilled(signature)) collector.sealed('reasoningContent')
    }
    collector.endCalls(`block-${index}`)
  }

  return (chunk) => {
    const message = record(record(chunk.output)?.message)
    const event = unwrapEvent(chunk)
    if (message !== undefined) {
      for (const [index, content] of records(message.content).entries()) {
        readDelta(index, content)
        endBlock(index)
      }
    } else if (event === undefined) return
    else if ('contentBlockIndex' in event) {
      const { contentBlockIndex: index, start, delta } = event
      const content = record(start) ?? record(delta)
      if (content === undefined) endBlock(index)
      else readDelta(index, content)
    }
    collector.usage((event ?? chunk).usage)
    collector.finish((event ?? chunk).stopReason)
  }
}

const names = ['contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata']
const marks = ['contentBlockIndex', 'stopReason', 'metrics']

function unwrapEvent(chunk: Json): Json | undefined {
  const named = names.map((name) => record(chunk[name])).find((each) => each !== undefined)
  return named ?? (marks.some((mark) => mark in chunk) ? chunk : undefined)
}

/** Reads a tool call. A complete response has its input as a value, a stream has pieces of its JSON. */
function readCall(key: string, { toolUseId, name, input }: Json, collector: ExtractionCollector): void {
  const given = typeof input === 'string' ? { json: input } : { value: input }
  collector.callPart(key, { id: string(toolUseId), name: string(name), ...given })
}
