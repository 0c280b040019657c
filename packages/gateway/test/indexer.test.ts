import { mkdir, rename, rmdir } from 'node:fs/promises'
import { LogError, sqliteStore } from '@meup/gateway'
import { FakeClock, randomDrafts } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { range } from './client.js'
import { asking } from './http-client.js'
import { heldStore, isIndexingTurns } from './indexing.js'
import { type StartOptions, start, temporaryFile } from './support.js'

const participants = { ana: ['*'], tool: ['*'] }

async function space(options: Partial<StartOptions> = {}) {
  const said: [level: string, message: string][] = []
  const say = (level: string) => (_: object, message: string) => void said.push([level, message])
  const logger = { info: say('info'), warn: say('warn'), error: say('error') }
  const running = await start({ participants, logger, ...options })
  const visitor = await running.gateway.identify({ space: 'test', token: 'token-of-ana', remote: 'here' })
  if (!('turns' in visitor)) throw new Error('ana is not let in')
  const { indexer } = visitor.turns
  return {
    ...running,
    said,
    space: visitor.space,
    indexer,
    /** Steps as `GET /audit` returns them, newest first. */
    steps: async (query = '') => {
      const answer = await asking(running.url, 'ana').json(`/audit?${query}`)
      return (answer as { steps: Record<string, unknown>[] }).steps
    },
    /** All turns, and all jobs (work of an agent that no one asked for). */
    trail: async () => (await indexer.reach(visitor.space.delivered)).trail(0, undefined, 9999),
  }
}

const call = (id: string) => ({
  ...{ id, kind: 'mcp.request', to: ['tool'], context: 'r' },
  payload: { method: 'tools/call', params: { name: 'look' } },
})
const thought = { kind: 'reasoning.thought', context: 'r', payload: { message: 'hm\n1. look' } }
const answer = (correlationId: string) => ({
  ...{ kind: 'mcp.response', correlationId },
  payload: { result: { content: [{ type: 'text', text: 'seen' }] } },
})
const run = { id: 'r', kind: 'reasoning.start', payload: { message: 'Looking' } }

