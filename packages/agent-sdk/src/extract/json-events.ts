const notData = /^(?::|event:|id:|retry:)/

/** The events in the text of a streamed response, which comes in pieces: server-sent events, or a line of JSON each. */
export class EventText {
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #data: string[] = []
  #line = ''

  /** Gives the events that are complete by this. Bytes may be split anywhere. */
  push(piece: string | Uint8Array): unknown[] {
    return this.#read(typeof piece === 'string' ? piece : this.#decode(piece))
  }

  /** What was complete but for the end of its line. */
  end(): unknown[] {
    return this.#read(`${this.#decoder?.decode() ?? ''}\n\n`)
  }

  #decode(bytes: Uint8Array): string {
    this.#decoder ??= new TextDecoder()
    return this.#decoder.decode(bytes, { stream: true })
  }

  #read(text: string): unknown[] {
    const lines = text.split('\n')
    const rest = lines.pop() ?? ''
    const events = lines.flatMap((each) => {
      const line = this.#line + each
      this.#line = ''
      return this.#onLine(line)
    })
    this.#line += rest
    return rest.endsWith('}') ? [...events, ...this.#readWholeObject()] : events
  }

  /** The events that a line completes: the one before it, and itself if it is one. */
  #onLine(line: string): unknown[] {
    if (line.startsWith('data:')) {
      this.#data.push(line.slice('data:'.length))
      return []
    }
    if (notData.test(line)) return []
    const data = this.#data
    this.#data = []
    return [...parsedLines(data), ...parsed(line)]
  }

  /** A whole object needs no end of its line: SDKs give events without one. */
  #readWholeObject(): unknown[] {
    const json = this.#line.replace(/^data:/, '').trimStart()
    if (this.#data.length > 0 || !json.startsWith('{')) return []
    const event = parsed(json)
    if (event.length > 0) this.#line = ''
    return event
  }
}

/**
 * The events of a streamed response, from the bytes of its body: server-sent events, or a line of JSON each. Bytes may be
 * split anywhere. Lines that are no JSON, such as `[DONE]` or one that was cut off, are passed over.
 */
export async function* jsonEvents(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<unknown> {
  const text = new EventText()
  for await (const bytes of body) yield* text.push(bytes)
  yield* text.end()
}

/** One event in several lines, or, of those who forget the blank line after an event, several events. */
function parsedLines(lines: readonly string[]): unknown[] {
  const one = parsed(lines.join('\n'))
  return one.length > 0 ? one : lines.flatMap(parsed)
}

/** The event that a text is, if it is one. */
function parsed(text: string): [] | [unknown] {
  if (text.trim() === '') return []
  try {
    return [JSON.parse(text)]
  } catch {
    return [] // The marker of the end, or the half line of a broken stream.
  }
}
