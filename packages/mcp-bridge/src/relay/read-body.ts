import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { Pacer } from '../child/pacer.js'
import { TextBuffer } from '../child/text-buffer.js'
import { createTooLong, readDropped } from './dropped-message.js'
import { type Fault, readMessages } from './read-message.js'

interface BodyOptions {
  readonly maxBytes: number
  /** The id of the request that the response belongs to. */
  readonly asked: RequestId | undefined
  /** Set if the text contained invalid UTF-8. */
  readonly isReplaced?: boolean
  readonly onFault: (fault: Fault) => void
  /** Called with each message before the SDK gets it. */
  readonly onMessage: (message: JSONRPCMessage) => void
}

/**
 * Reads the messages in an HTTP response, with the same tolerance as those over stdio. Passes the readable ones to the SDK,
 * except those over the size limit.
 */
export async function readBody(response: Response, options: BodyOptions): Promise<Response> {
  if (response.body === null) return response
  const type = response.headers.get('content-type') ?? ''
  // `values` locks the body immediately: Node empties an unlocked body when its response is garbage-collected.
  if (response.ok && type.startsWith('text/event-stream'))
    return new Response(ReadableStream.from(readEvents(response.body.values(), options)), response)
  const { text, isReplaced } = await readText(response.body, options.maxBytes)
  const hasMessages = response.ok && options.asked !== undefined && type.startsWith('application/json')
  return new Response(hasMessages ? rewriteJson(text, { ...options, isReplaced }) : text, response)
}

async function readText(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly text: string; readonly isReplaced: boolean }> {
  const text = new TextBuffer(maxBytes)
  for await (const chunk of body) {
    text.add(chunk)
    if (text.isTooLong) throw new Error(`answered with more than ${maxBytes} bytes`)
  }
  const whole = String(text.take()).replace(/^\uFEFF/, '')
  return { text: whole, isReplaced: text.isReplaced }
}

/** Rewrites a JSON body. A body without readable messages stays unchanged, so that the call fails with its error. */
function rewriteJson(text: string, options: BodyOptions): string {
  const messages = rewriteMessages(text, options)
  if (messages === undefined || messages.length === 0) return text
  return messages.length === 1 ? String(messages[0]) : `[${messages.join()}]`
}

/** Returns the readable messages as JSON; `undefined` = the text is a single valid message, so it need not change. */
function rewriteMessages(text: string, { onFault, onMessage, ...how }: BodyOptions): string[] | undefined {
  const readings = readMessages(text, how)
  for (const reading of readings) if ('message' in reading) onMessage(reading.message)
  const [only, ...more] = readings
  if (more.length === 0 && only !== undefined && 'message' in only && !only.isChanged) return undefined
  return readings.flatMap((reading) => {
    if ('message' in reading) return [JSON.stringify(reading.message)]
    onFault(reading.fault)
    return []
  })
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d]

async function* readEvents(body: AsyncIterable<Uint8Array>, options: BodyOptions): AsyncGenerator<Buffer> {
  const { maxBytes, onFault } = options
  const pacer = new Pacer()
  const event = new TextBuffer(maxBytes)
  let isLineEmpty = true
  const add = (part: Buffer): void => {
    const wasTooLong = event.isTooLong
    event.add(part)
    if (event.isTooLong && !wasTooLong) onFault(createTooLong(event.head, maxBytes))
  }
  const take = (): string => {
    const text = event.take()
    if (typeof text === 'string') return text
    onFault(readDropped(text, maxBytes))
    return ''
  }
  for await (const chunk of unifyLineEnds(body)) {
    pacer.start()
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      const isEventEnd = isLineEmpty && end === start
      add(chunk.subarray(start, end + 1))
      start = end + 1
      isLineEmpty = true
      if (!isEventEnd) continue
      const text = take()
      yield Buffer.from(rewriteEvent(text, { ...options, isReplaced: event.isReplaced }))
      await pacer.rest()
    }
    if (start < chunk.length) {
      add(chunk.subarray(start))
      isLineEmpty = false
    }
    pacer.stop()
  }
  yield Buffer.from(take())
}

/** Converts the line breaks of an event stream to line feeds. */
async function* unifyLineEnds(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let isAfterReturn = false
  for await (const bytes of body) {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const chunk: Buffer = isAfterReturn && all[0] === lineFeed ? all.subarray(1) : all
    isAfterReturn = chunk.at(-1) === carriageReturn
    const hasReturn = chunk.includes(carriageReturn)
    yield hasReturn ? Buffer.from(chunk.toString('latin1').replace(/\r\n?/g, '\n'), 'latin1') : chunk
  }
}

/** Rewrites an event to one event per message. The first one keeps the event's id. */
function rewriteEvent(text: string, options: BodyOptions): string {
  const lines = text
    .replace(/^\uFEFF/, '')
    .trimEnd()
    .split('\n')
  const data = lines.flatMap((line) => /^data(?:: ?(.*))?$/s.exec(line)?.slice(1) ?? [])
  const isMessage = lines.every((line) => !line.startsWith('event:') || /^event: ?message$/.test(line))
  const json = data.map((line) => line ?? '').join('\n')
  const messages = isMessage && json.trim() !== '' ? rewriteMessages(json, options) : undefined
  if (messages === undefined) return text
  const others = lines.filter((line) => !/^data(?::|$)/.test(line))
  const [first, ...more] = messages.map((message) => `data: ${message}\n\n`)
  return [...others.map((line) => `${line}\n`), first ?? '\n', ...more].join('')
}
