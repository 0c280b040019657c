import { FakeClock, testToken } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { byId, type Sent } from './client.js'
import { asking } from './http-client.js'
import { start } from './support.js'

const participants = {
  bot: ['chat', 'mcp.proposal', { tool: 'tool/read_*' }],
  mute: ['chat'],
  ana: ['*'],
  tool: ['*'],
}
const params = '{"name":"deploy","arguments":{"id":12345678901234567890,"rate":1.0}}'
const call = (fields: Partial<Sent> = {}): Sent => ({
  ...{ id: 'c1', kind: 'mcp.request', to: ['tool'], orPropose: true },
  payload: { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'deploy' } },
  ...fields,
})
const allowed = { payload: { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'read_file' } } }

async function room(options: Partial<Parameters<typeof start>[0]> = {}) {
  const clock = new FakeClock()
  const running = await start({ participants, clock, ...options })
  const [bot, ana] = [await running.connect('bot'), await running.connect('ana')]
  return { ...running, clock, bot, ana }
}

describe('a call that may be proposed instead', () => {
  test('is its proposal where its sender lacks the capability, and no denial is recorded', async () => {
    const { bot, ana, url } = await room()
    const sent = call({ context: 'release', rationale: 'it is tested', parallelGroup: 3 })
    expect(await bot.accepted(sent)).toMatchObject({
      ...{ id: 'c1', kind: 'mcp.proposal', to: ['tool'], context: 'release' },
      ...{ rationale: 'it is tested', parallelGroup: 3 },
      payload: { method: 'tools/call', params: { name: 'deploy' } },
    })
    expect(await ana.accepted({ kind: 'mcp.request', correlationId: 'c1' })).toMatchObject({ to: ['tool'] })
    const { envelopes } = await asking(url, 'ana').history('limit=1000')
    expect(envelopes.some(({ kind }) => kind === 'system.decision')).toBe(false)
    expect(JSON.stringify(envelopes)).not.toContain('orPropose')
  })

  test('is the call where its sender may make it', async () => {
    const { bot } = await room()
    const made = await bot.accepted(call(allowed))
    expect(made).toMatchObject({ kind: 'mcp.request', payload: allowed.payload })
    expect(made).not.toHaveProperty('orPropose')
  })

  test('keeps params byte for byte, and takes an end', async () => {
    const { bot, clock } = await room()
    const expiresAt = new Date(clock.now() + 60_000).toISOString()
    bot.send(
      `{"id":"raw","kind":"mcp.request","to":["tool"],"orPropose":{"expiresAt":"${expiresAt}"},` +
        `"payload":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}}`,
    )
    const frame = await bot.next(byId('raw'))
    expect(bot.texts.get(frame)).toContain(`"params":${params}`)
    expect(frame.payload).toMatchObject({ expiresAt })
    expect(frame.payload).not.toHaveProperty('id')
  })

  test('is a retry with the same field alone', async () => {
    const { bot } = await room()
    const first = await bot.accepted(call())
    expect(await bot.accepted(call())).toEqual(first)
    for (const orPropose of [undefined, {}])
      expect(await bot.refused(call({ orPropose }))).toMatchObject({ code: 'duplicate_id' })
  })

  test('is denied where its sender may not propose either, as a call', async () => {
    const { connect } = await room()
    const mute = await connect('mute')
    expect(await mute.refused(call())).toMatchObject({
      code: 'capability_violation',
      attemptedKind: 'mcp.request',
    })
  })

  test('is refused while its sender is paused', async () => {
    const { bot, ana } = await room()
    await ana.accepted({ kind: 'participant.pause', to: ['bot'], payload: {} })
    expect(await bot.refused(call())).toMatchObject({ code: 'participant_paused' })
  })

  test('comes over HTTP as well', async () => {
    const { url } = await room()
    const response = await fetch(`${url}/spaces/test/envelopes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testToken('bot')}` },
      body: JSON.stringify(call()),
    })
    expect(response.status).toBe(201)
    const { envelopes } = await asking(url, 'ana').history('kind=mcp.proposal')
    expect(envelopes).toMatchObject([{ id: 'c1', from: 'bot' }])
  })

  test.each([
    ['without addressees', { to: undefined }],
    ['without a JSON-RPC id', { payload: { method: 'tools/call', params: { name: 'deploy' } } }],
    ['that correlates to something', { correlationId: 'q1' }],
    ['with false', { orPropose: false }],
    ['with an unknown term', { orPropose: { uses: 2 } }],
    ['with an end that is no time', { orPropose: { expiresAt: 'soon' } }],
    ['with an end that is past', { orPropose: { expiresAt: '2001-01-01T00:00:00Z' } }],
    ['of another kind', { kind: 'chat', payload: { message: 'hello' } }],
    [
      'that is allowed, with an end that is past',
      { ...allowed, orPropose: { expiresAt: '2001-01-01T00:00:00Z' } },
    ],
  ])('is refused %s', async (_, fields) => {
    const { bot } = await room()
    expect(await bot.refused(call(fields))).toMatchObject({ code: 'invalid_envelope' })
  })

  test('is refused where it leaves no room for its approval', async () => {
    const { bot } = await room({ limits: { maxEnvelopeBytes: 4096 } })
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x'.repeat(3400) } }
    expect(await bot.refused(call({ payload }))).toMatchObject({ code: 'payload_too_large' })
  })
})
