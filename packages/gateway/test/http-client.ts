import { testToken } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { onTestFinished } from 'vitest'

/** Milliseconds without an event after which a test fails. */
const deadlineMs = 10_000

type Logged = Envelope & { seq: number }

export interface Page {
  readonly envelopes: Logged[]
  readonly epoch: string
  readonly head: number
  readonly has_more: boolean
  readonly next?: number
}

export const bearer = (participant: string) => ({ authorization: `Bearer ${testToken(participant)}` })

/** Adds the log's epoch to a query with `after`, unless it has one. */
export async function withEpoch(base: string, token: string, query: string, space = 'test'): Promise<string> {
  const parameters = new URLSearchParams(query)
  if (Number(parameters.get('after') ?? 0) === 0 || parameters.has('epoch')) return query
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${base}/spaces/${space}/participants`, { headers })
  return `${query}&epoch=${((await response.json()) as { epoch: string }).epoch}`
}

/** Functions for requests as a participant of the space `test` of the gateway at `base`. */
export function asking(base: string, participant: string) {
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${base}/spaces/test${path}`, { method, headers: { ...bearer(participant), ...headers } })

  const json = async (path: string): Promise<unknown> => {
    const response = await get(path)
    const body: unknown = await response.json()
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`)
    return body
  }

  return {
    get,
    json,
    history: async (query = '') => (await json(`/envelopes?${query}`)) as Page,
    /** The envelopes as JSON lines. */
    async lines(query = ''): Promise<string[]> {
      const response = await get(`/envelopes?${query}`, { accept: 'application/x-ndjson' })
      const text = await response.text()
      if (!response.ok || (text !== '' && !text.endsWith('\n'))) throw new Error(text)
      return text.split('\n').slice(0, -1)
    },
    async events(query = '', headers: Record<string, string> = {}) {
      const whole = await withEpoch(base, testToken(participant), query)
      return openEvents(`${base}/spaces/test/events?${whole}`, { ...bearer(participant), ...headers })
    },
  }
}

export interface ServerSentEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: string
}

/** Opens an event stream. When this resolves, the stream is live, unless the query asks for a replay. */
export async function openEvents(url: string, headers: Record<string, string>): Promise<EventReader> {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const response = await fetch(url, { headers, signal: abort.signal })
  if (response.status !== 200 || response.body === null) {
    throw new Error(`${response.status}: ${await response.text()}`)
  }
  return new EventReader(response.body, () => abort.abort())
}

/** The client's end of an event stream. Reads only while an event is awaited. */
export class EventReader {
  readonly all: ServerSentEvent[] = []
  readonly comments: string[] = []
  /** Disconnects without notice. */
  readonly leave: () => void
  readonly #reader: ReadableStreamDefaultReader<string>
  #text = ''
  #at = 0

  constructor(body: ReadableStream<Uint8Array>, leave: () => void) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader()
    this.leave = leave
  }

  /** Returns the unread events up to and including the first that matches. Throws if the stream ends before. */
  async until(matches: (event: ServerSentEvent) => boolean): Promise<ServerSentEvent[]> {
    const start = this.#at
    for (;;) {
      while (this.#at < this.all.length) {
        const event = this.all[this.#at++]
        if (event !== undefined && matches(event)) return this.all.slice(start, this.#at)
      }
      if (!(await this.#more()))
        throw new Error(`the stream ended; it gave ${JSON.stringify(this.all.slice(-3))}`)
    }
  }

  async next(matches: (event: ServerSentEvent) => boolean = () => true): Promise<ServerSentEvent> {
    const event = (await this.until(matches)).at(-1)
    if (event === undefined) throw new Error('nothing came')
    return event
  }

  /** The unread envelopes up to and including the one with this id. */
  async envelopesUntil(id: string): Promise<Logged[]> {
    const events = await this.until(({ data }) => (JSON.parse(data) as Envelope).id === id)
    return events.filter(({ event }) => event === 'envelope').map(({ data }) => JSON.parse(data) as Logged)
  }

  /** Returns the text of the next comment, once it has arrived. */
  async comment(): Promise<string> {
    while (this.comments.length === 0) if (!(await this.#more())) throw new Error('the stream ended')
    return this.comments.shift() ?? ''
  }

  /** Reads to the end of the stream; rejects if the connection was cut. */
  async rest(): Promise<ServerSentEvent[]> {
    while (await this.#more());
    return this.all.slice(this.#at)
  }

  /** Reads the next chunk; `false` = the stream has ended. */
  async #more(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('no event came')), deadlineMs)
    })
    try {
      const { done, value } = await Promise.race([this.#reader.read(), late])
      if (done) return false
      this.#text += value
    } finally {
      clearTimeout(timer)
    }
    const blocks = this.#text.split('\n\n')
    this.#text = blocks.pop() ?? ''
    for (const block of blocks) this.#onBlock(block.split('\n'))
    return true
  }

  #onBlock(lines: string[]): void {
    const fields = new Map<string, string>()
    for (const line of lines) {
      if (line.startsWith(':')) {
        this.comments.push(line)
        continue
      }
      const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
      if (name === '' || fields.has(name)) throw new Error(`no line of an event: ${JSON.stringify(line)}`)
      fields.set(name, value)
    }
    const [event, data] = [fields.get('event'), fields.get('data')]
    if (event !== undefined && data !== undefined) this.all.push({ event, id: fields.get('id'), data })
  }
}
