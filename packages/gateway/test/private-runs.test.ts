import { sqliteStore } from '@meup/gateway'
import { FakeClock, testToken } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { byId, type Client, type Sent } from './client.js'
import { asking } from './http-client.js'
import { start, temporaryFile } from './support.js'

const participants = {
  ana: ['*'],
  bot: ['chat', 'reasoning.*', 'mcp.*'],
  cem: ['chat', 'reasoning.*'],
  tool: ['*'],
  eve: ['chat', 'reasoning.*', 'mcp.reject', 'observe.subscribe'],
  auditor: ['chat', 'observe.targeted'],
}
const canary = 'hunter2-canary'
const payload = { message: `so ${canary} it is` }
const call = {
  jsonrpc: '2.0',
  id: canary,
  method: 'tools/call',
  params: { name: 'look', arguments: { canary } },
}
const result = { jsonrpc: '2.0', id: canary, result: { content: [{ type: 'text', text: canary }] } }

async function room(options: Partial<Parameters<typeof start>[0]> = {}) {
  const running = await start({ participants, ...options })
  const clients: Record<string, Client> = {}
  for (const name of Object.keys(participants)) clients[name] = await running.connect(name)
  return { ...running, ...(clients as Record<keyof typeof participants, Client>) }
}

const question = (fields: Partial<Sent> = {}): Sent => ({
  ...{ id: 'q', kind: 'chat', to: ['bot'], payload },
  ...fields,
})
const begin = (fields: Partial<Sent> = {}): Sent => ({
  ...{ id: 'run', kind: 'reasoning.start', correlationId: 'q', payload },
  ...fields,
})
const thought = (fields: Partial<Sent> = {}): Sent => ({
  ...{ kind: 'reasoning.thought', context: 'run', payload },
  ...fields,
})

/** Sends a private question and everything that an agent does about it. The envelopes of the run have no recipients. */
async function asked({ ana, bot, tool }: Record<'ana' | 'bot' | 'tool', Client>) {
  await ana.accepted(question())
  await bot.accepted(begin())
  await bot.accepted(thought())
  await bot.accepted(thought({ id: 'inner', kind: 'reasoning.start' }))
  await bot.accepted(thought({ context: 'run/inner' }))
  await bot.accepted(thought({ kind: 'reasoning.aside' }))
  await bot.accepted({
    id: 'c',
    kind: 'mcp.request',
    to: ['tool'],
    context: 'run',
    rationale: canary,
    payload: call,
  })
  await tool.accepted({ kind: 'mcp.request', to: ['bot'], correlationId: 'c', payload: progress })
  await tool.accepted({ id: 'r', kind: 'mcp.response', to: ['bot'], correlationId: 'c', payload: result })
  bot.send({ kind: 'chat.delta', correlationId: 'q', payload: { index: 0, text: canary } })
  await bot.accepted(thought({ kind: 'reasoning.conclusion' }))
  await bot.accepted({ id: 'a', kind: 'chat', correlationId: 'q', payload })
}
const progress = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progress: 1, message: canary },
}

/** Every view of a space that this participant can request. */
async function viewsOf(url: string, participant: string): Promise<string[]> {
  const { get } = asking(url, participant)
  const envelopes = [
    '',
    '&order=desc',
    '&context=run',
    '&context=run/inner',
    '&kind=chat',
    '&kind=mcp.request',
  ]
  const more = [
    '&kind=mcp.response',
    '&from=bot',
    '&from=ana',
    '&from=tool',
    '&correlationId=q',
    '&correlationId=c',
  ]
  const agents = ['ana', 'bot', 'tool']
  const paths = [
    ...[...envelopes, ...more].map((query) => `/envelopes?limit=1000${query}`),
    ...agents.map((agent) => `/turns?thread_id=test/${agent}`),
    ...agents.map((agent) => `/audit?thread_id=test/${agent}`),
    ...['/audit?limit=1000', '/audit?phase=thinking', '/audit?phase=execute', '/audit?from=bot'],
    ...[`/search?text=${canary}`, '/search?text=so', '/search?from=bot&text=it', '/search?tool=look'],
    ...['', '?format=jsonl', '?format=markdown', '?format=markdown&thread_id=test/bot'].map(
      (query) => `/audit/export${query}`,
    ),
    ...['/contexts', '/contexts/run', '/contexts/run/inner', '/contexts/run?format=markdown'],
    ...['/participants', '/proposals'],
  ]
  return Promise.all(paths.map(async (path) => `${path} ${await (await get(path)).text()}`))
}

