import { extractReasoning } from '@meup/agent-sdk/extract'
import { type ModelClient, openTranscript } from '@meup/agent-sdk/transcript'
import { describe, expect, test } from 'vitest'

const ask = (response: unknown, more: Partial<ModelClient> = { extractReasoning }) =>
  openTranscript({ client: { generate: () => response, ...more } }).chat('Deploy?')

const message = (fields: object) => ({ choices: [{ message: { role: 'assistant', ...fields } }] })

describe('a response as a provider gives it', () => {
  test.for<[name: string, response: object, format: string, source: string]>([
    ['a field', message({ content: 'Yes.', reasoning: 'Hm' }), 'parsed', 'reasoning'],
    ['another', message({ content: 'Yes.', reasoning_content: 'Hm' }), 'parsed', 'reasoning_content'],
    [
      'blocks',
      {
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 's' },
          { type: 'text', text: 'Yes.' },
        ],
      },
      'anthropic',
      'thinking',
    ],
    ['tags', message({ content: '<think>Hm</think>Yes.' }), 'think_tags', 'tags'],
  ])('has its reasoning in %s: format and place are kept', async ([, response, format, source]) => {
    const { text, reasoningCommit, commit } = await ask(response)
    expect(text).toBe('Yes.')
    expect(reasoningCommit).toMatchObject({
      content: { content_type: 'reasoning', text: 'Hm', format },
      metadata: { source },
    })
    expect(commit.content.text).toBe('Yes.')
  })

  test('hides its reasoning: nothing is committed, and the tokens are counted', async () => {
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 30,
      completion_tokens_details: { reasoning_tokens: 20 },
    }
    const response = await ask({ ...message({ content: 'Yes.' }), usage })
    expect(response).toMatchObject({ reasoning: null, reasoningCommit: null })
    expect(response.usage).toEqual({ input: 5, output: 30, reasoning: 20 })
  })

  test('broke off in thought: what there is is committed, and says so', async () => {
    const { text, reasoningCommit } = await ask(message({ content: '<think>Hm' }))
    expect([text, reasoningCommit?.metadata]).toEqual(['', { source: 'tags', truncated: true }])
  })
})

test('where nobody looks for reasoning, tags are taken out all the same: no model is told its thoughts as text', async () => {
  for (const response of [message({ content: '<think>Hm</think>Yes.' }), '<think>Hm</think>Yes.']) {
    const { text, reasoning } = await ask(response, {})
    expect([text, reasoning]).toEqual(['Yes.', null])
  }
})

test('a client that reads its own responses is believed', async () => {
  const extractReasoning = (): string => 'my own'
  const response = await ask(message({ content: '<think>Hm</think>Yes.' }), { extractReasoning })
  expect(response).toMatchObject({ text: 'Yes.', reasoning: 'my own' })
  expect(response.reasoningCommit).not.toHaveProperty('metadata')
})
