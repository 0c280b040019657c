import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import type { Sent } from './client.js'
import { start } from './support.js'

const participants = { agent: ['*'], ana: ['*'], ben: ['*'], tool: ['*'] }
const call = { method: 'tools/call', params: { name: 'deploy', arguments: { to: 'production', tries: 3 } } }
const proposal: Sent = { id: 'plan', kind: 'mcp.proposal', to: ['tool'], payload: call }
const fulfilment = (fields: Partial<Sent> = {}): Sent => ({
  kind: 'mcp.request',
  to: ['tool'],
  correlationId: 'plan',
  payload: { jsonrpc: '2.0', id: 1, ...call },
  ...fields,
})
const forbidden = { code: 'forbidden' }

async function proposed() {
  const { connect } = await start({ participants })
  const [agent, ana] = [await connect('agent'), await connect('ana')]
  await agent.accepted(proposal)
  return { agent, ana }
}

describe('what is requested must be what was proposed', () => {
  test.for<[string, parts: string, Partial<Sent>]>([
    ['another method', 'method', { payload: { ...call, method: 'tools/list' } }],
    ['other params', 'params', { payload: { ...call, params: { ...call.params, name: 'destroy' } } }],
    ['further params', 'params', { payload: { ...call, params: { ...call.params, force: true } } }],
    ['no params', 'params', { payload: { method: call.method } }],
    ['params that are a list', 'params', { payload: { ...call, params: [call.params] } }],
    ['another tool server', 'to', { to: ['ben'] }],
    ['another one beside it', 'to', { to: ['tool', 'ben'] }],
    ['everyone', 'to', { to: [] }],
    ['all of it', 'method and params and to', { to: ['ana'], payload: { method: 'x' } }],
  ])('%s is forbidden', async ([, parts, fields]) => {
    const { ana } = await proposed()
    const message = fillIn(texts.otherCall, { id: 'plan', parts })
    expect(await ana.refused(fulfilment(fields))).toMatchObject({ ...forbidden, message })
    await ana.accepted(fulfilment())
  })

  /**
   * Whether a request with the params `others` fulfils a proposal with `params`. Both are sent as written; only the values of
   * the params matter.
   */
  async function isSame(params: string, others: string): Promise<boolean> {
    const { connect } = await start({ participants })
    const ana = await connect('ana')
    ana.send(`{"id":"plan","kind":"mcp.proposal","payload":{"method":"m","params":${params}}}`)
    ana.send(
      `{"id":"ask","kind":"mcp.request","correlationId":"plan","payload":{"params":${others},"method":"\\u006d"}}`,
    )
    const answer = await ana.next(({ id, correlationId }) => id === 'ask' || correlationId === 'ask')
    if (answer.kind === 'system.error') expect(answer.payload).toMatchObject(forbidden)
    return answer.kind === 'mcp.request'
  }

  test.for([
    ['{"a":1,"b":{"c":[1,2],"d":"é"}}', '{ "b" : {"d":"\\u00e9", "c" :[ 1,2 ]},\n"a":1}'],
    ['{"a/b":"\\/"}', '{"a\\/b":"/"}'],
    ['{"emoji":"😀"}', '{"\\u0065moji":"\\uD83D\\ude00"}'],
    ['{"big":12345678901234567890,"small":-0,"e":1E+2}', '{"e":1E+2,"small":-0,"big":12345678901234567890}'],
    ['{"a":1,"_meta":{"progressToken":7}}', '{"_meta":{"progressToken":"other"},"a":1}'],
    ['{"a":1}', '{"a":1,"\\u005fmeta":{}}'],
    ['{}', '{ }'],
  ] as const)('%s and %s are the same', async ([params, others]) => {
    expect(await isSame(params, others)).toBe(true)
  })

  test.for([
    ['{"n":1}', '{"n":1.0}'],
    ['{"n":1e2}', '{"n":100}'],
    ['{"n":0}', '{"n":-0}'],
    ['{"n":9007199254740993}', '{"n":9007199254740992}'],
    ['{"n":1}', '{"n":"1"}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":null}', '{}'],
    ['{"a":{"_meta":1}}', '{"a":{"_meta":2}}'],
    ['{"meta":1}', '{}'],
    ['{"a":"é"}', '{"a":"e\\u0301"}'],
    ['{"a":{"b":1},"c":2}', '{"a":{"b":1,"c":2}}'],
    ['{}', 'null'],
  ] as const)('%s and %s are not', async ([params, others]) => {
    expect(await isSame(params, others)).toBe(false)
  })

  test('whom it is for may be named in any order', async () => {
    const { agent, ana } = await proposed()
    await agent.accepted({ ...proposal, id: 'two', to: ['tool', 'ben'] })
    await ana.accepted(fulfilment({ correlationId: 'two', to: ['ben', 'tool', 'ben'] }))
  })

  test('no params are no params', async () => {
    const { agent, ana } = await proposed()
    await agent.accepted({ id: 'list', kind: 'mcp.proposal', payload: { method: 'tools/list' } })
    const ask = { kind: 'mcp.request', correlationId: 'list' }
    expect(await ana.refused({ ...ask, payload: { method: 'tools/list', params: {} } })).toMatchObject(
      forbidden,
    )
    await ana.accepted({ ...ask, payload: { method: 'tools/list' } })
  })
})