/** The events of a stream, up to this envelope. */
async function streamed(url: string, participant: string, until: string): Promise<string> {
  const response = await asking(url, participant).get('/events?after=0', { accept: 'text/event-stream' })
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes(`"id":"${until}"`)) break
  }
  return text
}

describe('a private question', () => {
  test.each(['memory', 'disk'])(
    'is found by nobody else, with all that follows from it, in %s',
    async (where) => {
      const path = temporaryFile('log.db')
      const store = where === 'disk' ? { store: await sqliteStore({ path }) } : {}
      const here = await room(store)
      await asked(here)
      const { id } = await here.ana.accepted({ kind: 'chat', payload: { message: 'mark' } })
      for (const client of [here.eve, here.cem, here.auditor]) await client.next(byId(id))
      const looks = [here.eve, here.cem].map(({ frames }) => JSON.stringify(frames))
      for (const name of ['eve', 'cem']) {
        for (const query of ['after=0', 'tail=1000']) {
          const again = await here.connect(name, { query })
          await again.until(byId(id))
          looks.push(JSON.stringify(again.frames))
        }
        looks.push(await streamed(here.url, name, id), ...(await viewsOf(here.url, name)))
      }
      expect(looks.length).toBeGreaterThanOrEqual(74)
      for (const look of looks) expect(look.replace(`text=${canary}`, '')).not.toContain(canary)
      for (const client of [here.auditor, here.ana, here.bot]) {
        const seen = client.frames.filter((frame) => JSON.stringify(frame).includes(canary))
        expect(seen.length).toBeGreaterThanOrEqual(client === here.auditor ? 6 : 9)
      }
      const { envelopes } = await asking(here.url, 'ana').history('limit=1000')
      expect(envelopes.filter(({ id: each }) => ['run', 'a'].includes(each)).map(({ to }) => to)).toEqual([
        ['ana'],
        ['ana'],
      ])
    },
  )

  test('stays private when its agent leaves, and the run is abandoned', async () => {
    const clock = new FakeClock()
    const here = await room({ clock })
    await asked(here)
    await here.bot.accepted(begin({ id: 'again' }))
    await here.bot.close()
    await here.ana.next(({ kind, payload }) => kind === 'system.presence' && payload.event === 'leave')
    clock.advance(60_000)
    const cancelled = await here.ana.next(
      ({ kind, context }) => kind === 'reasoning.cancel' && context === 'again',
    )
    expect(cancelled).toMatchObject({ from: 'system:gateway', payload: { reason: 'abandoned' } })
    const { id } = await here.ana.accepted({ kind: 'chat', payload: { message: 'mark' } })
    for (const client of [here.eve, here.cem]) {
      await client.next(byId(id))
      expect(client.frames.filter(({ context }) => context !== undefined)).toEqual([])
    }
  })

  test('stays private after a restart', async () => {
    const path = temporaryFile('log.db')
    const first = await room({ store: await sqliteStore({ path }) })
    await asked(first)
    await first.close()
    const { url, connect } = await start({ participants, store: await sqliteStore({ path }) })
    const bot = await connect('bot')
    await bot.accepted(thought({ id: 'late' }))
    await bot.accepted({ id: 'more', kind: 'chat', correlationId: 'q', payload })
    for (const view of await viewsOf(url, 'eve'))
      expect(view.replace(`text=${canary}`, '')).not.toContain(canary)
  })

  test('to several is answered to all of them', async () => {
    const { ana, bot } = await room()
    await ana.accepted(question({ to: ['bot', 'cem', 'tool'] }))
    const { to } = await bot.accepted(begin())
    expect([...(to ?? [])].sort()).toEqual(['ana', 'cem', 'tool'])
  })

  test('is thought about by others who take part, for its owner too', async () => {
    const { ana, bot, cem } = await room()
    await ana.accepted(question({ to: ['bot', 'cem'] }))
    await bot.accepted(begin())
    const { to } = await cem.accepted(thought())
    expect([...(to ?? [])].sort()).toEqual(['ana', 'bot'])
  })

  test('may be thought about in public, by the word of who does', async () => {
    const { ana, bot } = await room()
    await ana.accepted(question())
    const started = await bot.accepted(begin({ payload: { ...payload, public: true } }))
    const said = await bot.accepted(thought())
    const answer = await bot.accepted({ kind: 'chat', correlationId: 'q', payload })
    for (const each of [started, said, answer]) expect(each).not.toHaveProperty('to')
  })

  test('may be answered to everyone, with an empty list of addressees', async () => {
    const { ana, bot } = await room()
    await ana.accepted(question())
    const answer = await bot.accepted({ id: 'a', kind: 'chat', to: [], correlationId: 'q', payload })
    expect(answer).not.toHaveProperty('to')
    const { code } = await bot.refused({ id: 'a', kind: 'chat', correlationId: 'q', payload })
    expect(code).toBe('duplicate_id')
  })

  test('of others tells nobody whom it was for', async () => {
    const { ana, bot, eve } = await room()
    await ana.accepted(question())
    expect(
      await eve.accepted({ kind: 'chat', correlationId: 'q', payload: { message: 'me too' } }),
    ).not.toHaveProperty('to')
    expect(await eve.accepted(begin({ id: 'mine' }))).not.toHaveProperty('to')
    expect(await bot.accepted(begin())).toMatchObject({ to: ['ana'] })
  })

  test('has its proposal read by who takes part and who may decide it, and by nobody else', async () => {
    const here = await room()
    const { ana, bot, eve, tool } = here
    await ana.accepted(question())
    await bot.accepted(begin())
    const asked = { method: 'tools/call', params: { name: canary } }
    await bot.accepted({
      id: 'p',
      kind: 'mcp.proposal',
      to: ['tool'],
      context: 'run',
      rationale: canary,
      payload: asked,
    })
    const approved = await ana.accepted({ id: 'yes', kind: 'mcp.request', correlationId: 'p' })
    expect(approved).toMatchObject({ context: 'run' })
    await tool.accepted({ kind: 'mcp.response', to: ['ana', 'bot'], correlationId: 'yes', payload: result })
    const { id } = await ana.accepted({ kind: 'chat', payload: { message: 'mark' } })
    await eve.next(byId(id))
    expect(JSON.stringify(eve.frames)).not.toContain(canary)
    for (const view of await viewsOf(here.url, 'eve'))
      expect(view.replace(`text=${canary}`, '')).not.toContain(canary)
    expect(bot.frames.some(byId('yes'))).toBe(true)
  })

  test('is private over HTTP as well', async () => {
    const { ana, url } = await room()
    await ana.accepted(question())
    const response = await fetch(`${url}/spaces/test/envelopes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testToken('bot')}` },
      body: JSON.stringify([begin(), thought(), { kind: 'chat', correlationId: 'q', payload }]),
    })
    expect(response.status).toBe(201)
    for (const view of await viewsOf(url, 'eve'))
      expect(view.replace(`text=${canary}`, '')).not.toContain(canary)
  })
})

test('a public question has a public run', async () => {
  const { ana, bot } = await room()
  await ana.accepted(question({ to: undefined }))
  for (const each of [begin(), thought(), { kind: 'chat', correlationId: 'q', payload }])
    expect(await bot.accepted(each)).not.toHaveProperty('to')
})
