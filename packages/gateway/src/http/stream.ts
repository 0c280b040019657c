/** Approximate bytes of one chunk. */
const portion = 64 * 1024

/**
 * Streams lines with back-pressure: the next lines are created when the peer has room. `failed` is called with an error that
 * ends them early, and should close the connection so that the peer notices.
 */
export function streamLines(
  lines: AsyncGenerator<string, void>,
  failed: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      try {
        const bytes = await readPortion(lines)
        if (bytes === undefined) controller.close()
        else controller.enqueue(bytes)
      } catch (error) {
        failed(error)
      }
    },
    async cancel() {
      await lines.return()
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** A stream of byte arrays, joined to larger chunks as the peer reads. */
export function sent(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let at = 0
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const start = at
    let size = 0
    while (size < portion && at < parts.length) size += parts[at++]?.length ?? 0
    if (at === start) controller.close()
    else controller.enqueue(Buffer.concat(parts.slice(start, at), size))
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

/** Joins lines up to the size of a chunk; `undefined` = end. */
async function readPortion(lines: AsyncGenerator<string, void>): Promise<Uint8Array | undefined> {
  const parts: Buffer[] = []
  let size = 0
  while (size < portion) {
    const { value } = await lines.next()
    if (value === undefined) break
    const part = Buffer.from(value)
    parts.push(part)
    size += part.length
  }
  return size === 0 ? undefined : Buffer.concat(parts)
}

const [lineFeed, carriageReturn, space] = [0x0a, 0x0d, 0x20]

/** JSON on one line, for line-based formats. A line break in JSON is always whitespace between tokens, so a space is equivalent. */
export function toSingleLine(json: Uint8Array): Uint8Array {
  if (!json.includes(lineFeed) && !json.includes(carriageReturn)) return json
  return json.map((byte) => (byte === lineFeed || byte === carriageReturn ? space : byte))
}
