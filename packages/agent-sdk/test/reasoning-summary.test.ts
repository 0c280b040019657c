import type { SpaceClient, Turn } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { Envelope } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { foldTurns } from '../../folds/test/support/turns.js'
import { caughtUp, recordEnvelopes } from './support/record-envelopes.js'

/** A tool call that a model selects, with its reason; part of a completion. */
interface Selection {
  readonly tool: string
  readonly args: object
  readonly reasoning: string
  readonly alternatives: readonly string[]
}
interface Completion {
  readonly content: string
  readonly selected: readonly Selection[]
}

const select = (n: number, reasoning: string): Selection => ({
  tool: 'tools/echo',
  args: { n },
  reasoning,
  alternatives: ['tools/other'],
})

/** Two completions with tool calls, then one with the answer. */
const script: readonly Completion[] = [
  { content: 'First I look at both.', selected: [select(1, 'one is needed'), select(2, ' ')] },
  { content: 'Then at the last one.', selected: [select(3, 'three decides')] },
  { content: 'It is three.', selected: [] },
]

/** A model that follows the script, and records its prompts. */
function scripted() {
  const prompts: string[] = []
  return {
    prompts,
    complete: (prompt: string): Completion => {
      const completion = script[prompts.length]
      if (completion === undefined) throw new Error('the model was asked too often')
      prompts.push(prompt)
      return completion
    },
  }
}

type Model = ReturnType<typeof scripted>

/** An agent that publishes the texts and reasons of its model. */
async function thinkAloud(turn: Turn, model: Model): Promise<void> {
  const run = await turn.reason()
  let prompt = turn.text
  for (;;) {
    const { content, selected } = model.complete(prompt)
    if (selected.length === 0) {
      await run.conclude()
      await turn.reply(content)
      return
    }
    await run.thought(content)
    const calls = selected.map(({ tool, args, reasoning }) => ({ tool, args, why: reasoning }))
    const results = await run.parallel(calls)
    prompt = results.map(({ text }) => text).join()
  }
}

/** An agent that makes the same calls as `thinkAloud`, but publishes neither texts nor reasons. */
async function keepQuiet(space: SpaceClient, turn: Turn, model: Model): Promise<void> {
  let prompt = turn.text
  for (;;) {
    const { content, selected } = model.complete(prompt)
    if (selected.length === 0) {
      await turn.reply(content)
      return
    }
    const results = await Promise.all(selected.map(({ tool, args }) => space.call(tool, args)))
    prompt = results.map(({ text }) => text).join()
  }
}

/** Lets bot answer one question. Returns the public envelopes, and what `foldTurns` reads in them: events and the turn. */
async function worked(how: (space: SpaceClient, turn: Turn) => Promise<void>) {
  await using space = await createTestSpace({ participants: { ana: ['*'], bot: ['*'], tools: ['*'] } })
  const [ana, bot, tools] = await Promise.all([space.join('ana'), space.join('bot'), space.join('tools')])
  const heard = recordEnvelopes(ana)
  tools.tool('echo', { input: Type.Object({ n: Type.Number() }) }, ({ n }) => String(n))
  const turns = bot.turns()
  await ana.chat('which?')
  const { value: turn } = (await turns.next()) as { value: Turn }
  await how(bot, turn)
  await caughtUp(bot, heard)
  const envelopes = heard.all as readonly Envelope[]
  const folded = foldTurns(envelopes, 'bot')
  return { envelopes, events: folded.events, info: folded.turns.at(-1) }
}

verifies('I02', 'test_toolcall_reasoning_threaded_from_selection', async () => {
  const { envelopes, info } = await worked((_, turn) => thinkAloud(turn, scripted()))
  const requests = envelopes.filter(({ kind }) => kind === 'mcp.request')
  expect(requests.map(({ rationale }) => rationale)).toEqual(['one is needed', undefined, 'three decides'])
  expect(info).toMatchObject({ state: 'completed', response: 'It is three.' })
  const decisions = info?.reasoning?.tool_decisions ?? []
  expect(decisions.map(({ rationale }) => rationale)).toEqual([
    'one is needed',
    'Tool selected to satisfy the current subtask.',
    'three decides',
  ])
  expect(decisions.map(({ parameters }) => parameters)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  expect(decisions.map(({ parallel_group }) => parallel_group)).toEqual([0, 0, null])
})

verifies(
  'I14',
  'saying why costs no call of the model and nothing in its prompts, and no alternatives',
  async () => {
    const [loud, quiet] = [scripted(), scripted()]
    const summary = await worked((_, turn) => thinkAloud(turn, loud))
    const untold = await worked((space, turn) => keepQuiet(space, turn, quiet))
    expect(summary.info?.reasoning?.narrative).toBe('First I look at both.')
    expect(untold.info?.reasoning).toBeNull()
    expect(loud.prompts).toEqual(['which?', '1,2', '3'])
    expect(loud.prompts).toEqual(quiet.prompts)
    expect(summary.events.length).toBe(2)
    expect(JSON.stringify(summary)).not.toMatch(/alternatives|tools\/other/)
  },
)