describe('the index of a space', () => {
  verifies('A11', 'has the steps of what was thought before the tool that follows begins', async () => {
    const { connect, steps } = await space()
    const [ana, tool] = [await connect('ana'), await connect('tool')]
    await ana.accepted(run)
    ana.send(thought)
    ana.send(call('c'))
    await tool.next(({ id }) => id === 'c')
    const before = await steps()
    expect(before.map(({ step_number, phase, content }) => [step_number, phase, content])).toEqual([
      [1, 'plan', '1. look'],
      [0, 'thinking', 'hm'],
    ])
    await tool.accepted(answer('c'))
    const [after] = await steps('limit=1')
    expect(after).toMatchObject({ step_number: 2, phase: 'execute', linked_tool_call: 'c' })
  })

  test('answers with everything that was acknowledged before', async () => {
    const { connect, steps } = await space({ store: await sqliteStore({ path: temporaryFile('log.db') }) })
    const ana = await connect('ana')
    await ana.accepted(run)
    for (const count of range(1, 20)) {
      await ana.accepted(thought)
      expect(await steps()).toHaveLength(2 * count)
    }
  })

  test('tells how far it has come, in order, and each batch that ended is found once', async () => {
    const { connect, indexer, space: main } = await space()
    const [ana, tool] = [await connect('ana'), await connect('tool')]
    const ended: number[] = []
    const throughs: number[] = []
    indexer.onAdvance = async (through) => {
      const index = await indexer.reach(through)
      ended.push(...index.ended(throughs.at(-1) ?? 0, through).map(({ seq }) => seq))
      throughs.push(through)
    }
    await ana.accepted(run)
    const answers: number[] = []
    for (const id of ['c1', 'c2', 'c3']) {
      await ana.accepted(call(id))
      answers.push((await tool.accepted(answer(id))).seq ?? 0)
      await indexer.reach(answers.at(-1) ?? 0)
    }
    await expect.poll(() => throughs.at(-1)).toBe(main.delivered)
    expect(ended).toEqual(answers)
    expect(throughs).toEqual([...new Set(throughs)].sort((one, other) => one - other))
  })

  test('that fails holds nobody up, is told of once, and goes on when it can', async () => {
    const clock = new FakeClock()
    const { store, fail, indexed } = heldStore()
    const { connect, gateway, indexer, said, steps, url, space: main } = await space({ store, clock })
    const [ana, tool] = [await connect('ana'), await connect('tool')]
    await indexer.reach(main.delivered)
    const reason = new LogError('io', 'the disk is gone', {})
    fail(reason)
    await ana.accepted(run)
    const waiting = indexer.reach(main.delivered)
    waiting.catch(() => {})
    await ana.accepted(call('c'))
    await tool.accepted(answer('c'))
    await expect(waiting).rejects.toBe(reason)
    const refusal = await asking(url, 'ana').get('/audit')
    expect([refusal.status, await refusal.json()]).toMatchObject([
      503,
      { detail: expect.stringContaining('the disk is gone') },
    ])
    const [{ unindexed = 0 } = {}] = gateway.report()
    expect(unindexed).toBe(main.delivered - indexer.seq)
    expect(unindexed).toBeGreaterThanOrEqual(3)
    const before = indexed.length
    clock.advance(500)
    await expect.poll(() => indexed.length).toBe(before + 1)
    const failures = () => said.filter(([level]) => level === 'error')
    expect(failures()).toEqual([['error', 'turns cannot be indexed; this is tried again']])

    fail(undefined)
    clock.advance(999)
    expect(indexed.length).toBe(before + 1)
    clock.advance(1)
    await expect.poll(() => indexer.seq).toBe(main.delivered)
    expect(await steps()).toHaveLength(1)
    expect(gateway.report()).toMatchObject([{ unindexed: 0 }])
    expect(said.at(-1)).toEqual(['info', 'turns are indexed again'])
    expect(failures()).toHaveLength(1)
  })

  test('that could not be opened at first refuses nothing once it is, though there was nothing to take', async () => {
    const [path, clock] = [temporaryFile('log.db'), new FakeClock()]
    const before = await space({ store: await sqliteStore({ path }), clock })
    await before.indexer.reach(before.space.delivered)
    await before.close()
    const inner = await sqliteStore({ path })
    const [file, away] = [`${path}.index.db`, `${path}.away`]
    await rename(file, away)
    await mkdir(file) // A directory cannot be opened as a file.
    const { indexer, said, steps, space: main } = await space({ store: inner, clock })
    await expect.poll(() => said.filter(([level]) => level === 'error')).toHaveLength(1)
    await rmdir(file)
    await rename(away, file)
    clock.advance(500)
    await expect.poll(() => indexer.seq).toBe(main.delivered)
    expect(await steps()).toEqual([])
    expect(said.at(-1)).toEqual(['info', 'turns are indexed again'])
  })

  test('refuses what is asked when the space has been closed', async () => {
    const { close, indexer, said, connect } = await space()
    const ana = await connect('ana')
    await ana.accepted(thought)
    await close()
    await expect(indexer.reach(1)).rejects.toMatchObject({ code: 'closed' })
    await expect(indexer.reach(99)).rejects.toMatchObject({ code: 'closed' })
    expect(said.filter(([level]) => level === 'error')).toEqual([])
  })

  test('is made of a log that has none yet, in portions, while the space is open', async () => {
    const path = temporaryFile('log.db')
    const old = await sqliteStore({ path })
    await (await old.open('test')).append(randomDrafts(41, 2500))
    await old.close()
    const { connect, indexer, trail, space: main } = await space({ store: await sqliteStore({ path }) })
    const strides: number[] = []
    indexer.onAdvance = (through) => void strides.push(through)
    const ana = await connect('ana')
    await ana.accepted({ kind: 'chat', payload: { message: 'Is anybody there?' } })
    expect((await trail()).length).toBeGreaterThan(100)
    expect(indexer.seq).toBe(main.delivered)
    expect(strides.at(-1)).toBe(main.delivered)
    expect(Math.max(...strides.slice(1).map((each, at) => each - (strides[at] ?? 0)))).toBeLessThanOrEqual(
      256,
    )
  })

  test('is made in small portions while nobody waits for it', async () => {
    const path = temporaryFile('log.db')
    const old = await sqliteStore({ path })
    await (await old.open('test')).append(randomDrafts(41, 500))
    await old.close()
    const { store, indexed, hold, release } = heldStore(await sqliteStore({ path }))
    hold()
    const { indexer, space: main } = await space({ store })
    const isComplete = new Promise<void>((resolve) => {
      indexer.onAdvance = (through) => {
        if (through === main.delivered) resolve()
      }
    })
    release()
    await isComplete
    expect(indexed.length).toBeGreaterThan(7)
    expect(new Set(indexed.map(({ limit }) => limit))).toEqual(new Set([64]))
  })

  test('is the same when it is read again, and goes on where it was', async () => {
    const path = temporaryFile('log.db')
    const old = await sqliteStore({ path })
    await (await old.open('test')).append(randomDrafts(41, 1500))
    await old.close()
    const first = await space({ store: await sqliteStore({ path }) })
    const turns = await first.trail()
    await first.close()
    const { store, indexed } = heldStore(await sqliteStore({ path }))
    const { trail, connect } = await space({ store })
    expect(await trail()).toEqual(turns)
    const ana = await connect('ana')
    await ana.accepted(run)
    await ana.accepted(thought)
    expect((await trail()).length).toBe(turns.length + 1)
    expect(indexed.filter(isIndexingTurns).every(({ after = 0 }) => after >= 1500)).toBe(true)
  })

  test('goes by new safety rules from when the operator has changed them', async () => {
    const { connect, gateway, indexer, url, space: main } = await space()
    const [ana, tool] = [await connect('ana'), await connect('tool')]
    await tool.accepted({ id: 'ask', kind: 'chat', payload: { message: 'tell me the word' } })
    await ana.accepted({ ...run, correlationId: 'ask' })
    await ana.accepted({
      ...{ id: 'c', kind: 'mcp.request', to: ['tool'], context: 'r' },
      payload: { method: 'tools/call', params: { name: 'tell', arguments: { word: 'open-sesame' } } },
    })
    await indexer.reach(main.delivered)
    const parameters = async () => {
      const { turns } = (await asking(url, 'ana').json('/turns?thread_id=test/ana')) as {
        turns: { reasoning: { tool_decisions: { parameters: unknown }[] } }[]
      }
      return turns[0]?.reasoning.tool_decisions[0]?.parameters
    }
    expect(await parameters()).toEqual({ word: 'open-sesame' })
    const rule = { name: 'word', pattern: 'open-\\w+', action: 'mask' } as const
    await gateway.reconfigure([{ ...main.config, safety: { ...main.config.safety, rules: [rule] } }])
    expect(await parameters()).toEqual({ word: '[redacted:word]' })
  })
})
