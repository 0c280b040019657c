import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentModel, ModelSettings } from '@meup/agent-sdk'
import type { Deed } from '@meup/agent-sdk/ai'
import { describe, expect, test } from 'vitest'
import { answering, stage } from './stage.js'
import { wire } from './wire.js'

interface Body {
  readonly thinking?: unknown
  readonly reasoning?: unknown
  readonly generationConfig?: { readonly thinkingConfig?: unknown }
}

/** The reasoning options in the first request to the provider. */
async function asked(
  choose: (settings: ReturnType<typeof wire>['settings']) => AgentModel,
  providerOptions?: ModelSettings['providerOptions'],
): Promise<unknown> {
  const { bodies, settings } = wire<Body>([''])
  // Without retries, because the provider's answer is empty.
  const options = { maxRetries: 0, ...(providerOptions && { providerOptions }) }
  await using here = await stage([], { model: choose(settings), settings: options })
  await here.ask()
  const [{ thinking, reasoning, generationConfig } = {}] = bodies
  return thinking ?? reasoning ?? generationConfig?.thinkingConfig
}

const claude = (name: string) => (settings: object) => createAnthropic(settings)(name)
const gpt = (name: string) => (settings: object) => createOpenAI(settings)(name)
const gemini = (name: string) => (settings: object) => createGoogleGenerativeAI(settings)(name)

const summarized = { type: 'adaptive', display: 'summarized' }

describe('a provider is asked for the reasoning', () => {
  test.for([
    ...['claude-opus-4-7', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-fable-5-1', 'claude-new-7'].map(
      (name) => [name, claude(name), summarized] as const,
    ),
    ...['gpt-5.1', 'o4-mini', 'gpt-6'].map((name) => [name, gpt(name), { summary: 'auto' }] as const),
    ...['gemini-2.5-pro', 'gemini-3-pro-preview'].map(
      (name) => [name, gemini(name), { includeThoughts: true }] as const,
    ),
  ])('%s', async ([, choose, expected]) => {
    expect(await asked(choose)).toMatchObject(expected)
  })

  test.for([
    ...[
      'claude-3-haiku-20240307',
      'claude-sonnet-4-5',
      'claude-sonnet-4-5-20250929',
      'claude-opus-4-20250514',
      'claude-opus-4-6',
      'claude-haiku-4-5',
      'glm-5',
    ].map((name) => [name, claude(name)] as const),
    ...['gpt-4.1', 'gpt-4o', 'gpt-5-chat-latest'].map((name) => [name, gpt(name)] as const),
    ...['gemini-2.0-flash', 'gemini-2.5-flash-image', 'gemma-3-27b-it'].map(
      (name) => [name, gemini(name)] as const,
    ),
  ])('but not where it cannot be, or need not: %s', async ([, choose]) => {
    expect(await asked(choose)).toBeUndefined()
  })

  test('unless the settings say otherwise', async () => {
    const disabled = { anthropic: { thinking: { type: 'disabled' } } }
    expect(await asked(claude('claude-opus-4-8'), disabled)).toEqual({ type: 'disabled' })
    const effort = { openai: { reasoningSummary: null, reasoningEffort: 'low' } }
    expect(await asked(gpt('gpt-5.1'), effort)).toEqual({ effort: 'low' })
    const google = { google: { thinkingConfig: { includeThoughts: false } } }
    expect(await asked(gemini('gemini-2.5-pro'), google)).toEqual({ includeThoughts: false })
  })

  test('beside what the settings say', async () => {
    const omitted = { anthropic: { effort: 'low', thinking: { type: 'adaptive' } } }
    expect(await asked(claude('claude-opus-4-8'), omitted)).toEqual(summarized)
    const budget = { google: { thinkingConfig: { thinkingBudget: 100 } } }
    const both = { thinkingBudget: 100, includeThoughts: true }
    expect(await asked(gemini('gemini-2.5-pro'), budget)).toEqual(both)
    const effort = { openai: { reasoningEffort: 'low' } }
    expect(await asked(gpt('gpt-5.1'), effort)).toEqual({ effort: 'low', summary: 'auto' })
  })
})

describe('the conclusion says what was shown of the reasoning', () => {
  const signed = { anthropic: { signature: 'c2lnbmVk' } }
  const redacted = { anthropic: { redactedData: 'ZW5jcnlwdGVk' } }
  const encrypted = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'gAAAA' } }
  const plain = { openai: { itemId: 'rs_1', reasoningEncryptedContent: null } }

  test.for<[shown: string | undefined, provider: string, steps: readonly (readonly Deed[])[]]>([
    ['full', 'deepseek.chat', [[{ reasoning: 'Hm.' }]]],
    ['full', 'deepseek.chat', [[{ text: '<think>Hm.</think>' }]]],
    ['summary', 'anthropic.messages', [[{ reasoning: 'A sum.', attached: signed }]]],
    ['omitted', 'anthropic.messages', [[{ reasoning: '', attached: signed }]]],
    ['encrypted', 'anthropic.messages', [[{ reasoning: '', attached: redacted }]]],
    ['encrypted', 'openai.responses', [[{ reasoning: '', attached: encrypted }]]],
    ['omitted', 'openai.responses', [[{ reasoning: '', attached: plain }]]],
    [undefined, 'openai.responses', [[]]],
  ])('%s, by %s', async ([shown, provider, [thoughts = []]]) => {
    const add: Deed = { call: 'desk__add', input: { a: 1, b: 2 } }
    await using here = await stage([[...thoughts, add], answering('3')], { provider })
    expect(await here.ask()).toBe('3')
    const { payload } = await here.heard.until(({ kind }) => kind === 'reasoning.conclusion')
    expect((payload as { metadata: object }).metadata).toEqual({
      model: 'script',
      ...(shown !== undefined && { reasoning: shown }),
      steps: 2,
      tokens: expect.anything(),
      stepUsage: expect.anything(),
    })
  })

  test('the most of all steps', async () => {
    const add: Deed = { call: 'desk__add', input: { a: 1, b: 2 } }
    const script = [
      [{ reasoning: '', attached: redacted }, add],
      [{ reasoning: 'A sum.' }, { text: '3' }],
    ]
    await using here = await stage(script, { provider: 'anthropic.messages' })
    await here.ask()
    const { payload } = await here.heard.until(({ kind }) => kind === 'reasoning.conclusion')
    expect(payload).toMatchObject({ metadata: { reasoning: 'summary' } })
  })
})
