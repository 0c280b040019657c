import type { ExtractionCollector } from './extraction-collector.js'
import { isFilled, type Json, record, records, string } from './json.js'

interface OpenCall {
  readonly key: string
  readonly args: Record<string, unknown>
  /** The call, with the arguments received so far. */
  readonly call: Json
}

/**
 * Reads responses of Gemini. A complete response has the same form as a chunk of a stream. Any part may carry a signature, even
 * one without text.
 */
export function geminiReader(collector: ExtractionCollector): (chunk: Json) => void {
  let begun = 0
  /** A call whose arguments are still arriving, one by one. */
  let open: OpenCall | undefined

  /** Reads a piece of a call. Returns the call with all its pieces, as it has to be sent back. */
  function readCall(call: Json): Json {
    const { id, name, args, partialArgs, willContinue } = call
    const names = { id: string(id), name: string(name) }
    if (isFilled(name) && willContinue !== true && !Array.isArray(partialArgs)) {
      open = undefined
      collector.call({ ...names, value: args ?? {} })
      return call
    }
    if (isFilled(name) || open === undefined) {
      const all = { ...record(args) }
      open = { key: `streamed-${begun++}`, args: all, call: { ...(isFilled(id) && { id }), name, args: all } }
      collector.callPart(open.key, { ...names, value: open.args })
    }
    for (const part of Array.isArray(partialArgs) ? records(partialArgs) : []) placeArgument(open.args, part)
    const { key, call: whole } = open
    if (willContinue !== true) {
      collector.endCalls(key)
      open = undefined
    }
    return whole
  }

  function readPart(part: Json): void {
    const { text, thought, thoughtSignature, functionCall } = part
    if (thought === true) collector.thought('thought', string(text) ?? '')
    else if (typeof text === 'string') collector.text(text)
    const call = record(functionCall)
    const whole = call && readCall(call)
    if (!isFilled(thoughtSignature)) return
    collector.opaque(whole === call ? part : { ...part, functionCall: whole })
    collector.sealed('thought')
  }

  return (chunk) => {
    if (!('candidates' in chunk) && !('usageMetadata' in chunk)) return
    const [candidate] = records(chunk.candidates).filter(({ index }) => (index ?? 0) === 0)
    for (const part of records(record(candidate?.content)?.parts)) readPart(part)
    collector.usage(chunk.usageMetadata)
    collector.finish(candidate?.finishReason)
  }
}

const steps = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/g

/**
 * Applies a streamed argument at its `jsonPath`, such as `$.recipe.ingredients[0].name`: appends a text, or sets any other
 * value. Ignores invalid paths.
 */
function placeArgument(args: Record<string, unknown>, part: Json): void {
  const keys = [...(string(part.jsonPath) ?? '').matchAll(steps)].map(
    ([, name, index, quoted, other]) => name ?? quoted ?? other ?? Number(index),
  )
  const last = keys.pop()
  let at: object | undefined = args
  for (const [place, key] of keys.entries()) {
    const next = keys[place + 1] ?? last
    at = at && inner(at, key, typeof next === 'number' ? [] : {})
  }
  if (at === undefined || last === undefined) return
  const value = 'stringValue' in part ? joined(get(at, last), part.stringValue) : plain(part)
  if (value !== undefined) put(at, last, value)
}

const plain = ({ numberValue, boolValue, ...rest }: Json): unknown =>
  numberValue ?? boolValue ?? ('nullValue' in rest ? null : undefined)

const joined = (known: unknown, more: unknown): unknown =>
  typeof known === 'string' && typeof more === 'string' ? known + more : more

type Key = string | number

/** Returns the object or array at `key`; inserts `empty` if the key is missing. */
function inner(at: object, key: Key, empty: object): object | undefined {
  const known = get(at, key)
  if (record(known) !== undefined || Array.isArray(known)) return known as object
  return known === undefined && put(at, key, empty) ? empty : undefined
}

const get = (at: object, key: Key): unknown => (Object.hasOwn(at, key) ? (at as Json)[key] : undefined)

/** Sets a value in an object or list. `false`: the position is invalid, such as one that would leave a gap in a list. */
function put(at: object, key: Key, value: unknown): boolean {
  const fits = Array.isArray(at) ? typeof key === 'number' && key <= at.length : typeof key === 'string'
  if (fits) Object.defineProperty(at, key, { value, writable: true, enumerable: true, configurable: true })
  return fits
}
