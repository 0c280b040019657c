import { Pacer } from './pacer.js'
import { type DroppedText, TextBuffer } from './text-buffer.js'

const NEWLINE = 0x0a

interface LineLimit {
  readonly maxBytes: number
  /** Handling of lines over `maxBytes`: throw an error, split them, or drop them. */
  readonly longer: 'fail' | 'split' | 'drop'
  /** Limits the time spent on reading, so that a program that writes endlessly does not block other work of this process. */
  readonly isPaced?: boolean
  /** Called with the beginning of a line as soon as the line is too long. */
  readonly onTooLong?: (head: string) => void
  /** Called at the end of a dropped line. If it returns a string, that replaces the line. */
  readonly onDropped?: (line: DroppedText) => string | undefined
  /** Called before a line that contains invalid UTF-8. */
  readonly onReplaced?: () => void
}

/**
 * Splits a text stream into lines, including a last line without a line break. Holds at most about twice `maxBytes`. Removes
 * byte order marks, and decodes UTF-16. Only `\n` ends a line: `node:readline` would also split at U+2028, which JSON may
 * contain.
 */
export async function* readLines(stream: AsyncIterable<unknown>, limit: LineLimit): AsyncGenerator<string> {
  const { maxBytes, longer, isPaced = false, onTooLong, onDropped, onReplaced } = limit
  const line = new TextBuffer(maxBytes)
  function* take(): Generator<string> {
    const text = line.take()
    const kept = typeof text === 'string' ? text : onDropped?.(text)
    if (kept === undefined) return
    if (line.isReplaced) onReplaced?.()
    yield trimLine(kept)
  }
  function* add(part: Buffer): Generator<string> {
    let rest = part
    for (; longer === 'split' && line.bytes + rest.length > maxBytes; yield* take()) {
      const room = maxBytes - line.bytes
      line.add(rest.subarray(0, room))
      rest = rest.subarray(room)
    }
    const wasTooLong = line.isTooLong
    line.add(rest)
    if (wasTooLong || !line.isTooLong) return
    if (longer === 'fail') throw new Error(`a line of more than ${maxBytes} bytes`)
    onTooLong?.(line.head)
  }
  const pacer = isPaced ? new Pacer() : undefined
  for await (const chunk of toUtf8(stream)) {
    pacer?.start()
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield* add(chunk.subarray(start, end))
      yield* take()
      await pacer?.rest()
      start = end + 1
    }
    yield* add(chunk.subarray(start))
    await pacer?.rest()
    pacer?.stop()
  }
  if (line.bytes > 0) yield* take()
}

/** Removes a byte order mark, and NULs: UTF-16 has them next to a line feed, and some programs use them as padding. */
function trimLine(line: string): string {
  let [start, end] = [0, line.length]
  while (line[start] === '\uFEFF' || line[start] === '\0') start++
  while (end > start && line[end - 1] === '\0') end--
  if (end > start && line[end - 1] === '\r') end--
  return line.slice(start, end)
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** Converts UTF-16, which Windows programs write with or without a byte order mark, to UTF-8. */
async function* toUtf8(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let start = Buffer.alloc(0)
  let decode: ((chunk: Buffer) => Buffer) | undefined
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (decode !== undefined) {
      yield decode(chunk)
      continue
    }
    start = Buffer.concat([start, chunk])
    const encoding = detectEncoding(start)
    if (encoding === undefined) continue
    const decoder = new TextDecoder(encoding)
    decode = (bytes) => (encoding === 'utf-8' ? bytes : Buffer.from(decoder.decode(bytes, { stream: true })))
    yield decode(start)
  }
  if (decode === undefined) yield start
}

/** Detects UTF-16 by the first bytes; `undefined` = more bytes are needed. In ASCII text as UTF-16, every second byte is 0. */
function detectEncoding(bytes: Buffer): Encoding | undefined {
  const [first, second, third, fourth] = bytes
  if (first === undefined || second === undefined) return undefined
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if ((first === 0) === (second === 0)) return 'utf-8'
  if (third === undefined || fourth === undefined) return undefined
  if ((first === 0) !== (third === 0) || (second === 0) !== (fourth === 0)) return 'utf-8'
  return second === 0 ? 'utf-16le' : 'utf-16be'
}

/** Whether an error is a system error of Node, with a `code` such as `ENOENT`. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}

/** Whether a promise settles in time. Does not handle its rejection. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  const settled = promise.then(
    () => true,
    () => true,
  )
  return Promise.race([settled, late]).finally(() => clearTimeout(timer))
}
