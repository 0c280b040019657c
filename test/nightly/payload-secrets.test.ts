import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { meup, spawnMeup } from '../support/cli.js'
import {
  type Connection,
  type Draft,
  freshId,
  inBatches,
  running,
  timeout,
} from '../support/guarded-gateway.js'
import { finderOf } from '../support/needles.js'
import { disguises, needlesIn, type Sample, samples } from '../support/secrets.js'
import { isSoak } from '../support/soak.js'
import { tablesOf, textOfRows } from '../support/tables.js'
import { verifies } from '../verifies.js'

type Said = readonly [from: 'ana' | 'ben', draft: Draft]

const text = (said: string): object => ({ content: [{ type: 'text', text: said }] })

/** Makes a turn of ana in which tools receive and return a secret in every possible place, and one tool asks for it. */
function turnAbout(secret: string): Said[] {
  const [question, run] = [freshId(), freshId()]
  const called: Said[] = []
  const call = (payload: object, answer: object | undefined): string => {
    const id = freshId()
    const request = { id, kind: 'mcp.request', to: ['ben'], context: run, rationale: 'to know', payload }
    called.push(['ana', request])
    if (answer)
      called.push(['ben', { id: freshId(), kind: 'mcp.response', correlationId: id, payload: answer }])
    return id
  }
  const tool = (name: string, args: object) => ({ method: 'tools/call', params: { name, arguments: args } })
  const plain = tool('read', {})
  call(tool('read', { note: secret, list: [secret], deep: { [secret]: { more: 1 } } }), {
    result: text(secret),
  })
  call(tool(`read\n${secret}`, {}), { result: { content: [], structuredContent: { [secret]: [secret] } } })
  call(tool(`${'x'.repeat(120)}\n${secret}`, {}), { result: [secret] })
  call(
    { method: 'resources/read', params: { uri: secret } },
    { result: { contents: [{ uri: secret, text: secret }] } },
  )
  call(plain, { error: { code: 1, message: secret } })
  call(plain, { error: { code: 1, data: [secret] } })
  call(plain, { result: { ...text(secret), isError: true } })
  const pending = call(plain, undefined)
  const takeBack = { method: 'notifications/cancelled', params: { requestId: pending, reason: secret } }
  call(takeBack, undefined)
  const propose = (): string => {
    const id = freshId()
    const payload = tool(`do\n${secret}`, { note: secret })
    called.push([
      'ana',
      { id, kind: 'mcp.proposal', to: ['ben'], context: run, rationale: 'to know', payload },
    ])
    return id
  }
  const refusal = { reason: secret, message: secret }
  called.push(['ben', { id: freshId(), kind: 'mcp.reject', correlationId: propose(), payload: refusal }])
  called.push(['ana', { id: freshId(), kind: 'mcp.withdraw', correlationId: propose(), payload: refusal }])
  const asked = freshId()
  return [
    ['ben', { id: question, kind: 'chat', to: ['ana'], payload: { message: 'please' } }],
    ['ana', { id: run, kind: 'reasoning.start', correlationId: question, payload: { message: 'I look' } }],
    ...called,
    ['ana', { id: freshId(), kind: 'reasoning.conclusion', context: run }],
    ['ana', { id: freshId(), kind: 'chat', correlationId: question, payload: { message: 'done' } }],
    ['ben', { id: asked, kind: 'mcp.request', to: ['ana'], payload: tool(secret, { note: secret }) }],
    ['ana', { id: freshId(), kind: 'mcp.response', correlationId: asked, payload: { result: text(secret) } }],
  ]
}

/** Chooses one variant (the plain text, or a disguise) of every eighth sample, in turn; at night of every sample. */
function plantsOf({ text: said, secrets }: Sample, turn: number) {
  const ways = disguises(said, secrets.flatMap(needlesIn))
  const step = isSoak ? 1 : 8
  return turn % step === 0 ? [ways[(turn / step) % ways.length]].filter((way) => way !== undefined) : []
}

