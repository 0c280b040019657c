const notData = /^(?::|event:|id:|retry:)/

/** Splits the text of a streamed response, which arrives in pieces, into events: server-sent events, or JSON lines. */
export class EventText {
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #data: string[] = []
  #line = ''

  /** Returns the events that are now complete. Bytes may be split anywhere. */
  push(piece: string | Uint8Array): unknown[] {
    return this.#read(typeof piece === 'string' ? piece : this.#decode(piece))
  }

  /** Returns the last event if it has no line break. */
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

  /** Returns the events that a line completes: the previous one, the one in this line, or none. */
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

  /** Returns a complete object without waiting for a line break: some SDKs pass events without one. */
  #readWholeObject(): unknown[] {
    const json = this.#line.replace(/^data:/, '').trimStart()
    if (this.#data.length > 0 || !json.startsWith('{')) return []
    const event = parsed(json)
    if (event.length > 0) this.#line = ''
    return event
  }
}

/**
 * Iterates over the events of a streamed response, given the bytes of its body: server-sent events, or JSON lines. Bytes may be
 * split anywhere. Skips lines that are not JSON, such as `[DONE]`, or are incomplete.
 */
export async function* jsonEvents(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<unknown> {
  const text = new EventText()
  for await (const bytes of body) yield* text.push(bytes)
  yield* text.end()
}

/** Parses consecutive lines: one event, or several events of a server that omits the blank lines between them. */
function parsedLines(lines: readonly string[]): unknown[] {
  const one = parsed(lines.join('\n'))
  return one.length > 0 ? one : lines.flatMap(parsed)
}

/** Parses a text that may be an event. */
function parsed(text: string): [] | [unknown] {
  if (text.trim() === '') return []
  try {
    return [JSON.parse(text)]
  } catch {
    return [] // The end marker, or an incomplete line.
  }
}
