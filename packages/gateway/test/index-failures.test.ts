import { mkdirSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs'
import { sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { range, type Sent } from './client.js'
import { indexPathOf } from './indexed.js'
import { lastIdOf, rawEvents, story } from './reasoning-story.js'
import { start, temporaryFile } from './support.js'
import { begin, call, chat, conclude, createTurns, result, sayIn, stage, thought, twoCalls } from './turns.js'

describe('an index that cannot be opened', () => {
  test('keeps nobody from the log, says why turns cannot be read, and is opened as soon as it can be', async () => {
    const path = temporaryFile('log.db')
    const index = indexPathOf(path)
    mkdirSync(index)
    const clock = new FakeClock()
    const errors: object[] = []
    const logger = { info() {}, warn() {}, error: (fields: object) => void errors.push(fields) }
    const staged = await stage({ store: await sqliteStore({ path }), clock, logger })
    const { say, as, url } = staged
    const events = await as('ana').events('kind=chat')
    await say(...twoCalls('a'), ['ana', chat('end', 'that is all')])
    expect((await as('ana').history('kind=chat')).envelopes).toHaveLength(3)
    for (const path of ['/turns?thread_id=test/ben', '/audit', '/audit/export?format=markdown']) {
      const answer = await as('ana').get(path)
      expect([path, answer.status, await answer.json()]).toMatchObject([
        path,
        503,
        { code: 'unavailable', detail: expect.stringContaining('EISDIR') },
      ])
    }
    expect((await as('ana').get('/audit/export')).status).toBe(200)
    expect((await as('ana').get('/audit/verify')).status).toBe(200)
    expect(errors).toHaveLength(1)
    rmdirSync(index)
    const isMended = async (): Promise<boolean> => {
      clock.advance(5000)
      return (await as('ana').get('/audit')).status === 200
    }
    await expect.poll(isMended).toBe(true)
    expect((await createTurns(staged, 'ana')).turns).toMatchObject([{ turn_number: 1, state: 'completed' }])
    expect((await events.envelopesUntil('end')).map(({ id }) => id)).toEqual(['a-ask', 'a-done', 'end'])
    expect(await rawEvents(url, 'ana', { query: 'after=0' })).not.toEqual([])
  })

  test('of several spaces is built again for all, when one of them finds it damaged', async () => {
    const path = temporaryFile('log.db')
    const participants = { ana: ['*'], ben: ['*'], tool: ['*'] }
    const running = await start({
      ...{ participants, store: await sqliteStore({ path }) },
      others: [{ name: 'other', participants }],
    })
    await sayIn(running)(...twoCalls('a'))
    const ask = async (space: string): Promise<unknown> => {
      const headers = { authorization: 'Bearer token-of-ana' }
      const answer = await fetch(`${running.url}/spaces/${space}/audit`, { headers })
      return answer.status === 200 ? ((await answer.json()) as { steps: unknown[] }).steps : answer.status
    }
    const before = [await ask('test'), await ask('other')]
    expect(before).toEqual([expect.any(Array), []])
    truncateSync(indexPathOf(path), 4096)
    writeFileSync(`${indexPathOf(path)}-wal`, '')
    const all = async (): Promise<unknown> => [await ask('other'), await ask('test')].reverse()
    await expect.poll(all).toEqual(before)
    await expect.poll(all).toEqual(before)
  })
})

test('one answer to calls of sixteen turns settles each of them, and no other', async () => {
  const staged = await stage()
  const { say, as, url } = staged
  const sixteen = range(1, 16)
  for (const n of sixteen) {
    await say(
      ['ana', chat(`ask${n}`, 'go')],
      ['ben', begin(`run${n}`, `ask${n}`, 'so'), call(`c${n}`, `run${n}`, `tool${n}`, `why ${n}`)],
    )
  }
  await say(
    ['ana', chat('ask17', 'go')],
    ['ben', begin('run17', 'ask17', 'so'), call('c17', 'run17', 'x', 'y')],
  )
  await say(['tool', result(sixteen.map((n) => `c${n}`))], ['ana', chat('end', 'that is all')])
  const { turns } = await createTurns(staged, 'ana')
  expect(turns.map(({ turn_number, tool_calls }) => [turn_number, tool_calls[0]?.has_result])).toEqual([
    ...sixteen.map((n) => [n, true]),
    [17, false],
  ])
  const { steps } = (await as('ana').json('/audit?phase=execute')) as {
    steps: { id: string; turn_number: number; linked_tool_call: string; step_number: number }[]
  }
  expect(steps.map(({ turn_number, linked_tool_call }) => [turn_number, linked_tool_call])).toEqual(
    sixteen.map((n) => [n, `c${n}`]).reverse(),
  )
  expect(new Set(steps.map(({ id }) => id)).size).toBe(16)
  const blocks = await rawEvents(url, 'ana', { query: 'after=0' })
  const ids = blocks
    .filter((block) => block.startsWith('event: reasoning_update'))
    .map((block) => lastIdOf([block]))
  const seq = ids[0]?.split('.')[0]
  expect(ids).toEqual([...sixteen.slice(0, -1).map((n) => `${seq}.${n}`), seq])
})

test('times of steps never go back, though the clock is set back across a restart', async () => {
  const path = temporaryFile('log.db')
  const steps: unknown[] = []
  const times: string[] = []
  for (const at of [Date.UTC(2026, 3, 5), Date.UTC(2026, 3, 1), Date.UTC(2026, 3, 3)]) {
    const { say, as, close } = await stage({ store: await sqliteStore({ path }), clock: new FakeClock(at) })
    await say(['ben', thought(`run${at}`, 'hm')], ['ben', thought(`run${at}`, 'well')])
    const page = (await as('ana').json('/audit')) as { steps: { created_at: string; timestamp: string }[] }
    times.splice(0, times.length, ...page.steps.map(({ created_at }) => created_at))
    expect(page.steps.slice(2)).toEqual(steps)
    steps.splice(0, steps.length, ...page.steps)
    await close()
  }
  expect(times).toHaveLength(6)
  expect(times).toEqual([...times].sort().reverse())
})

test('a stream that comes back after a restart, from anywhere in an envelope, gets the rest once', async () => {
  const path = temporaryFile('log.db')
  const limits = { connectionsPerParticipant: 500 }
  const first = await stage({ store: await sqliteStore({ path }), limits })
  await first.say(...story)
  const blocks = await rawEvents(first.url, 'auditor', { query: 'after=0' })
  const cuts = [...blocks.keys()].filter((at) => lastIdOf(blocks.slice(0, at)).includes('.'))
  expect(cuts.length).toBeGreaterThan(2)
  await first.close()
  for (const cut of cuts) {
    const again = await stage({ store: await sqliteStore({ path }), limits })
    const seen = blocks.slice(0, cut)
    const rest = await rawEvents(again.url, 'auditor', { lastId: lastIdOf(seen) })
    // The new stream may send events after the last one of `blocks`, so only that many are compared.
    expect([...seen, ...rest].slice(0, blocks.length)).toEqual(blocks)
    // Work that is logged after the reconnection adds its events behind those that the stream has sent before.
    const more: [string, ...Sent[]][] = [
      ['ben', thought(`more${cut}`, 'on')],
      ['ben', conclude(`more${cut}`)],
    ]
    await again.say(...more, ['ana', chat(`end${cut}`, 'over')])
    const all = await rawEvents(again.url, 'auditor', { lastId: lastIdOf(seen), until: `end${cut}` })
    expect(all.slice(0, rest.length)).toEqual(rest)
    expect(new Set(all).size).toBe(all.length)
    await again.close()
  }
})
