import { expect, test } from 'vitest'
import { CommandRunner } from '../src/join/command-runner.js'
import { RunInterrupter } from '../src/join/interruptions.js'
import { envelope } from './support/turns.js'

/**
 * The commands of ana in a space with three open runs. `isLate`: ana joined after their start, and has not seen their
 * envelopes.
 */
function enter(isLate = false) {
  const runs = ['e3', 'e4', 'e5'].map((context) => ({ context, owner: context === 'e5' ? 'eve' : 'bot' }))
  const asked: [question: string, choices: readonly string[]][] = []
  const hidden: unknown[][] = []
  const space = {
    ...{ id: 'ana', participants: ['ana', 'bot', 'eve'].map((id) => ({ id })), runs },
    setVisibility: async (...given: unknown[]) => void hidden.push(given),
    contribute: async () => {},
    on: () => {},
    off: () => {},
  }
  const view = {
    lines: {},
    ask: async (question: string, choices: readonly string[]) => {
      asked.push([question, choices])
      return 1
    },
    notify: () => {},
  }
  const interrupting = new RunInterrupter(space as never)
  const begin = (seq: number, from: string, question: string) =>
    envelope(seq, 'reasoning.start', from, { correlationId: question, payload: { message: 'Looking' } })
  const seen = [
    envelope(1, 'chat', 'ana', { payload: { message: 'May we deploy?' } }),
    envelope(2, 'chat', 'ben', { payload: { message: 'Why does it fail?' } }),
    ...[begin(3, 'bot', 'e1'), begin(4, 'bot', 'e2'), begin(5, 'eve', 'e1')],
  ]
  if (!isLate) for (const each of seen) interrupting.onEnvelope(each)
  const flags = { url: 'http://127.0.0.1:1', space: 'demo' }
  const commands = new CommandRunner({ flags, view, space, interrupting } as never)
  return { asked, hidden, commands }
}

const labels = ['bot: Looking · May we deploy?', 'bot: Looking · Why does it fail?', 'eve: Looking']

test('runs of one agent with one title are distinguished by their questions', async () => {
  const { asked, hidden, commands } = enter()
  await commands.runCommand('/hide', '')
  await commands.runCommand('/reply', 'mind the tests')
  expect(asked).toEqual([
    ['hide the thoughts of which run, for everyone?', labels],
    ['reply to which?', labels],
  ])
  expect(hidden).toEqual([['e4', false]])
})

test('runs that began before one came are distinguished by their ids', async () => {
  const { asked, commands } = enter(true)
  await commands.runCommand('/show', '')
  expect(asked[0]?.[1]).toEqual(['bot · run …e3', 'bot · run …e4', 'eve'])
})
