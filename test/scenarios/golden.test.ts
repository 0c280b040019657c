import { join } from 'node:path'
import { createGateway, type Served, serve, sqliteStore, tokenAuthenticator } from '@meup/gateway'
import { FakeClock, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { meup, spawnMeup, temporaryFolder } from '../support/cli.js'
import { cast, story, tell } from '../support/story.js'

const space = 'story'
const threads = ['security', 'apprentice'].map((agent) => `${space}/${agent}`)
const config = testSpaceConfig({ name: space, participants: cast })
const patience = { timeout: 30_000 }
const authenticator = () =>
  tokenAuthenticator({ [space]: Object.fromEntries(Object.keys(cast).map((id) => [id, testToken(id)])) })

async function open(path: string, clock: FakeClock): Promise<Served> {
  const store = await sqliteStore({ path })
  const gateway = await createGateway({ spaces: [config], store, clock, authenticator: authenticator() })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close())
  return served
}

const environmentOf = (url: string, participant = 'ana') => ({
  MEUP_URL: url,
  MEUP_SPACE: space,
  MEUP_TOKEN: testToken(participant),
})

const get = (url: string, path: string): Promise<Response> =>
  fetch(`${url}/spaces/${space}/${path}`, { headers: { authorization: `Bearer ${testToken('ana')}` } })

const textOf = async (url: string, path: string): Promise<string> => (await get(url, path)).text()

/** Everything that a stream of events says up to the envelope `last`, and what comes with that. */
async function eventsThrough(stream: Response, last: number): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const at = text.search(new RegExp(`^id: ${last + 1}$`, 'm'))
    if (at >= 0) return text.slice(0, text.lastIndexOf('event: ', at))
  }
  throw new Error('the stream has ended')
}

/** What the story looks like to whoever asks for it, in each of the ways there are. */
async function viewsOf(url: string, last: number): Promise<Record<string, string>> {
  const turns = await Promise.all(threads.map((thread) => textOf(url, `turns?thread_id=${thread}`)))
  const command = async (thread: string) => {
    const { stdout } = await meup(['reasoning', 'all', '--thread', thread], { env: environmentOf(url) })
    return stdout
  }
  const rows = (await textOf(url, 'audit/export')).split('\n').slice(1)
  return {
    'turns.json': turns.map((text) => JSON.stringify(JSON.parse(text), null, 2)).join('\n'),
    'events.txt': await eventsThrough(await get(url, 'events?after=0'), last),
    'reasoning.txt': (await Promise.all(threads.map(command))).join(''),
    'audit.md': await textOf(url, 'audit/export?format=markdown'),
    'log.jsonl': rows.slice(0, last).join('\n'),
    'steps.json': JSON.stringify(stepsIn(await textOf(url, 'audit?limit=1000'), last), null, 2),
  }
}

function stepsIn(answer: string, last: number): unknown[] {
  const { steps } = JSON.parse(answer) as { steps: { seq: number }[] }
  return steps.filter(({ seq }) => seq <= last)
}

/** What differs from one telling to the next: the epoch, the gateway's own ids, and what is drawn by lot for the chain. */
function settled(text: string): string {
  const own = new Set([...story.map(([, { id }]) => id), ...Object.keys(cast), ...threads])
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

test('turns, events, terminal, Markdown and JSONL are the same live, after a restart and after a replay', {
  timeout: 120_000,
}, async () => {
  const folder = temporaryFolder({})
  const path = join(folder, 'live.db')
  const clock = new FakeClock()
  const live = await open(path, clock)
  const reader = spawnMeup(['join'], folder, environmentOf(live.url, 'reader'))
  await expect.poll(() => textOf(live.url, 'participants'), patience).toMatch(/"id":"reader"[^}]*"present"/)
  const stream = await get(live.url, 'events?after=0')
  const last = await tell({ url: live.url, space, tokenOf: testToken }, clock)
  const asItHappened = await eventsThrough(stream, last)
  const atOnce = await viewsOf(live.url, last)
  expect(atOnce['events.txt']).toBe(asItHappened)
  await expect.poll(() => reader.said.stdout, patience).toContain('You are welcome.')

  await live.close()
  const restarted = await open(path, new FakeClock(clock.now() + 60_000))
  expect(await viewsOf(restarted.url, last)).toEqual(atOnce)

  const file = join(folder, 'story.jsonl')
  await meup(['audit', 'export', '-o', file], { env: environmentOf(restarted.url, 'reader') })
  const copy = join(folder, 'copy.db')
  expect(await meup(['replay', file, '--into', copy])).toMatchObject({ code: 0 })
  const replayed = await open(copy, new FakeClock(clock.now() + 120_000))
  expect(await viewsOf(replayed.url, last)).toEqual(atOnce)

  const golden = { ...atOnce, 'joined.txt': reader.said.stdout }
  for (const [name, text] of Object.entries(golden)) {
    await expect(settled(text)).toMatchFileSnapshot(`../golden/${name}`)
  }
})
