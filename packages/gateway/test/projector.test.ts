import { type EnvelopeLog, LogError, type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock, randomDrafts } from '@meup/gateway/testing'
import type { BatchEnd } from '@meup/views'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { connect as connectTo } from './projected.js'
import { type StartOptions, start, temporaryFile } from './support.js'

const participants = { ana: ['*'], tool: ['*'] }

/** A store whose projections fail as often as they are told to. */
function failing(inner: LogStore = memoryStore()) {
  const fault: { opening?: Error | undefined; reason: Error | undefined; calls: number } = {
    ...{ reason: undefined, calls: 0 },
  }
  const store: LogStore = {
    async open(space) {
      const log = await inner.open(space)
      const project: EnvelopeLog['project'] = async (options) => {
        if (fault.opening !== undefined) throw fault.opening
        const projection = await log.project(options)
        const advance: typeof projection.advance = async (through) => {
          fault.calls++
          if (fault.reason !== undefined) throw fault.reason
          return projection.advance(through)
        }
        return Object.create(projection, { advance: { value: advance } }) as typeof projection
      }
      return Object.assign(Object.create(log) as EnvelopeLog, { project })
    },
    close: () => inner.close(),
  }
  return { store, fault }
}

async function space(options: Partial<StartOptions> = {}) {
  const said: [level: string, message: string][] = []
  const say = (level: string) => (_: object, message: string) => void said.push([level, message])
  const logger = { info: say('info'), warn: say('warn'), error: say('error') }
  const running = await start({ participants, logger, ...options })
  const visitor = await running.gateway.identify({ space: 'test', token: 'token-of-ana', remote: 'here' })
  if (!('projector' in visitor)) throw new Error('ana is not let in')
  return { ...running, said, space: visitor.space, projector: visitor.projector }
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

describe('the projector of a space', () => {
  verifies('A11', 'has the steps of what was thought before the tool that follows begins', async () => {
    const { connect, projector } = await space()
    const [ana, tool] = [await connect('ana'), await connect('tool')]
    await ana.accepted({ id: 'r', kind: 'reasoning.start', payload: { message: 'Looking' } })
    ana.send(thought)
    ana.send(call('c'))
    await tool.next(({ id }) => id === 'c')
    const before = await projector.steps({ limit: 9 })
    expect(before.map(({ step }) => [step.step_number, step.phase, step.content])).toEqual([
      [1, 'plan', '1. look'],
      [0, 'thinking', 'hm'],
    ])
    await tool.accepted(answer('c'))
    const [after] = await projector.steps({ limit: 1 })
    expect(after?.step).toMatchObject({ step_number: 2, phase: 'execute', linked_tool_call: 'c' })
  })

  test('answers with everything that was acknowledged before', async () => {
    const { connect, projector } = await space({
      store: await sqliteStore({ path: temporaryFile('log.db') }),
    })
    const ana = await connect('ana')
    await ana.accepted({ id: 'r', kind: 'reasoning.start', payload: { message: 'Looking' } })
    for (let count = 1; count <= 20; count++) {
      await ana.accepted(thought)
      expect(await projector.steps({ limit: 99 })).toHaveLength(2 * count)
    }
  })

  test('tells each batch that ended once, as it goes on', async () => {
    const { connect, projector, space: main } = await space()
    const [ana, tool] = [await connect('ana'), await connect('tool')]
    const told: [through: number, ends: readonly BatchEnd[]][] = []
    projector.onAdvance = (through, ends) => told.push([through, ends])
    await ana.accepted({ id: 'r', kind: 'reasoning.start', payload: { message: 'Looking' } })
    const answers: number[] = []
    for (const id of ['c1', 'c2', 'c3']) {
      await ana.accepted(call(id))
      answers.push((await tool.accepted(answer(id))).seq ?? 0)
    }
    await projector.reach(main.delivered)
    expect(told.flatMap(([, ends]) => ends.map(({ seq }) => seq))).toEqual(answers)
    const throughs = told.map(([through]) => through)
    expect(throughs).toEqual([...new Set(throughs)].sort((one, other) => one - other))
    expect(throughs.at(-1)).toBe(main.delivered)
    for (const [through, ends] of told) expect(ends.every(({ seq }) => seq <= through)).toBe(true)
  })

  test('that fails holds nobody up, is told of once, and goes on when it can', async () => {
    const clock = new FakeClock()
    const { store, fault } = failing()
    const { connect, gateway, projector, said, space: main } = await space({ store, clock })
    const [ana, tool] = [await connect('ana'), await connect('tool')]
    const told: number[] = []
    projector.onAdvance = (_, ends) => told.push(...ends.map(({ seq }) => seq))
    await projector.reach(main.delivered)
    const reason = new LogError('io', 'the disk is gone')
    fault.reason = reason
    const waiting = projector.reach(main.delivered + 2)
    waiting.catch(() => {})
    await ana.accepted({ id: 'r', kind: 'reasoning.start', payload: { message: 'Looking' } })
    await ana.accepted(call('c'))
    const { seq } = await tool.accepted(answer('c'))
    await expect(waiting).rejects.toBe(reason)
    await expect(projector.steps({ limit: 9 })).rejects.toBe(reason)
    const [{ unprojected = 0 } = {}] = gateway.report()
    expect(unprojected).toBe(main.delivered - projector.seq)
    expect(unprojected).toBeGreaterThanOrEqual(3)
    const before = fault.calls
    clock.advance(500)
    await expect.poll(() => fault.calls).toBe(before + 1)
    const failures = () => said.filter(([level]) => level === 'error')
    expect(failures()).toEqual([['error', 'turns and steps cannot be kept up; this is tried again']])

    fault.reason = undefined
    clock.advance(999)
    expect(fault.calls).toBe(before + 1)
    clock.advance(1)
    await expect.poll(() => projector.seq).toBe(main.delivered)
    expect(told).toEqual([seq])
    expect(await projector.steps({ limit: 9 })).toHaveLength(1)
    expect(gateway.report()).toMatchObject([{ unprojected: 0 }])
    expect(said.at(-1)).toEqual(['info', 'turns and steps are kept up again'])
    expect(failures()).toHaveLength(1)
  })

  test('that could not be opened at first refuses nothing once it is, though there was nothing to take', async () => {
    const [path, clock] = [temporaryFile('log.db'), new FakeClock()]
    const before = await space({ store: await sqliteStore({ path }), clock })
    await before.projector.reach(before.space.delivered)
    await before.close()
    const { store, fault } = failing(await sqliteStore({ path }))
    fault.opening = new LogError('io', 'the disk is gone')
    const { projector, said, space: main } = await space({ store, clock })
    await expect.poll(() => said.filter(([level]) => level === 'error')).toHaveLength(1)
    fault.opening = undefined
    clock.advance(500)
    await expect.poll(() => projector.seq).toBe(main.delivered)
    const seq = main.emit({ kind: 'system.space', payload: { event: 'opened', space: 'test', epoch: 'e' } })
    expect(await main.committed(seq)).toBe(true)
    expect(await projector.steps({ limit: 9 })).toEqual([])
    expect(said.at(-1)).toEqual(['info', 'turns and steps are kept up again'])
  })

  test('refuses what is asked when the space has been closed', async () => {
    const { close, projector, said, connect } = await space()
    const ana = await connect('ana')
    await ana.accepted(thought)
    await close()
    await expect(projector.turns({ thread: 'test/ana', limit: 1 })).rejects.toMatchObject({ code: 'closed' })
    await expect(projector.reach(99)).rejects.toMatchObject({ code: 'closed' })
    expect(said.filter(([level]) => level === 'error')).toEqual([])
  })

  test('takes a log from before there were turns, while the space is open', async () => {
    const path = temporaryFile('log.db')
    const old = await sqliteStore({ path })
    const drafts = randomDrafts(41, 2500)
    await (await old.open('test')).append(drafts)
    await old.close()
    const { connect, projector, space: main } = await space({ store: await sqliteStore({ path }) })
    const strides: number[] = []
    projector.onAdvance = (through) => strides.push(through)
    const ana = await connect('ana')
    await ana.accepted({ kind: 'chat', payload: { message: 'Is anybody there?' } })
    const turns = await projector.trail({ limit: 9999 })
    expect(turns.length).toBeGreaterThan(100)
    expect(projector.seq).toBe(main.delivered)
    expect(strides.slice(-3)).toEqual([expect.any(Number), expect.any(Number), main.delivered])
    expect(Math.max(...strides.map((each, index) => each - (strides[index - 1] ?? 0)))).toBeLessThanOrEqual(
      1000,
    )
  })

  test('has told of everything when turns were made again that failed half-way', async () => {
    const path = temporaryFile('log.db')
    const old = await sqliteStore({ path })
    await (await old.open('test')).append(randomDrafts(41, 1500))
    await old.close()
    const clock = new FakeClock()
    const { projector, space: main } = await space({ store: await sqliteStore({ path }), clock })
    const turns = await projector.trail({ limit: 9999 })
    const told: [through: number, ends: number][] = []
    projector.onAdvance = (through, ends) => told.push([through, ends.length])
    const db = connectTo(path)
    db.exec(`
      UPDATE turns SET record = 'null';
      CREATE TRIGGER half_way BEFORE UPDATE OF seq ON projections WHEN NEW.seq > 300
        BEGIN SELECT RAISE(ABORT, 'no further'); END;
    `)
    const ask = () => projector.trail({ limit: 9999 })
    for (const _ of [1, 2]) await expect(ask()).rejects.toMatchObject({ code: 'io' })
    expect(projector.seq).toBeLessThan(300)
    db.exec('DROP TRIGGER half_way')
    clock.advance(500)
    await expect.poll(() => projector.seq).toBe(main.delivered)
    expect(await ask()).toEqual(turns)
    expect(told).toEqual([[main.delivered, 0]])
  })

  test('goes by new safety rules from when the operator has changed them', async () => {
    const { connect, projector, gateway, space: main } = await space()
    const ana = await connect('ana')
    const ask = (id: string) =>
      ana.accepted({
        ...{ id, kind: 'mcp.request', to: ['tool'] },
        payload: { method: 'tools/call', params: { name: 'tell', arguments: { word: 'open-sesame' } } },
      })
    await ask('c1')
    await projector.reach(main.delivered)
    const rule = { name: 'word', pattern: 'open-\\w+', action: 'mask' } as const
    await gateway.reconfigure([{ ...main.config, safety: { ...main.config.safety, rules: [rule] } }])
    await ask('c2')
    const jobs = await projector.trail({ limit: 9 })
    expect(jobs.map(({ decisions }) => decisions[0]?.parameters)).toEqual([
      { word: 'open-sesame' },
      { word: '[redacted:word]' },
    ])
  })
})
