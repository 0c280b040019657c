import { meup } from './cli.js'
import { ending, story } from './story-lines.js'

/** Address of a space, and the token of a reader. */
export interface Asker {
  readonly url: string
  readonly space: string
  readonly token: string
}

const threadsIn = (space: string): string[] => ['security', 'apprentice'].map((agent) => `${space}/${agent}`)

export const environmentOf = ({ url, space, token }: Asker) => ({
  MEUP_URL: url,
  MEUP_SPACE: space,
  MEUP_TOKEN: token,
})

export const get = ({ url, space, token }: Asker, path: string): Promise<Response> =>
  fetch(`${url}/spaces/${space}/${path}`, { headers: { authorization: `Bearer ${token}` } })

export const textOf = async (asker: Asker, path: string): Promise<string> => (await get(asker, path)).text()

/** Reads a stream of server-sent events. */
export class EventStream {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor({ body }: Response) {
    if (body === null) throw new Error('there is no stream')
    this.#chunks = body[Symbol.asyncIterator]()
  }

  /** Resolves when the stream has reached this seq. */
  async reached(seq: number): Promise<void> {
    await this.#find(seq)
  }

  /** Returns the events through `last`, as soon as the next event has arrived. */
  async through(last: number): Promise<string> {
    const next = await this.#find(last + 1)
    return this.#text.slice(0, this.#text.lastIndexOf('event: ', next))
  }

  async #find(seq: number): Promise<number> {
    for (;;) {
      const at = this.#text.search(new RegExp(`^id: ${seq}$`, 'm'))
      if (at >= 0) return at
      const { value, done } = await this.#chunks.next()
      if (done === true) throw new Error('the stream has ended')
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }
}

/** Removes the events of these envelopes. */
export const withoutEvents = (events: string, ids: readonly string[]): string =>
  events
    .split(/(?<=\n\n)/)
    .filter((event) => !ids.some((id) => event.includes(`"id":"${id}"`)))
    .join('')

/**
 * Reads all that the gateway shows of the story over HTTP (turns, events, audit), through the envelope `last`. Returns texts by
 * file name.
 */
export async function httpViews(asker: Asker, last: number): Promise<Record<string, string>> {
  const threads = threadsIn(asker.space)
  const turns = await Promise.all(threads.map((thread) => textOf(asker, `turns?thread_id=${thread}`)))
  return {
    'turns.json': turns.map((text) => JSON.stringify(JSON.parse(text), null, 2)).join('\n'),
    'events.txt': await new EventStream(await get(asker, 'events?after=0')).through(last),
    'audit.md': await textOf(asker, 'audit/export?format=markdown'),
    'steps.json': JSON.stringify(stepsIn(await textOf(asker, 'audit?limit=1000'), last), null, 2),
  }
}

/** Reads all that the gateway shows of the story: over HTTP, by the CLI, and as exports. */
export async function allViews(asker: Asker, last: number): Promise<Record<string, string>> {
  const command = async (thread: string) => {
    const { stdout } = await meup(['reasoning', 'all', '--thread', thread], { env: environmentOf(asker) })
    return stdout
  }
  const rows = (await textOf(asker, 'audit/export')).split('\n').slice(1)
  return {
    ...(await httpViews(asker, last)),
    'reasoning.txt': (await Promise.all(threadsIn(asker.space).map(command))).join(''),
    'log.jsonl': rows.slice(0, last).join('\n'),
  }
}

function stepsIn(answer: string, last: number): unknown[] {
  const { steps } = JSON.parse(answer) as { steps: { seq: number }[] }
  return steps.filter(({ seq }) => seq <= last)
}

/**
 * Replaces what differs between runs: the epoch, the gateway's own ids, random parts of the chain, and the digest of the
 * masking rules.
 */
export function settled(text: string, space: string, participants: readonly string[]): string {
  const own = new Set([
    ...[...story, ...ending].map(([, { id }]) => id),
    ...participants,
    ...threadsIn(space),
  ])
  const names = new Map<string, string>()
  return text
    .replace(/"(salt|leaf|hash|snapshot)":"[0-9a-f]+"/g, '"$1":"…"')
    .replace(/(redaction|redacted_by)(\\?": ?\\?")[0-9a-f]{64}/g, '$1$2…')
    .replace(/(· rules )[0-9a-f]{6}/g, '$1…')
    .replace(/(?<![\w-])([\w-]{21}|[0-9A-Z]{26})(?![\w-])/g, (id) => {
      if (own.has(id)) return id
      const name = names.get(id) ?? `<${names.size + 1}>`
      names.set(id, name)
      return name
    })
}
