import { join } from 'node:path'
import { createGateway, type Served, serve, sqliteStore, tokenAuthenticator } from '@meup/gateway'
import { FakeClock, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { meup, spawnMeup, temporaryFolder } from '../support/cli.js'
import {
  type Asker,
  allViews,
  EventStream,
  environmentOf,
  get,
  httpViews,
  settled,
  textOf,
  withoutEvents,
} from '../support/shown-views.js'
import { notify } from '../support/story.js'
import { cast, ending, shownLater } from '../support/story-lines.js'

const space = 'story'
const participants = Object.keys(cast)
const patience = { timeout: 30_000 }
const authenticator = () =>
  tokenAuthenticator({ [space]: Object.fromEntries(participants.map((id) => [id, testToken(id)])) })

type Visibility = 'everyone' | 'addressees'

async function open(path: string, clock: FakeClock, visibility: Visibility = 'everyone'): Promise<Served> {
  const config = testSpaceConfig({ name: space, participants: cast, mcp: { visibility } })
  const store = await sqliteStore({ path })
  const gateway = await createGateway({ spaces: [config], store, clock, authenticator: authenticator() })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close())
  return served
}

const asker = (url: string, participant: string): Asker => ({ url, space, token: testToken(participant) })

/**
 * Readers with different rights. `reader` may read envelopes to others, `ana` is an addressee, `passerby` may read only
 * envelopes to everyone, and `security` sees its own thoughts in a hidden run.
 */
const onlookers = ['ana', 'passerby', 'security'] as const

type Views = Record<string, string>

/** Reads all that the gateway shows of the story to each reader, by the path of the golden file with the expected text. */
async function viewsOf(url: string, last: number): Promise<Views> {
  const views = await allViews(asker(url, 'reader'), last)
  const others = await Promise.all(onlookers.map((id) => httpViews(asker(url, id), last)))
  return Object.assign(
    within('reader', views),
    ...onlookers.map((id, index) => within(id, others[index] ?? {})),
  )
}

const within = (folder: string, views: Views): Views =>
  Object.fromEntries(Object.entries(views).map(([name, text]) => [`${folder}/${name}`, text]))

const pick = (views: Views, names: readonly string[]): Views =>
  Object.fromEntries(names.map((name) => [name, views[name] ?? '']))

async function compare(views: Views): Promise<void> {
  for (const [name, text] of Object.entries(views)) {
    await expect(settled(text, space, participants)).toMatchFileSnapshot(`../golden/story/${name}`)
  }
}

test('turns, events, terminal, Markdown and JSONL are the same live, after a restart and after a replay', {
  timeout: 180_000,
}, async () => {
  const folder = temporaryFolder({})
  const path = join(folder, 'live.db')
  const clock = new FakeClock()
  const live = await open(path, clock)
  const terminal = spawnMeup(['join'], folder, environmentOf(asker(live.url, 'reader')))
  const isThere = /"id":"reader"[^}]*"present"/
  await expect.poll(() => textOf(asker(live.url, 'ana'), 'participants'), patience).toMatch(isThere)
  const all = ['reader', ...onlookers]
  const { head } = JSON.parse(await textOf(asker(live.url, 'ana'), 'envelopes?limit=1')) as { head: number }
  const streams = await Promise.all(
    all.map(async (id) => new EventStream(await get(asker(live.url, id), 'events?after=0'))),
  )
  // From here on the streams are live: they do not get hidden thoughts, which readers of the log may get later.
  for (const stream of streams) await stream.reached(head)
  // After each step, waits until the gateway has indexed it and the terminal has printed it, before the story advances the
  // clock.
  let proposals = 0
  const cards = () => terminal.said.stdout.match(/ asks whether .*\n {4}\S/g)?.length ?? 0
  const caughtUp = async ({ kind }: { readonly kind: string }) => {
    // Wait until the terminal has printed the proposal, while it is undecided.
    if (kind === 'mcp.proposal') await expect.poll(cards, patience).toBe(++proposals)
    return textOf(asker(live.url, 'reader'), 'audit?limit=1')
  }
  const last = await notify({ url: live.url, space, tokenOf: testToken }, clock, undefined, caughtUp)
  const happened = await Promise.all(streams.map((stream) => stream.through(last)))
  const atOnce = await viewsOf(live.url, last)
  for (const [index, id] of all.entries()) {
    const events = atOnce[`${id}/events.txt`] ?? ''
    expect(happened[index]).toBe(id === 'security' ? events : withoutEvents(events, shownLater))
  }
  await expect.poll(() => terminal.said.stdout, patience).toContain('ana left')

  // The gateway is away for 20 s, which is too short for participants to count as away.
  await live.close()
  const later = new FakeClock(clock.now() + 20_000)
  const restarted = await open(path, later)
  expect(await viewsOf(restarted.url, last)).toEqual(atOnce)

  // As long as a run is hidden, an export does not have all envelopes, so it cannot be replayed exactly: end the run first.
  const end = await notify({ url: restarted.url, space, tokenOf: testToken }, later, ending)
  const inTheEnd = await viewsOf(restarted.url, end)
  const file = join(folder, 'story.jsonl')
  await meup(['audit', 'export', '-o', file], { env: environmentOf(asker(restarted.url, 'reader')) })
  const copy = join(folder, 'copy.db')
  expect(await meup(['replay', file, '--into', copy])).toMatchObject({ code: 0 })
  const replayed = await open(copy, new FakeClock(later.now() + 20_000))
  expect(await viewsOf(replayed.url, end)).toEqual(inTheEnd)

  const joined = terminal.said.stdout.replace(/^· \w+ left\n/gm, '')
  await compare({ ...atOnce, 'reader/joined.txt': joined })
  await compare(
    within(
      'in-the-end',
      pick(inTheEnd, [
        'reader/turns.json',
        'passerby/turns.json',
        'reader/reasoning.txt',
        'reader/log.jsonl',
      ]),
    ),
  )
})

test('where calls are for their addressees alone, they are in nobody else’s turns and events', {
  timeout: 60_000,
}, async () => {
  const clock = new FakeClock()
  const { url } = await open(join(temporaryFolder({}), 'live.db'), clock, 'addressees')
  const last = await notify({ url, space, tokenOf: testToken }, clock)
  for (const id of ['reader', 'passerby', 'files']) {
    await compare(within(`addressees/${id}`, await httpViews(asker(url, id), last)))
  }
})
