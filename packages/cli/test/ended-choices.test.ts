import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { CommandRunner } from '../src/join/command-runner.js'
import { RunInterrupter } from '../src/join/interruptions.js'

const run = (context: string) => ({ context, owner: 'bot', reasoningVisible: true })

/** Runs a command that asks which of two runs is meant. `during`: what happens before the user chooses the first. */
async function runCommand(command: '/interrupt' | '/hide', during: (end: (count: number) => void) => void) {
  const [sent, notes]: [unknown[], string[]] = [[], []]
  const events = new EventEmitter()
  const space = Object.assign(events, {
    id: 'ana',
    runs: [run('r1'), run('r2')],
    send: async (draft: unknown) => void sent.push(draft),
    setVisibility: async (...given: unknown[]) => void sent.push(given),
  })
  const view = {
    lines: {},
    notify: (line: string) => void notes.push(line),
    ask: async (_question: string, choices: readonly string[], signal?: AbortSignal) => {
      expect(choices).toHaveLength(2)
      during((count) => {
        space.runs.splice(0, count)
        events.emit('envelope', {})
      })
      return signal?.aborted ? undefined : 0
    },
  }
  const interrupting = new RunInterrupter(space as never)
  const flags = { url: 'http://127.0.0.1:1', space: 'demo' }
  await new CommandRunner({ flags, view, space, interrupting } as never).runCommand(command, '')
  expect(events.listenerCount('envelope')).toBe(0)
  return { sent, notes }
}

describe.each(['/interrupt', '/hide'] as const)('%s', (command) => {
  const over = { sent: [], notes: ['it has ended in the meantime'] }

  test('ends its question when all runs have ended', async () => {
    expect(await runCommand(command, (end) => end(2))).toEqual(over)
  })

  test('does nothing to a run that has ended while another goes on', async () => {
    expect(await runCommand(command, (end) => end(1))).toEqual(over)
  })

  test('acts on a run that goes on', async () => {
    expect((await runCommand(command, () => {})).sent).toHaveLength(1)
  })
})
