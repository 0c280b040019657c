import type { Readable } from 'node:stream'

const NEWLINE = 0x0a

interface LineLimit {
  readonly maxBytes: number
  /** What happens to a longer line: it is an error, or it is given out in pieces. */
  readonly longer: 'fail' | 'split'
}

/**
 * The lines of a UTF-8 stream, without their line ends; a last line without one counts.
 * Only `\n` ends a line: U+2028 may stand inside JSON, where `node:readline` would cut.
 */
export async function* readLines(stream: Readable, limit: LineLimit): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let size = 0
  const take = () => {
    const line = Buffer.concat(parts).toString('utf8').replace(/\r$/, '')
    parts = []
    size = 0
    return line
  }
  const add = (part: Buffer) => {
    parts.push(part)
    size += part.length
    if (size > limit.maxBytes && limit.longer === 'fail') {
      throw new Error(`a line of more than ${limit.maxBytes} bytes`)
    }
  }
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    add(chunk.subarray(start))
    if (size > limit.maxBytes) yield take()
  }
  if (size > 0) yield take()
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** An error of the operating system, or of node in its manner: with a `code` such as `ENOENT`. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}

/** Whether the promise settles in time. Its outcome is the caller's to look at. */
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
