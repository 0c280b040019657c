import { type ModelRequest, scriptedModel } from '@meup/agent-sdk/ai'
import { createTestSpace } from '@meup/agent-sdk/testing'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { awayError } from '../../src/client/errors.js'

type Script = Parameters<typeof scriptedModel>[0]

const agent = (description?: string) => ({
  kind: 'agent',
  capabilities: ['*'],
  ...(description && { description }),
})

async function office(script: Script, options: { readonly colleagues?: readonly string[] } = {}) {
  const space = await createTestSpace({
    participants: {
      ana: { kind: 'human', capabilities: ['*'] },
      desk: agent('answers what nobody else does'),
      reviewer: agent('checks drafts'),
      quiet: agent(),
    },
    frontDesk: 'desk',
  })
  onTestFinished(() => space.close())
  const [ana, desk, reviewer] = [
    await space.join('ana'),
    await space.join('desk'),
    await space.join('reviewer'),
  ]
  const read: AnyEnvelope[] = []
  ana.on('envelope', (envelope) => void read.push(envelope))
  const model = scriptedModel(script)
  void desk.agent({ model, transcript: 'off', onError: () => {}, ...options })
  void reviewer.answer((turn) => turn.reply(`checked: ${turn.text}`))
  return { ana, model, read }
}

const offered = (request: ModelRequest | undefined) => (request?.tools ?? []).map(({ name }) => name)
const lastText = (request: ModelRequest | undefined): string => JSON.stringify(request?.prompt.at(-1))

describe('a model that is not alone', () => {
  test('asks another agent, and gets its answer as a result', async () => {
    const { ana, model, read } = await office([
      [{ call: 'ask_agent', input: { agent: 'reviewer', question: 'is it right?' } }],
      [{ text: 'It is right.' }],
    ])
    expect(await ana.ask('well?')).toMatchObject({ from: 'desk', text: 'It is right.' })
    expect(offered(model.requests[0])).toEqual(['ask_agent', 'hand_over'])
    expect(lastText(model.requests[1])).toContain('reviewer answered: checked: is it right?')
    expect(read.filter(({ kind }) => kind === 'mcp.request')).toEqual([])
    const thoughts = read.filter(({ kind, from }) => kind === 'reasoning.thought' && from === 'desk')
    expect(thoughts.map(({ payload }) => Object(payload).message)).toEqual([
      'Asked reviewer: is it right?',
      'reviewer answered: checked: is it right?',
    ])
  })

  test('hands a question over, and says nothing more', async () => {
    const { ana, model } = await office([
      [{ call: 'hand_over', input: { agent: 'reviewer', note: 'yours' } }],
    ])
    expect(await ana.ask('well?')).toMatchObject({
      from: 'reviewer',
      text: 'checked: yours\n\nana asked: well?',
    })
    expect(model.requests).toHaveLength(1)
  })

  test('reads that the other one is away', async () => {
    const { ana, model } = await office(
      [[{ call: 'ask_agent', input: { agent: 'quiet', question: 'hm?' } }], [{ text: 'Nobody is there.' }]],
      { colleagues: ['quiet'] },
    )
    expect((await ana.ask('well?')).text).toBe('Nobody is there.')
    expect(lastText(model.requests[1])).toContain(
      JSON.stringify(awayError('quiet', false).message).slice(1, -1),
    )
  })

  test.for<[readonly string[] | undefined, readonly string[]]>([
    [undefined, ['reviewer']],
    [['quiet'], ['quiet']],
    [['ana', 'desk', 'nobody'], []],
    [[], []],
  ])('may ask those with a description, or those that are chosen: %j', async ([colleagues, expected]) => {
    const { ana, model } = await office([[{ text: 'Yes.' }]], colleagues === undefined ? {} : { colleagues })
    await ana.ask('well?')
    const [ask] = model.requests[0]?.tools ?? []
    expect(Object(ask)?.inputSchema?.properties.agent.enum ?? []).toEqual(expected)
  })

  test.for([
    [{ agent: 'nobody', question: 'hm?' }, 'participant'],
    [{ agent: 'reviewer' }, 'needs the arguments question'],
  ])('reads what is wrong with %j', async ([args, why]) => {
    const { ana, model } = await office([[{ call: 'ask_agent', input: args as object }], [{ text: 'Well.' }]])
    await ana.ask('well?')
    expect(lastText(model.requests[1])).toContain(why)
  })
})
