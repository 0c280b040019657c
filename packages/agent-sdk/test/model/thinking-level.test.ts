import { createOpenAI } from '@ai-sdk/openai'
import { Kind } from '@meup/protocol'
import { expect } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { stage } from './stage.js'
import { event, wire } from './wire.js'

const response = { id: 'resp', created_at: 1, model: 'gpt-5', service_tier: null, output: [] }
const usage = { input_tokens: 5, output_tokens: 7, output_tokens_details: { reasoning_tokens: 3 } }
const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
const answer = [
  event({ type: 'response.created', response }),
  event({ type: 'response.output_item.added', output_index: 0, item: said }),
  event({ type: 'response.output_text.delta', item_id: 'msg_1', delta: 'It is 5.' }),
  event({ type: 'response.output_item.done', output_index: 0, item: said }),
  event({ type: 'response.completed', response: { ...response, usage, incomplete_details: null } }),
].join('')

verifies(
  'O23',
  'how much a model is to think is up to who asks, for that run alone; the run says so, with the model and its provider',
  async () => {
    const { bodies, settings } = wire<{ reasoning?: { effort?: string; summary?: string } }>([
      answer,
      answer,
      answer,
    ])
    await using here = await stage([], { model: createOpenAI(settings)('gpt-5') })
    const options = { to: ['bot'], timeoutMs: 10_000 }
    await here.ana.ask('What is 2 + 3?', { ...options, thinkingLevel: 'high' })
    await here.ana.ask('And again?', { ...options, thinkingLevel: 'off' })
    await here.ana.ask('Once more?', options)
    const named = { model: 'gpt-5', provider: 'openai', modelFull: 'openai/gpt-5' }
    const starts = here.heard.all.filter((each) => each.kind === Kind.reasoningStart)
    expect(starts.map(({ payload }) => payload.metadata)).toEqual([
      { ...named, thinkingLevel: 'high' },
      { ...named, thinkingLevel: 'off' },
      named,
    ])
    expect([bodies[0], bodies[2]].map((body) => body?.reasoning?.summary)).toEqual(['auto', 'auto'])
    // Version 6 of the `ai` package does not have this setting, so it never sends an effort.
    const efforts = bodies.map(({ reasoning }) => reasoning?.effort)
    expect([
      ['high', 'minimal', undefined],
      [undefined, undefined, undefined],
    ]).toContainEqual(efforts)
    expect(here.troubles).toEqual([])
  },
)
