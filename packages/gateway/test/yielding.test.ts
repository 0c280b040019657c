import { route } from '@meup/gateway/routes'
import { describe, expect, onTestFinished, test } from 'vitest'
import { yieldIfBusy, yieldNow } from '../src/core/yielding.js'
import { range } from './client.js'
import { RawSocket } from './raw-socket.js'
import { start } from './support.js'

/** Counts turns of the event loop from now on. */
function countTurns(): () => number {
  let turns = 0
  let next: NodeJS.Immediate
  const count = (): void => {
    turns++
    next = setImmediate(count)
  }
  next = setImmediate(count)
  onTestFinished(() => clearImmediate(next))
  return () => turns
}

/** Works longer than one turn of the event loop may take. */
function workLong(): void {
  const end = performance.now() + 3
  while (performance.now() < end);
}

describe('tasks that yield', () => {
  test('go on in the order in which they yielded, one in a turn of the event loop if that is as much as it has time for', async () => {
    const turn = countTurns()
    const steps: { task: number; turn: number }[] = []
    const work = async (task: number) => {
      for (const _ of range(1, 3)) {
        await yieldNow()
        workLong()
        steps.push({ task, turn: turn() })
      }
    }
    await Promise.all(range(1, 10).map(work))
    expect(steps.map(({ task }) => task)).toEqual([...range(1, 10), ...range(1, 10), ...range(1, 10)])
    expect(new Set(steps.map(({ turn }) => turn)).size).toBe(30)
  })

  test('go on together where each takes little time', async () => {
    const turn = countTurns()
    const turns: number[] = []
    await Promise.all(range(1, 10).map(() => yieldNow().then(() => turns.push(turn()))))
    expect(new Set(turns).size).toBeLessThan(10)
  })

  test('do not pause before the turn of the event loop has taken its time', async () => {
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(yieldIfBusy()).toBeUndefined()
    workLong()
    expect(yieldIfBusy()).toBeInstanceOf(Promise)
  })
})

test('requests that arrive together are answered in several turns of the event loop: others come between them', async () => {
  const turn = countTurns()
  const turns: number[] = []
  const work = route({
    method: 'get',
    path: '/work',
    operationId: 'work',
    auth: 'none',
    summary: 'Works for long',
    answer: { content: {} },
    handler: () => {
      workLong()
      turns.push(turn())
      return new Response('done')
    },
  })
  const module = async () => ({ routes: [work], schemas: () => ({}) })
  const { url } = await start({ participants: { alice: ['*'] }, modules: [module] })
  const sockets = range(1, 10).map(() => new RawSocket(url))
  const askAll = (): Promise<unknown> => {
    for (const socket of sockets) socket.ask('GET /work')
    return Promise.all(sockets.map((socket) => socket.until(/done/)))
  }
  for (const socket of sockets) await socket.ask('GET /healthz').until(/200 OK/)
  await askAll()
  expect(turns).toHaveLength(10)
  expect(new Set(turns).size).toBe(10)
})
