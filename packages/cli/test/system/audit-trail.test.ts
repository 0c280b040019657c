import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Envelope } from '@meup/protocol'
import { createTurnFold, exportThread, type ReasoningStep, type TurnRecord } from '@meup/views'
import { expect, test } from 'vitest'
import { openAsked, questions } from '../../../../test/support/asked.js'
import { meup } from '../../../../test/support/cli.js'
import { verifies } from '../../../../test/verifies.js'

const timeout = 60_000

/** A space in which every question was answered, and what its log says of that; `run` is what ana types. */
async function answered() {
  const { cwd, ben } = await openAsked()
  for (const question of questions) await ben.ask(question)
  const run = (...args: string[]) => meup(args, { cwd })
  const { stdout } = await run('watch', '--from', '1', '--no-follow', '--json')
  const log = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Envelope)
  return { cwd, run, happened: turnsOf(log, ben.welcome.space.epoch) }
}

/** All turns of a log with their steps, in its order. */
function turnsOf(log: readonly Envelope[], epoch: string) {
  const fold = createTurnFold({ space: 'demo', epoch })
  const turns = new Map<string, TurnRecord>()
  const steps: ReasoningStep[] = []
  for (const envelope of log) {
    const change = fold.apply(envelope)
    for (const turn of change.turns) turns.set(turn.id, turn)
    steps.push(...change.steps)
  }
  return [...turns.values()].map((turn) => ({
    turn,
    steps: steps.filter(({ turn_id }) => turn_id === turn.id),
  }))
}

verifies(
  'A21',
  'the Markdown of a space has every turn and step of what happened, in the same order',
  async () => {
    const { cwd, run, happened } = await answered()
    expect(happened.map(({ turn }) => turn.agent)).toEqual(expect.arrayContaining(['bot', 'tools']))
    const exported = await run('audit', 'export', '--format', 'markdown')
    expect(exported).toEqual({ code: 0, stdout: exportThread(happened), stderr: '' })

    const [, , third] = happened.filter(({ turn }) => turn.agent === 'bot')
    const part = ['--thread', 'bot', '--turn', '3', '-o', 'turn.md']
    const written = await run('audit', 'export', '--format', 'markdown', ...part)
    expect(written).toEqual({ code: 0, stdout: '', stderr: 'turn.md is written\n' })
    expect(readFileSync(join(cwd, 'turn.md'), 'utf8')).toBe(exportThread(third === undefined ? [] : [third]))
  },
  { timeout },
)

test('the trail has the steps that are asked for, oldest first', { timeout }, async () => {
  const { run, happened } = await answered()
  const all = happened
    .flatMap(({ steps }) => steps)
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ id }) => id)
  const trail = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('audit', 'trail', '--json', ...args)
    expect([code, stderr]).toEqual([0, ''])
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  expect((await trail()).map(({ id }) => id)).toEqual(all)
  expect((await trail('--limit', '2')).map(({ id }) => id)).toEqual(all.slice(-2))
  const failed = { thread_id: 'demo/bot', turn_number: 3, phase: 'error' }
  expect(await trail('--phase', 'error')).toEqual([expect.objectContaining(failed)])
  const ofTurn = await trail('--thread', 'demo/bot', '--turn', '3')
  expect(ofTurn.map(({ phase }) => phase)).toEqual(['thinking', 'execute', 'error'])
  expect(await trail('--from', 'aide')).toEqual([])
  expect(await trail('--until', '1h')).toEqual([])
  expect(await trail('--since', '1h', '--from', 'bot', 'tools')).toHaveLength(all.length)

  const { stdout } = await run('audit', 'trail', '--thread', 'bot', '--turn', '3', '--phase', 'thinking')
  expect(stdout).toMatch(/^20\S+Z {2}bot turn 3 {2}thinking: I'll look in both places\.\n$/)

  // That there is no such turn is told, that it has no such steps is not.
  const turn = (...args: string[]) => run('audit', 'trail', '--thread', 'bot', '--turn', ...args)
  const stderr = 'there is no turn 999 of bot\n'
  expect(await turn('999')).toEqual({ code: 1, stdout: '', stderr })
  expect(await turn('3', '--phase', 'plan')).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('the trail and its Markdown say what is wrong with what they were asked', { timeout }, async () => {
  const { cwd } = await openAsked()
  const wrong = [
    ['trail', '--turn', '1'],
    ['trail', '--thread', 'bot', '--turn', '0'],
    ['trail', '--limit', 'x'],
    ['trail', '--phase', 'doubt'],
    ['trail', '--since', 'yesterday'],
    ['export', '--thread', 'bot'],
    ['export', '--format', 'markdown', '--turn', '1'],
  ]
  const outcomes = await Promise.all(wrong.map((args) => meup(['audit', ...args], { cwd })))
  expect(outcomes).toMatchObject(wrong.map(() => ({ code: 2, stdout: '' })))
  for (const command of [['trail'], ['export', '--format', 'markdown']]) {
    const unknown = await meup(['audit', ...command, '--thread', 'nobody'], { cwd })
    expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('demo/nobody') })
  }
})
