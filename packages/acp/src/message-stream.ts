import type { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { type AnyMessage, methods, type Stream } from '@agentclientprotocol/sdk'
import { cut, isObject } from '@meup/folds'
import { type DroppedText, markId, readLines, readOuterMembers, restoreNumbers } from '@meup/mcp-bridge'
import { parseExact, stringifyExact } from '@meup/protocol'

const maxMessageBytes = 8 * 1024 * 1024
/** Maximum characters of a message in a report, and of an agent's error. */
const [maxShownChars, maxErrorChars] = [300, 2000]
/**
 * Rate limit and burst for reading an agent's output, in units: one for each message and one for each KiB. A share of this
 * thread's time, like `isPaced` of `readLines`, is not sufficient: two agents that write endlessly would use the whole thread.
 */
const [unitsPerSecond, maxUnits] = [5000, 20_000]
/** Maximum requests of the agent whose answers are not written yet; at this number, reading its output pauses. */
const maxUnanswered = 1000
const NEWLINE = 0x0a
const internalError = -32603

type Message = Readonly<Record<string, unknown>>

interface StreamHandlers {
  /** Called with the `params` of each session update, in order. Bypasses the SDK, which rejects unknown kinds. */
  onUpdate(params: unknown): void
  /** Called for each skipped message. `text`: the beginning of the message. */
  onFault(problem: string, text: string): void
}

/** Creates an ACP stream of newline-delimited JSON. Session updates go to `onUpdate` instead; invalid lines are skipped. */
export function createStream(
  stdin: Writable,
  stdout: Readable,
  { onUpdate, onFault }: StreamHandlers,
): Stream {
  /** Ids of requests that the agent has not answered yet. */
  const asked = new Set<unknown>()
  let unanswered = 0
  let onAnswered = (): void => {}
  const read = (line: string): Message | undefined => {
    const message = parse(line)
    if (message === undefined) {
      if (line.trim() !== '') onFault('it is not JSON-RPC', show(line))
      return undefined
    }
    if (typeof message.method === 'string') {
      if (message.method !== methods.client.session.update)
        return 'id' in message ? { ...message, id: markId(message, 'id') } : message
      onUpdate(message.params)
      return undefined
    }
    if (asked.delete(message.id)) return toResponse(message)
    onFault('it answers no request', show(line))
    return undefined
  }
  async function* readAll(): AsyncGenerator<AnyMessage> {
    const onTooLong = (): void => onFault('it is too long', `more than ${maxMessageBytes} bytes in one line`)
    for await (const line of readLines(readPaced(stdout), { ...limit, onTooLong, onDropped: readDropped })) {
      const message = read(line)
      if (message === undefined) continue
      if ('method' in message && 'id' in message) unanswered++
      yield { ...message, jsonrpc: '2.0' } as AnyMessage
      while (unanswered >= maxUnanswered)
        await new Promise<void>((resolve) => {
          onAnswered = resolve
        })
    }
  }
  return {
    readable: ReadableStream.from(readAll()),
    writable: new WritableStream({
      write(message) {
        const isAnswer = !('method' in message)
        if (!isAnswer && 'id' in message) asked.add(message.id)
        return new Promise((resolve, reject) =>
          stdin.write(`${restoreNumbers(stringifyExact(message))}\n`, (error) => {
            if (isAnswer) unanswered--
            onAnswered()
            if (error) reject(error)
            else resolve()
          }),
        )
      },
    }),
  }
}

const limit = { maxBytes: maxMessageBytes, longer: 'drop' } as const

/** Reads an agent's output at a limited rate, so that other work of this process is not delayed. */
export async function* readPaced(stdout: Readable): AsyncGenerator<Buffer> {
  let units = maxUnits
  let at = performance.now()
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    const now = performance.now()
    units = Math.min(maxUnits, units + ((now - at) / 1000) * unitsPerSecond) - countUnits(chunk)
    at = now
    if (units < 0) await wait((-units / unitsPerSecond) * 1000)
    yield chunk
  }
}

function countUnits(chunk: Buffer): number {
  let lines = 0
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++
  return lines + chunk.length / 1024
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = parseExact(line)
    return isObject(value) && 'jsonrpc' in value ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Replaces a message that is too long: a response becomes an error; a request keeps its id and method, so that it is answered.
 */
function readDropped(text: DroppedText): string | undefined {
  const { id, method } = readOuterMembers(text)
  if (typeof id !== 'string' && typeof id !== 'number') return undefined
  const error = { code: internalError, message: `its answer has more than ${maxMessageBytes} bytes` }
  const about = typeof method === 'string' ? { method } : { error }
  return JSON.stringify({ jsonrpc: '2.0', id, ...about })
}

/** Normalizes a response, so that it has a result, or an error with a message: some agents explain an error only in `data`. */
function toResponse({ id, result, error }: Message): Message {
  if (error == null) return { id, result: result ?? null }
  const { code, message, data } = isObject(error) ? error : { code: 0, message: error, data: undefined }
  const { details = data } = isObject(data) ? data : {}
  const texts = [message, details].filter((each) => typeof each === 'string' && each !== '')
  const text = texts.length > 0 ? texts.join(': ') : show(JSON.stringify(error))
  return {
    id,
    error: { code: Number.isInteger(code) ? code : internalError, message: cut(text, maxErrorChars) },
  }
}

/** Escapes invisible characters, and shortens the text. */
const show = (text: string): string => JSON.stringify(cut(text, maxShownChars))
