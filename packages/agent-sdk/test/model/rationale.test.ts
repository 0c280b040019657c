import type { Deed } from '@meup/agent-sdk/ai'
import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { adding, answering, stage } from './stage.js'

/** Runs a step. Returns the rationales of its calls. */
async function reasonsFor(
  step: readonly Deed[],
  provider = 'openai.responses',
): Promise<(string | undefined)[]> {
  await using here = await stage([step, answering('done')], { provider })
  await here.ask()
  return here.heard.all.flatMap((each) =>
    each.kind === 'mcp.request' && each.payload.method === 'tools/call' ? [each.rationale] : [],
  )
}

const sum = { a: 1, b: 2 }

describe('the reason of a call', () => {
  test('is the one the model gave for it, then what the call describes, what was said, what was thought', async () => {
    const [thought, said] = [{ reasoning: 'Sums are safe.' }, { text: 'Now I add.' }]
    const described = { ...sum, description: 'Adds two numbers' }
    expect(await reasonsFor([thought, said, ...adding({ _rationale: 'to know', ...described })])).toEqual([
      'to know',
    ])
    expect(await reasonsFor([thought, said, ...adding(described)])).toEqual(['Adds two numbers'])
    expect(await reasonsFor([thought, said, ...adding(sum)])).toEqual(['Now I add.'])
    expect(await reasonsFor([thought, ...adding(sum)])).toEqual(['Sums are safe.'])
    expect(await reasonsFor(adding(sum))).toEqual([undefined])
    expect(await reasonsFor(adding({ _rationale: '  ', ...sum }))).toEqual([undefined])
    expect(await reasonsFor(adding({ _rationale: 7, ...sum }))).toEqual([undefined])
  })

  test('is never the raw chain of thought', async () => {
    expect(await reasonsFor([{ reasoning: 'raw' }, ...adding(sum)], 'deepseek.chat')).toEqual([undefined])
    const tagged = '<think>raw</think>so that we know'
    expect(await reasonsFor(adding({ _rationale: tagged, ...sum }))).toEqual(['so that we know'])
  })

  verifies('I03', 'is never blank, whatever the model says: without one there is none', async () => {
    const texts = fc.constantFrom('', ' ', '\n', 'why', '<think>x</think>', '<think>')
    const call = fc.record({
      call: fc.constant('desk__add'),
      input: texts.map((_rationale) => ({ _rationale, ...sum })),
    })
    const step = fc.tuple(
      texts.map((text) => ({ text })),
      fc.array(call, { minLength: 1, maxLength: 3 }),
    )
    await fc.assert(
      fc.asyncProperty(step, async ([text, calls]) => {
        const reasons = await reasonsFor([text, ...calls])
        expect(reasons).toHaveLength(calls.length)
        for (const reason of reasons) expect(reason?.trim()).not.toBe('')
      }),
      { numRuns: 10 },
    )
  })

  test('is asked for first, of every tool, under a name that no argument has', async () => {
    await using here = await stage([
      [{ call: 'desk__odd', input: { _rationale: 'mine', _rationale_2: 'why' } }],
      answering('done'),
    ])
    const seen: unknown[] = []
    here.desk.tool(
      'odd',
      { input: Type.Object({ _rationale: Type.String() }) },
      (args) => void seen.push(args),
    )
    await here.ask()
    const tools = here.model.requests[0]?.tools?.map((tool) =>
      'inputSchema' in tool ? tool.inputSchema : {},
    )
    expect(tools?.map(({ properties }) => Object.keys(properties ?? {}))).toEqual([
      ['_rationale', 'a', 'b'],
      ['_rationale'],
      ['_rationale_2', '_rationale'],
    ])
    expect(tools?.[0]?.required).toEqual(['a', 'b'])
    expect(seen).toEqual([{ _rationale: 'mine' }])
    expect(here.heard.all.map(({ rationale }) => rationale)).toContain('why')
  })
})
