import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SpaceClient } from '@meup/agent-sdk'
import { scriptedModel } from '@meup/agent-sdk/ai'
import type { TranscriptMode } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { Options } from '../load/options.js'
import { decimals, median, type Section } from '../report/section.js'

const modes: readonly TranscriptMode[] = ['off', 'on', 'full']
/** Characters of a thought and an answer of the model, and of the result of a tool. */
const [thought, answer, result] = [1200, 800, 4000]
const turnsARound = 40

const words = (chars: number): string =>
  'the report of the tests says '.repeat(Math.ceil(chars / 29)).slice(0, chars)

/**
 * Number of commits that a turn adds to the transcript, for prompts, thoughts and answers of the model, and results of tools.
 */
const commits = 6

/** Measures turns of a scripted model with one tool call, with and without a transcript. */
export async function transcript({ rounds }: Options): Promise<Section[]> {
  const folder = mkdtempSync(join(tmpdir(), 'meup-bench-'))
  await using space = await createTestSpace({
    participants: { ana: ['*'], desk: ['*'], ...Object.fromEntries(modes.map((mode) => [mode, ['*']])) },
  })
  const [ana, desk] = [await space.join('ana'), await space.join('desk')]
  desk.tool('read', {}, () => words(result))
  const times = new Map<TranscriptMode, number[]>(modes.map((mode) => [mode, []]))
  try {
    for (const mode of modes) void startAgent(await space.join(mode, { transcripts: folder }), mode)
    for (const mode of modes) await timeTurns(ana, mode, turnsARound) // Warms up.
    for (let round = 0; round < rounds; round++)
      for (const mode of modes) times.get(mode)?.push(...(await timeTurns(ana, mode, turnsARound)))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const figures = modes.map((mode) => ({ mode, ms: median(times.get(mode) ?? []) }))
  const off = figures[0]?.ms ?? Number.NaN
  return [
    {
      id: 'transcript',
      title: 'What a transcript costs a turn',
      about: `Milliseconds of a turn of two answers of the model and a call, of ${thought}, ${answer} and ${result} characters, which is ${commits} commits; medians.`,
      columns: ['transcript', 'a turn', 'more', 'a commit'],
      rows: figures.map(({ mode, ms }) => [
        mode,
        decimals(ms),
        decimals(ms - off),
        decimals((ms - off) / commits, 2),
      ]),
      figures,
    },
  ]
}

async function startAgent(space: SpaceClient, transcript: TranscriptMode): Promise<void> {
  const model = scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === 'tool'
      ? [{ text: words(answer) }]
      : [{ reasoning: words(thought) }, { call: 'desk__read', input: {} }],
  )
  await space.agent({ model, transcript, tools: ['desk/read'], memory: 0 })
}

async function timeTurns(ana: SpaceClient, agent: string, turns: number): Promise<number[]> {
  const times: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    const begin = performance.now()
    await ana.ask('What does it say?', { to: [agent] })
    times.push(performance.now() - begin)
  }
  return times
}
