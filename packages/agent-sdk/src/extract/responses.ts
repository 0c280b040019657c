import type { ExtractionCollector } from './extraction-collector.js'
import { isFilled, type Json, record, records, string } from './json.js'

/**
 * Types of stream events with the kind of text that they contain. `at`: the field with the number of the text within the item.
 */
const texts = new Map([
  ['response.reasoning_summary_text', { kind: 'summary', at: 'summary_index' }],
  ['response.reasoning_text', { kind: 'reasoning_text', at: 'content_index' }],
  ['response.output_text', { kind: 'text', at: 'content_index' }],
  ['response.refusal', { kind: 'text', at: 'content_index' }],
  ['response.function_call_arguments', { kind: 'arguments', at: '' }],
] as const)
type Kind = 'summary' | 'reasoning_text' | 'text' | 'arguments'

const isLast = /^response\.(?:completed|incomplete|failed)$/

/**
 * Reads responses of OpenAI's Responses API and compatible ones. A stream repeats its content: in pieces, then as texts, as
 * items and as the whole response. Repetitions only add what is missing.
 */
export function responsesReader(collector: ExtractionCollector): (chunk: Json) => void {
  const received = new Map<string, string>()
  const ended = new Set<unknown>()
  /** Keys of the items, by item id; some proxies change ids between events. */
  let keys = new Map<unknown, string>()
  let responses = 0

  function getItemKey(index: unknown, id: unknown): string {
    const key =
      typeof index === 'number' ? `item-${responses}-${index}` : (keys.get(id) ?? `item-${responses}-${id}`)
    if (id !== undefined) keys.set(id, key)
    return key
  }

  function append(item: string, kind: Kind, at: unknown, text: string): void {
    const key = `${item} ${kind} ${at}`
    received.set(key, (received.get(key) ?? '') + text)
    if (kind === 'text') collector.text(text)
    else if (kind === 'arguments') collector.callPart(item, { json: text })
    else collector.reasoning(kind, text, key)
  }

  function appendMissing(item: string, kind: Kind, at: unknown, whole: unknown): void {
    const known = received.get(`${item} ${kind} ${at}`) ?? ''
    if (typeof whole === 'string' && whole.startsWith(known))
      append(item, kind, at, whole.slice(known.length))
  }

  function appendParts(item: string, kind: Kind, parts: unknown): void {
    if (!Array.isArray(parts)) return
    for (const [at, part] of records(parts).entries())
      appendMissing(item, kind, at, part.text ?? part.refusal)
  }

  function endItem(key: string, item: Json): void {
    if (ended.has(key) || ended.has(item.id)) return
    ended.add(key)
    if (isFilled(item.id)) ended.add(item.id)
    if (item.type === 'message') appendParts(key, 'text', item.content)
    else if (item.type === 'reasoning') {
      appendParts(key, 'summary', item.summary)
      appendParts(key, 'reasoning_text', item.content)
      collector.endThought()
      collector.opaque(item)
      if (isFilled(item.encrypted_content)) collector.sealed('summary')
    } else if (isCall(item)) {
      beginCall(key, item, collector)
      appendMissing(key, 'arguments', undefined, item.arguments)
      collector.endCalls(key)
    }
  }

  function endResponse(response: Json): void {
    for (const [index, item] of records(response.output ?? []).entries()) {
      endItem(keys.get(item.id) ?? getItemKey(index, item.id), item)
    }
    collector.usage(response.usage)
    collector.finish(response.status)
  }

  function readEvent(type: string, chunk: Json): void {
    const item = record(chunk.item) ?? {}
    const key = getItemKey(chunk.output_index, chunk.item_id ?? item.id)
    const place = texts.get(type.replace(/\.(?:delta|done)$/, '') as never)
    if (place !== undefined) {
      const at = chunk[place.at]
      if (type.endsWith('.done'))
        appendMissing(key, place.kind, at, chunk.text ?? chunk.refusal ?? chunk.arguments)
      else append(key, place.kind, at, string(chunk.delta) ?? '')
    } else if (type === 'response.created') {
      responses++
      keys = new Map()
    } else if (type === 'response.output_item.added') beginCall(key, item, collector)
    else if (type === 'response.output_item.done') endItem(key, item)
    else if (isLast.test(type)) endResponse(record(chunk.response) ?? {})
  }

  return (chunk) => {
    const { type } = chunk
    if (typeof type === 'string' && type.startsWith('response.')) readEvent(type, chunk)
    else if (Array.isArray(chunk.output)) endResponse(chunk)
  }
}

const isCall = ({ type }: Json): boolean => type === 'function_call' || type === 'custom_tool_call'

/** Starts a call. A custom tool's input is free text, which is complete only at the end. */
function beginCall(key: string, item: Json, collector: ExtractionCollector): void {
  if (!isCall(item)) return
  const names = { id: string(item.call_id) ?? string(item.id), name: string(item.name) }
  const isCustom = item.type === 'custom_tool_call' && isFilled(item.input)
  collector.callPart(key, { ...names, ...(isCustom && { value: item.input }) })
}
