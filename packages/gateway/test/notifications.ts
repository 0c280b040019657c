import type { Gateway } from '@meup/gateway'
import { dialInMemory, testToken } from '@meup/gateway/testing'
import { type Envelope, Kind, type WelcomePayload } from '@meup/protocol'
import type { Sender } from '../src/ports/connection.js'
import { range } from './client.js'
import { pagesOf } from './stand.js'

export type Fields = Omit<Envelope, 'protocol' | 'seq'>

/** A gateway on a log, and a function that sends requests to it. */
export interface Stand {
  readonly gateway: Gateway
  get(reader: string, path: string, headers?: Record<string, string>): Promise<Response>
}

/** Converts the seq of an envelope in one log to its seq in another log. */
export type Count = (seq: number) => number

export interface Asked {
  readonly after?: number
  readonly before?: number
  readonly rest: string
}

const queryOf = ({ after, before, rest }: Asked, count: Count): string =>
  [
    ...(after === undefined ? [] : [`after=${count(after)}`]),
    ...(before === undefined ? [] : [`before=${count(before - 1) + 1}`]),
    rest,
  ].join('&')

interface Told {
  readonly seq?: number
}

interface Trial {
  readonly reader: string
  readonly log: readonly Fields[]
  readonly asked: readonly Asked[]
  /**
   * Minimum page size of requests for turns and steps: small pages of long turns would be slow, because each page folds its
   * turn again.
   */
  readonly leastLimit?: number
}

/**
 * All responses about a log. `count` converts seqs of the requests, and `own` those of the responses, so that the responses of
 * different logs can be compared.
 */
export async function everythingTold(
  stand: Stand,
  { reader, log, asked, leastLimit = 1 }: Trial,
  count: Count,
  own: Count,
) {
  const { get } = stand
  const epoch = ((await (await get(reader, '/participants')).json()) as { epoch: string }).epoch
  const received: [route: string, answer: unknown][] = []
  const recount = <Value extends Told>(value: Value): Value =>
    value.seq === undefined ? value : { ...value, seq: own(value.seq) }
  const notify = (route: string, answer: unknown): void => {
    received.push([route, JSON.parse(JSON.stringify(answer).replaceAll(epoch, 'EPOCH'))])
  }

  for (const query of asked) {
    const path = `/envelopes?${queryOf(query, count)}`
    const response = await get(reader, path)
    const page = (await response.json()) as { envelopes: Told[]; head: number; next?: number }
    const { envelopes, head, next, ...more } = page
    const isDescending = query.rest.includes('order=desc')
    const going = next === undefined ? undefined : isDescending ? own(next - 1) + 1 : own(next)
    notify(JSON.stringify(query), {
      ...more,
      envelopes: envelopes.map(recount),
      head: own(head),
      next: going,
    })
    const lines = await get(reader, path, { accept: 'application/x-ndjson' })
    const received = (await lines.text()).split('\n').slice(0, -1)
    const hasNext = lines.headers.has('link')
    notify(`lines ${JSON.stringify(query)}`, [
      hasNext,
      received.map((line) => recount(JSON.parse(line) as Told)),
    ])
  }
  for (const route of ['/participants', '/contexts']) {
    const { head, ...rest } = (await (await get(reader, route)).json()) as { head: number }
    notify(route, { ...rest, head: own(head) })
  }
  const verified = (await (await get(reader, '/audit/verify')).json()) as { head: number; checked: number }
  notify('verify', { ...verified, hash: '', head: own(verified.head), checked: own(verified.checked) })
  const exported = (await (await get(reader, '/audit/export')).text()).split('\n').slice(0, -1)
  const lines = exported.map(
    (line) => JSON.parse(line) as Told & { body?: string; first?: number; head?: number },
  )
  const shown = lines.filter(({ body }) => body !== undefined)
  notify('export', [
    lines[0]?.first,
    own(lines.at(-1)?.head ?? 0),
    shown.map(({ seq = 0, body }) => [own(seq), body]),
  ])

  for (const each of ['ana', 'ben', 'cleo', 'dora']) {
    for (const limit of [1, 3, 100]) {
      const path = `/turns?thread_id=test/${each}&limit=${Math.max(limit, leastLimit)}`
      notify(path, inOrder(await pagesOf(stand, reader, path), own))
    }
  }
  const atLeast = (query: string): string =>
    query.replace(/limit=(\d+)/, (_, limit) => `limit=${Math.max(Number(limit), leastLimit)}`)
  for (const query of new Set(auditQueries(log).map(atLeast))) {
    notify(query, inOrder(await pagesOf(stand, reader, query), own))
  }

  for (const { id } of log.filter((_, at) => at % 4 === log.length % 4)) {
    const why = await (await get(reader, `/why/${id}`)).json()
    notify(`why ${id}`, recountWhy(why, own))
  }
  for (const text of searched) {
    const path = `/search?text=${text}&limit=${Math.max(3, leastLimit)}`
    notify(path, inOrder(await pagesOf(stand, reader, path), own))
  }

  const after = asked[0]?.after ?? 0
  const queries = ['reasoning=boundaries', 'reasoning=none', 'kind=chat,reasoning.thought']
  const query = queries[log.length % queries.length]
  const stream = await get(reader, `/events?${query}`, { 'last-event-id': `${count(after)}` })
  await mark(stand, 'streamed')
  notify(`events after ${after}`, await eventsUpTo('streamed', stream, own))

  const places = [
    ...asked.slice(0, 3).map(({ after = 0 }) => ({ epoch, after: count(after) })),
    ...range(1, 3).map((tail) => ({ tail })),
  ]
  for (const [index, place] of places.entries()) {
    const { welcome, frames } = await replayed(stand, reader, place, `mark${index}`)
    const { resume, space, contexts, participants, subscription } = welcome
    const { status, from, to } = resume
    notify(`socket ${index}`, {
      frames: frames.map(recount),
      resume: { status, from: own(from - 1) + 1, to: own(to) },
      space: { ...space, head: own(space.head) },
      rest: { contexts, participants, subscription },
    })
  }
  return received
}

