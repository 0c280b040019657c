import type { Deed } from '@meup/agent-sdk/ai'
import type { ReasoningDetail } from '@meup/agent-sdk/internal'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { recordEnvelopes } from '../support/record-envelopes.js'
import { adding, answering, type Stage, stage } from './stage.js'

const raw = 'RAW-CHAIN: what if I just guess?'
const summary = 'Weighing the options.'
const steps: readonly (readonly Deed[])[] = [
  adding({ a: 2, b: 3 }, { text: 'Adding first.' }),
  answering('5'),
]

/** Runs an agent. Returns the thoughts that ana, who has `observe.targeted`, and bob receive. */
async function seen(script: readonly (readonly Deed[])[], options: Parameters<typeof stage>[1]) {
  await using here = await stage(script, options)
  const [anas, bobs] = [here.heard, recordEnvelopes(here.bob)]
  const { text: answer } = await here.ana.ask('What is 2 + 3?')
  const { id } = await here.ana.send({ kind: 'test.fence' })
  await bobs.until((each) => each.id === id)
  return { answer, anas: thoughtsIn(anas), bobs: thoughtsIn(bobs), all: JSON.stringify(bobs.all) }
}

const thoughtsIn = ({ all }: Stage['heard']): string[] =>
  all.flatMap((each) => (each.kind === Kind.reasoningThought ? [String(each.payload.message)] : []))

const thinking = (reasoning: string): readonly (readonly Deed[])[] =>
  steps.map((step, index) => (index === 0 ? [{ reasoning }, ...step] : step))

describe('how much of the thinking is told', () => {
  test.for<[ReasoningDetail, string, string[]]>([
    ['summary', 'openai.responses', ['Adding first.']],
    ['thoughts', 'openai.responses', [summary, 'Adding first.']],
    ['thoughts', 'anthropic.messages', [summary, 'Adding first.']],
    ['trace', 'openai.responses', [summary, 'Adding first.']],
  ])('%s: of a summary by %s', async ([reasoningDetail, provider, thoughts]) => {
    const { anas, bobs } = await seen(thinking(summary), { reasoningDetail, provider })
    expect([anas, bobs]).toEqual([thoughts, thoughts])
  })

  test.for<[ReasoningDetail, string[]]>([
    ['summary', ['Adding first.']],
    ['thoughts', ['Adding first.']],
    ['trace', [raw, 'Adding first.']],
  ])(
    '%s: of a raw chain of thought; in a trace, to those who may observe what is targeted',
    async ([reasoningDetail, thoughts]) => {
      const { anas, bobs, all } = await seen(thinking(raw), { reasoningDetail, provider: 'deepseek.chat' })
      expect(anas).toEqual(thoughts)
      expect(bobs).toEqual(['Adding first.'])
      expect(all).not.toContain('RAW-CHAIN')
    },
  )

  test('by default: thoughts, but no raw chain of thought of a provider that is not known', async () => {
    expect((await seen(thinking(raw), {})).anas).toEqual(['Adding first.'])
    expect((await seen(thinking(summary), { reasoningIsSummary: true })).anas).toEqual([
      summary,
      'Adding first.',
    ])
    const known = { provider: 'openai.responses', reasoningIsSummary: false }
    expect((await seen(thinking(raw), known)).anas).toEqual(['Adding first.'])
  })

  verifies('I13', 'what a model thinks in tags is in no narrative, rationale or answer', async () => {
    const tags = [`<think>${raw}</think>`, `<thinking>${raw}`]
    for (const tag of tags) {
      const step = adding({ _rationale: `${tag}`, a: 1, b: 1 }, { text: tag })
      const { answer, anas, all } = await seen([step, [{ text: `<think>${raw}</think>Two.` }]], {})
      expect(answer).toBe('Two.')
      expect(anas).toEqual([])
      expect(all).not.toContain('RAW-CHAIN')
    }
    const traced = await seen([[{ text: `<think>${raw}</think>Two.` }]], { reasoningDetail: 'trace' })
    expect([traced.anas, traced.bobs]).toEqual([[raw], []])
  })
})

test.for([
  [{}, 1],
  [{ reasoningIsSummary: true }, 0],
  [{ reasoningDetail: 'summary' }, 0],
  [{ reasoningDetail: 'trace' }, 0],
] as const)('with %j the operator reads %i times that nobody sees raw thoughts', async ([options, count]) => {
  await using here = await stage(() => [{ reasoning: raw }, { text: 'It is 5.' }], options)
  await here.ask()
  await here.ask()
  const notices = here.troubles.filter((each) => Object(each).name === 'Notice')
  expect(notices.map((each) => Object(each).message)).toEqual(
    Array(count).fill(
      'what script thinks is raw, and hidden from everyone; reasoningIsSummary: true shows it',
    ),
  )
})
