import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/client'

/** As much as a server may say in one line over stdio. */
const MAX_BYTES = STDIO_DEFAULT_MAX_BUFFER_SIZE

/** What ends an event of a stream. */
const emptyLine = /\r?\n\r?\n|\r\r/g

/** The same response, but a message in it that is too long to be held in memory is an error. */
export function bounded(response: Response): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  let size = 0
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size = isStream ? afterLastEvent(chunk, size) : size + chunk.length
      if (size > MAX_BYTES) controller.error(new Error(`answered with more than ${MAX_BYTES} bytes`))
      else controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(count), response)
}

/** Bytes since the last end of an event. One that is cut between two chunks is found by the next. */
function afterLastEvent(chunk: Uint8Array, before: number): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
  const last = [...text.matchAll(emptyLine)].at(-1)
  return last === undefined ? before + chunk.length : chunk.length - last.index - last[0].length
}
