import type { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { type AnyMessage, methods, type Stream } from '@agentclientprotocol/sdk'
import { cut, isObject } from '@meup/folds'
import { type DroppedText, readLines, readOuterMembers } from '@meup/mcp-bridge'

/** The longest message that is read. */
const maxMessageBytes = 8 * 1024 * 1024
/** Characters of a message that are shown, and of an error. */
const [maxShownChars, maxErrorChars] = [300, 2000]
/**
 * What is read of an agent in a second, and at once after it was quiet: messages and KiB together. One that writes faster waits,
 * so that others in this process do not.
 */
const [unitsPerSecond, maxUnits] = [5000, 20_000]
/** Requests of an agent that wait for their answer, or for the agent to read it. With more nothing is read of it. */
const maxUnanswered = 1000
const NEWLINE = 0x0a
const internalError = -32603

type Message = Readonly<Record<string, unknown>>

/** Kinds of skipped messages; the first of each kind is reported. */
export type Oddity = 'no message' | 'too long' | 'no request' | 'unreadable'

interface StreamHandlers {
  /** `params` of a session update; called in order, as they come: the SDK would refuse those that are newer than itself. */
  onUpdate(params: unknown): void
  /** A message was skipped. */
  onOdd(kind: Oddity, what: string): void
}

/** The messages of an agent, one a line, but for session updates. Whatever stands in one line, the next ones are read. */
export function createStream(stdin: Writable, stdout: Readable, { onUpdate, onOdd }: StreamHandlers): Stream {
  /** Ids of requests that wait for a response. */
  const asked = new Set<unknown>()
  let unanswered = 0
  let onAnswered = (): void => {}
  const read = (line: string): Message | undefined => {
    const message = parse(line)
    if (message === undefined) {
      if (line.trim() !== '') onOdd('no message', show(line))
      return undefined
    }
    if (typeof message.method === 'string') {
      if (message.method !== methods.client.session.update) return message
      onUpdate(message.params)
      return undefined
    }
    if (asked.delete(message.id)) return toResponse(message)
    onOdd('no request', show(line))
    return undefined
  }
  async function* readAll(): AsyncGenerator<AnyMessage> {
    const onTooLong = (): void => onOdd('too long', `more than ${maxMessageBytes} bytes in one line`)
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
          stdin.write(`${JSON.stringify(message)}\n`, (error) => {
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

/** Reads the output of a program at a limited rate, so that others in this process are not delayed. */
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
    const value: unknown = JSON.parse(line)
    return isObject(value) && 'jsonrpc' in value ? value : undefined
  } catch {
    return undefined
  }
}

/** Replaces a message that is too long: an answer becomes an error, and a request keeps its id, so that it is answered. */
function readDropped(text: DroppedText): string | undefined {
  const { id, method } = readOuterMembers(text)
  if (typeof id !== 'string' && typeof id !== 'number') return undefined
  const error = { code: internalError, message: `its answer has more than ${maxMessageBytes} bytes` }
  const about = typeof method === 'string' ? { method } : { error }
  return JSON.stringify({ jsonrpc: '2.0', id, ...about })
}

/** Turns each answer of an agent into a result, or an error with a text: some agents explain an error only in `data`. */
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

/** The text with invisible characters as escapes. */
const show = (text: string): string => JSON.stringify(cut(text, maxShownChars))