/** Words from texts, kinds and names, and one that does not occur. */
const searched = ['a', 'reasoning', 'ben', 'no-such-word']

/** Removes hashes from an explanation, because they depend on the whole log, and converts its seqs. */
const recountWhy = (why: unknown, own: Count): unknown =>
  JSON.parse(JSON.stringify(why), (key, value) => {
    if (key === 'seq' || key === 'about' || key === 'head') return own(value)
    if (key === 'outside') return value.map(own)
    return key === 'hash' ? '' : value
  })

const auditQueries = (log: readonly Fields[]): string[] => {
  const [since, until] = [log[Math.floor(log.length / 3)], log[Math.floor((log.length * 2) / 3)]]
  return [
    ...[1, 2, 7, 100].map((limit) => `limit=${limit}`),
    ...['thinking', 'plan', 'waiting_approval', 'execute', 'error'].map((phase) => `limit=2&phase=${phase}`),
    ...['ana', 'ben,cleo'].map((from) => `limit=3&from=${from}`),
    ...['ana', 'ben'].map((agent) => `limit=3&thread_id=test/${agent}`),
    'limit=5&thread_id=test/cleo&phase=thinking',
    `limit=4&since=${since?.ts}&until=${until?.ts}`,
  ].map((query) => `/audit?${query}`)
}

/**
 * Replaces turn numbers and ids in pages of turns or steps by their order among the shown ones: like a seq, they depend on the
 * whole log.
 */
function inOrder(pages: readonly object[], own: Count): unknown {
  const text = JSON.stringify(pages)
  const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort()
  const turns = [...new Set([...text.matchAll(/"turn_id":"(\w+)"/g)].map(([, id = '']) => id))]
  const ids = sorted(text.match(/\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g) ?? []).filter((id) => !turns.includes(id))
  const of = (name: string): Map<string, Set<number>> => {
    const numbers = new Map<string, Set<number>>()
    JSON.parse(text, function (this: { thread_id?: string }, key, value) {
      const thread = this.thread_id ?? ''
      if (key === name && typeof value === 'number')
        numbers.set(thread, (numbers.get(thread) ?? new Set()).add(value))
      return value
    })
    return numbers
  }
  const numbers = of('turn_number')
  const placeOf = (thread: string, number: number): number =>
    [...(numbers.get(thread) ?? [])].sort((one, other) => one - other).indexOf(number)
  return JSON.parse(text, function (this: { thread_id?: string; turns?: object }, key, value) {
    if (key === 'turn_number' && typeof value === 'number') return placeOf(this.thread_id ?? '', value)
    if (key === 'turn_number') return value
    if (key === 'seq') return own(value)
    if (key === 'next') return this.turns === undefined ? own(value - 1) + 1 : 'more'
    // Turns are compared by their order in the answer: the order of their ids may depend on envelopes that are unreadable.
    if (key === 'turn_id') return `turn ${turns.indexOf(value)}`
    if (typeof value === 'string' && ids.includes(value)) return `id ${ids.indexOf(value)}`
    return value
  })
}

/** The event ids and envelopes of a stream, up to the envelope `last`. */
async function eventsUpTo(last: string, response: Response, own: Count): Promise<unknown[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes(`"id":"${last}"`)) text += (await reader?.read())?.value ?? ''
  await reader?.cancel()
  const blocks = text.split('\n\n').filter((block) => block.startsWith('event: envelope'))
  return blocks.map((block) => {
    const [, id, data = ''] = /\nid: (\d+)\ndata: (.*)$/s.exec(block) ?? []
    return [own(Number(id)), { ...(JSON.parse(data) as Told), seq: 0 }]
  })
}

/** Sends a public chat, which marks the end of what is compared. */
async function mark({ gateway }: Stand, id: string): Promise<void> {
  const visitor = await gateway.identify({ space: 'test', token: testToken('dora'), remote: 'here' })
  if ('message' in visitor) throw new Error(visitor.message)
  const nobody: Sender = {
    participant: 'dora',
    rateLimitKey: 'dora',
    reply() {},
    echo() {},
    subscribe: () => 0,
  }
  const frame = { id, kind: 'chat', payload: { message: 'mark' } }
  visitor.space.submit(nobody, Buffer.from(JSON.stringify(frame)))
  await visitor.space.settled()
}

/** Envelopes that a new connection receives, up to a chat that is sent once it is open. */
async function replayed(stand: Stand, reader: string, place: object, id: string) {
  const frames: Envelope[] = []
  let found = (): void => {}
  const marked = new Promise<void>((resolve) => {
    found = resolve
  })
  const message = (text: string): void => {
    const frame = JSON.parse(text) as Envelope
    if (frame.id === id) found()
    else frames.push(frame)
  }
  const request = { space: 'test', token: testToken(reader), ...place }
  await dialInMemory(stand.gateway, request, { message, close: () => found() })
  await mark(stand, id)
  await marked
  const [first, ...rest] = frames
  // Joins and leaves of readers are logged with random ids, which are left out of the comparison.
  const named = rest.map((frame) => (frame.kind === Kind.systemPresence ? { ...frame, id: '' } : frame))
  return { welcome: first?.payload as WelcomePayload, frames: named }
}
