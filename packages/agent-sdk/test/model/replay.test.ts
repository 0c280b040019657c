import type { AgentOptions } from '@meup/agent-sdk'
import type { Deed } from '@meup/agent-sdk/ai'
import { describe, expect, test } from 'vitest'
import { adding, answering, getPrompt, stage } from './stage.js'

const signed = { anthropic: { signature: 'c2lnbmVk' } }
const redacted = { anthropic: { redactedData: 'ZW5jcnlwdGVk' } }
const callSigned = { google: { thoughtSignature: 'Z2VtaW5p' } }

/** Runs a step. Returns its content as the second request sends it back. */
async function sentBack(step: readonly Deed[], options: { provider?: string } & Partial<AgentOptions> = {}) {
  await using here = await stage([step, answering('done')], options)
  await here.ask()
  const prompt = getPrompt(here.model, 1)
  return { content: prompt.find(({ role }) => role === 'assistant')?.content, all: JSON.stringify(prompt) }
}

describe('within a turn', () => {
  test('what a provider has signed goes back to the letter and in order, empty thoughts too', async () => {
    const { content } = await sentBack([
      { reasoning: 'I should add.', attached: signed },
      { reasoning: '', attached: redacted },
      { text: 'Adding.' },
      { text: '', attached: callSigned },
      { call: 'desk__add', input: { _rationale: 'why', a: 1, b: 2 }, attached: callSigned },
    ])
    expect(content).toMatchObject([
      { type: 'reasoning', text: 'I should add.', providerOptions: signed },
      { type: 'reasoning', text: '', providerOptions: redacted },
      { type: 'text', text: 'Adding.' },
      { type: 'text', text: '', providerOptions: callSigned },
      { type: 'tool-call', input: { _rationale: 'why', a: 1, b: 2 }, providerOptions: callSigned },
    ])
  })

  test('bare reasoning does not, in no form', async () => {
    const { content, all } = await sentBack(adding({ a: 1, b: 2 }, { reasoning: 'I should add.' }))
    expect(content).toMatchObject([{ type: 'tool-call' }])
    expect(all).not.toContain('I should add.')
    const tagged = await sentBack(adding({ a: 1, b: 2 }, { text: '<think>I should add.</think>Adding.' }))
    expect(tagged.content).toMatchObject([{ type: 'text', text: 'Adding.' }, { type: 'tool-call' }])
    expect(tagged.all).not.toContain('I should add.')
  })

  test('unless the provider asks for it', async () => {
    const step = adding({ a: 1, b: 2 }, { reasoning: 'I should add.' })
    const thought = { type: 'reasoning', text: 'I should add.' }
    expect((await sentBack(step, { provider: 'deepseek.chat' })).content).toMatchObject([thought, {}])
    expect((await sentBack(step, { replayReasoning: true })).content).toMatchObject([thought, {}])
    expect((await sentBack(step, { provider: 'deepseek.chat', replayReasoning: false })).all).not.toContain(
      'I should',
    )
  })

  test('half a thought does not, whoever wants it', async () => {
    const half: readonly Deed[] = [
      { reasoning: 'Whole. ', attached: signed },
      { text: 'So far' },
      { reasoning: 'Half. ' },
      { wait: () => new Promise(() => {}) },
    ]
    await using here = await stage([half, answering('done')], { provider: 'anthropic.messages' })
    await here.ana.chat('Go', { to: ['bot'] })
    await here.heard.until(({ payload }) => JSON.stringify(payload).includes('Half.'))
    await here.ana.chat('Stop that', { to: ['bot'] })
    await here.heard.until(({ from, kind }) => from === 'bot' && kind === 'chat')
    const [, , said, steering] = getPrompt(here.model, 1)
    expect(said).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'So far' }] })
    expect(said?.content).toHaveLength(1)
    expect(steering).toMatchObject({ role: 'user' })
  })
})