/** Sends the envelopes of a turn in order, so that an answer follows its question. */
async function tellAll(
  said: readonly Said[],
  lines: Readonly<Record<'ana' | 'ben', Connection>>,
): Promise<void> {
  for (const [from, draft] of said) await lines[from].say([draft])
}

verifies(
  'I39',
  'what tools are told and say is masked in every view, file of views, log and terminal',
  async () => {
    const { folder, gateway, enter, get, post, stop } = await running()
    const plants = samples().flatMap(plantsOf)
    const find = finderOf(plants.flatMap(({ needles }) => needles))
    const lines = { ana: await enter('ana'), ben: await enter('ben') }
    // Joins as cas, because participants that may decide a proposal see it unmasked. `meup join` itself answers `tools/list`.
    const joined = spawnMeup(['join', '--as', 'cas'], folder)
    await expect.poll(() => joined.said.stderr, { timeout: 30_000 }).toContain('you are cas')
    const events = await get('events?after=0')
    const stream = events.text() // Resolves when the gateway ends.
    const stories = plants.map(({ text: said }) => turnAbout(said))
    for (const batch of inBatches(stories, 40)) await Promise.all(batch.map((story) => tellAll(story, lines)))
    for (const { text: said } of plants.slice(0, 40)) {
      const denied = { kind: 'mcp.request', payload: { method: 'tools/call', params: { name: said } } }
      expect(await post('eve', [denied])).toBe(403)
    }
    await lines.ana.say([{ id: 'last', kind: 'chat', payload: { message: 'the last' } }])
    await expect.poll(() => joined.said.stdout, { timeout: 300_000 }).toContain('the last')

    const everything: Record<string, string> = {
      turns: await allPages((before) => get(`turns?thread_id=demo/ana&limit=100&sizes=true${before}`)),
      'turns of the other': await allPages((before) => get(`turns?thread_id=demo/ben&limit=100${before}`)),
      audit: await allPages((before) => get(`audit?limit=1000${before}`)),
      markdown: await (await get('audit/export?format=markdown')).text(),
      contexts: await (await get('contexts')).text(),
      'meup watch': (await meup(['watch', '--from', '1', '--no-follow', '--as', 'ben'], { cwd: folder }))
        .stdout,
      'meup reasoning': (await meup(['reasoning', 'all', '--thread', 'ana', '--as', 'ben'], { cwd: folder }))
        .stdout,
      'meup join': joined.said.stdout + joined.said.stderr,
    }
    joined.process.kill('SIGKILL')
    await stop()
    const received = (await stream).split('\n\n').filter((event) => !event.startsWith('event: envelope'))
    everything.events = received.join('\n\n')
    everything.logs = gateway.said.stdout + gateway.said.stderr
    const tables = tablesOf(join(folder, 'data/space.db'))
    for (const [name, rows] of tables)
      if (name !== 'envelopes') everything[`table ${name}`] = textOfRows(rows)
    for (const [name, rows] of tablesOf(join(folder, 'data/space.db.index.db')))
      everything[`index ${name}`] = textOfRows(rows)
    for (const [name, haystack] of Object.entries(everything))
      expect([name, find(haystack)]).toEqual([name, []])

    const marked = ['turns', 'audit', 'markdown', 'meup watch', 'meup reasoning', 'meup join', 'events']
    for (const name of marked) {
      const marks = String(everything[name]).split('[redacted:').length
      expect([name, marks > plants.length]).toEqual([name, true])
    }
    expect(find(textOfRows(tables.get('envelopes') ?? [])).length).toBeGreaterThan(0)
  },
  { timeout },
)

async function allPages(get: (before: string) => Promise<Response>): Promise<string> {
  const pages: string[] = []
  for (let before = ''; ; ) {
    const response = await get(before)
    const page = await response.text()
    // Reading is charged by its time, so on a busy machine a reader may have to wait.
    if (response.status === 429 || response.status === 503) {
      await setTimeout(1000 * Number(response.headers.get('retry-after') ?? 1))
      continue
    }
    if (!response.ok) throw new Error(page)
    pages.push(page)
    const { next } = JSON.parse(page) as { next?: number }
    if (next === undefined) return pages.join('\n')
    before = `&before=${next}`
  }
}
