import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentModel } from '@meup/agent-sdk'
import { describe, expect, test } from 'vitest'
import { NoAnswerError } from '../../src/model/errors.js'
import { listStory, stage } from './stage.js'
import { begin, block, event, wire } from './wire.js'

const thought = { type: 'thinking_delta', thinking: 'The sum is needed. ' }
const halfThought = [
  begin,
  event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } }),
  event({ type: 'content_block_delta', index: 0, delta: thought }),
].join('')
const halfCall = [
  block(0, { type: 'thinking', thinking: '' }, thought),
  event({
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'desk__add', input: {} },
  }),
  event({
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '{"a":' },
  }),
].join('')

describe('over the wire of a provider', () => {
  const title = 'claude-sonnet-4-5 of anthropic'
  const nonsense = `${title} sent an invalid response`
  const broken = new NoAnswerError('broken_off', { model: title, ending: 'without a finish reason' }).message
  test.for<[name: string, answer: string, why: string]>([
    ['a stream that breaks off in a thought', halfThought, broken],
    ['a stream that breaks off in a call', begin + halfCall, broken],
    ['a chunk that is no JSON', `${halfThought}event: content_block_delta\ndata: {"secret\n\n`, nonsense],
    ['a chunk of another form', `${halfThought}data: {"type":"secret"}\n\n`, nonsense],
    [
      'an error in the midst of a thought',
      `${halfThought}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n`,
      `${title} failed: Overloaded`,
    ],
    ['nothing at all', '', `${title} ended its answer before it began`],
  ])('%s: what was thought stays, and who asked is told', async ([, answer, why]) => {
    const { bodies, settings: reached } = wire([answer])
    const settings = {
      maxRetries: 0,
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } },
    } as const
    await using here = await stage([], { model: createAnthropic(reached)('claude-sonnet-4-5'), settings })
    expect(await here.ask()).toBe(`I could not answer: ${why}`)
    expect(listStory(here.heard)).toEqual([
      'reasoning.start',
      ...(answer === '' ? [] : ['reasoning.thought: The sum is needed.']),
      `reasoning.cancel: ${why}`,
      `chat: I could not answer: ${why}`,
    ])
    expect(JSON.stringify(here.heard.all)).not.toContain('secret')
    expect(bodies).toHaveLength(1)
  })

  test('a model of a version that the package does not know', async () => {
    const doStream = () => Promise.reject(new Error('not reached'))
    const later = { specificationVersion: 'v5', provider: 'acme.chat', modelId: 'a-9', doStream }
    await using here = await stage([], { model: later as unknown as AgentModel })
    expect(await here.ask()).toMatch(
      /^I could not answer: a-9 of acme is not known to the installed version of ai\. Install /,
    )
  })

  test('a provider that refuses', async () => {
    const fetch = async () => Response.json({ error: { message: 'no such model' } }, { status: 404 })
    await using here = await stage([], { model: createOpenAI({ apiKey: 'none', fetch }).chat('gone') })
    expect(await here.ask()).toBe(
      'I could not answer: gone of openai answered 404: no such model. Is gone the name of a model there?',
    )
  })
})
