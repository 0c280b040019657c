import { meup } from './cli.js'
import { ending, story } from './story-lines.js'

/** Somebody who asks a gateway about a space. */
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

/** Everything that a stream of events says up to the envelope `last`, and what comes with that. */
export async function eventsThrough(stream: Response, last: number): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const at = text.search(new RegExp(`^id: ${last + 1}$`, 'm'))
    if (at >= 0) return text.slice(0, text.lastIndexOf('event: ', at))
  }
  throw new Error('the stream has ended')
}

/** Events without those that are these envelopes. */
export const withoutEvents = (events: string, ids: readonly string[]): string =>
  events
    .split(/(?<=\n\n)/)
    .filter((event) => !ids.some((id) => event.includes(`"id":"${id}"`)))
    .join('')

/** What the story looks like to whoever asks over HTTP, up to the envelope `last`. */
export async function httpViews(asker: Asker, last: number): Promise<Record<string, string>> {
  const threads = threadsIn(asker.space)
  const turns = await Promise.all(threads.map((thread) => textOf(asker, `turns?thread_id=${thread}`)))
  return {
    'turns.json': turns.map((text) => JSON.stringify(JSON.parse(text), null, 2)).join('\n'),
    'events.txt': await eventsThrough(await get(asker, 'events?after=0'), last),
    'audit.md': await textOf(asker, 'audit/export?format=markdown'),
    'steps.json': JSON.stringify(stepsIn(await textOf(asker, 'audit?limit=1000'), last), null, 2),
  }
}

/** The same in every way that there is. */
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

/** What differs from one telling to the next: the epoch, the gateway's own ids, and what is drawn by lot for the chain. */
export function settled(text: string, space: string, participants: readonly string[]): string {
  const own = new Set([
    ...[...story, ...ending].map(([, { id }]) => id),
    ...participants,
    ...threadsIn(space),
  ])
  const names = new Map<string, string>()
  return text
    .replace(/"(salt|leaf|hash|snapshot)":"[0-9a-f]+"/g, '"$1":"…"')
    .replace(/(?<![\w-])([\w-]{21}|[0-9A-Z]{26})(?![\w-])/g, (id) => {
      if (own.has(id)) return id
      const name = names.get(id) ?? `<${names.size + 1}>`
      names.set(id, name)
      return name
    })
}
