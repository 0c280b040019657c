import { expect, test } from 'vitest'
import type { OperatorLog } from '../src/lib/logger.js'
import { ProgramLogs } from '../src/run/program-logs.js'

const nothing = (): void => {}
const silent: OperatorLog = {
  ...{ info: nothing, notice: nothing, warn: nothing, error: nothing, output: nothing, program: nothing },
}

function keep() {
  const logs = new ProgramLogs(() => 0)
  const log = logs.tee(silent)
  const say = (participant: string, text: string): void =>
    log.output({ space: 'lab', participant, kind: 'process', stream: 'stdout', text })
  return { logs, log, say }
}

test('lines of all programs are kept in their order, with what has happened to them', () => {
  const { logs, log, say } = keep()
  say('bot', 'one')
  say('files', 'two')
  log.program('error', { participant: 'bot' }, 'bot ended: exit 1')
  expect(logs.read()).toMatchObject([
    { seq: 1, space: 'lab', participant: 'bot', stream: 'stdout', text: 'one' },
    { seq: 2, participant: 'files', text: 'two' },
    { seq: 3, participant: 'bot', stream: 'event', text: 'bot ended: exit 1' },
  ])
  const ofBot = logs.read({ isMeant: ({ participant }) => participant === 'bot', tail: 1 })
  expect(ofBot.map(({ seq }) => seq)).toEqual([3])
  expect(logs.read({ after: 2 }).map(({ seq }) => seq)).toEqual([3])
})

test('of a program that prints much the latest are kept, and of the others all', () => {
  const { logs, say } = keep()
  say('quiet', 'here')
  for (let at = 0; at < 5000; at++) say('loud', `line ${at}`)
  say('loud', 'x'.repeat(100_000))
  const loud = logs.read({ isMeant: ({ participant }) => participant === 'loud' })
  expect([loud.length, loud[0]?.text, loud.at(-1)?.text.length]).toEqual([2000, 'line 3001', 8192])
  expect(logs.read()[0]?.text).toBe('here')
})

test('who waits for lines gets them as they come, or none in time', async () => {
  const { logs, say } = keep()
  await logs.whenGrown(1)
  const grown = logs.whenGrown(60_000)
  say('bot', 'one')
  await grown
  expect(logs.read()).toHaveLength(1)
})
