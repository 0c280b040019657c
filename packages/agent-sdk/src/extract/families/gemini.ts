import type { Collector } from '../collector.js'
import { isFilled, type Json, record, records, string } from '../json.js'
import { placeArgument } from './gemini-arguments.js'

interface OpenCall {
  readonly key: string
  readonly args: Record<string, unknown>
  /** With all of them. */
  readonly call: Json
}

/** Gemini: a whole response and each chunk of a stream look the same. Any part may carry a signature, an empty one too. */
export function geminiReader(collector: Collector): (chunk: Json) => void {
  let begun = 0
  /** A call whose arguments come one by one. */
  let open: OpenCall | undefined

  /** Gives the call as it has to be sent back: in one piece. */
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
