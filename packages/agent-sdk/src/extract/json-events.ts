const notData = /^(?::|event:|id:|retry:)/

/**
 * The events of a streamed response, from the bytes of its body: server-sent events, or a line of JSON each. Bytes may be
 * split anywhere. Lines that are no JSON, such as `[DONE]` or one that was cut off, are passed over.
 */
export async function* jsonEvents(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  let data: string[] = []
  let line = ''

  /** The events that a line completes: the one before it, and itself if it is one. */
  function* take(text: string): Generator<unknown> {
    if (text.startsWith('data:')) data.push(text.slice('data:'.length))
    else if (!notData.test(text)) {
      yield* parsedLines(data)
      data = []
      yield* parsedLines([text])
    }
  }

  function* read(text: string): Generator<unknown> {
    const lines = text.split('\n')
    const rest = lines.pop() ?? ''
    for (const each of lines) {
      yield* take(line + each)
      line = ''
    }
    line += rest
  }

  for await (const bytes of body) yield* read(decoder.decode(bytes, { stream: true }))
  yield* read(`${decoder.decode()}\n\n`)
}

/** One event in several lines, or, of those who forget the blank line after an event, several events. */
function* parsedLines(lines: readonly string[]): Generator<unknown> {
  const one = [...parsed(lines.join('\n'))]
  if (one.length > 0 || lines.length < 2) yield* one
  else for (const line of lines) yield* parsed(line)
}

function* parsed(text: string): Generator<unknown> {
  try {
    if (text.trim() !== '') yield JSON.parse(text)
  } catch {
    // Not an event of the response: the marker of its end, or the half line of a broken stream.
  }
}
