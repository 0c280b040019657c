import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { ofKind, range, type Sent } from './client.js'
import { asking, bearer } from './http-client.js'
import { type StartOptions, start } from './support.js'

const day = 86_400
const rates = { log: { perSecond: 100_000 / day, burst: 100_000 } }
const participants = { ana: ['*'], ben: ['*'] }
const chat = (bytes: number): Sent => ({ kind: 'chat', payload: { message: 'x'.repeat(bytes) } })
const refused = { code: 'rate_limited', details: { class: 'log' } }

async function begin(options: Partial<StartOptions> = {}) {
  const clock = new FakeClock()
  const lines: { readonly about: object; readonly text: string }[] = []
  const warn = (about: object, text: string): void => void lines.push({ about, text })
  const logger = { info: () => {}, warn, error: warn }
  const running = await start({ participants, rates: { ana: rates }, clock, logger, ...options })
  const ana = await running.connect('ana')
  return { ...running, ana, clock, lines }
}

describe('what one participant may add to the log', () => {
  test('is refused beyond that, and comes back over the day', async () => {
    const { ana, clock, connect } = await begin()
    await ana.accepted(chat(60_000))
    const error = await ana.refused(chat(60_000))
    expect(error).toMatchObject(refused)
    const { retryAfterMs = 0 } = error
    expect(retryAfterMs).toBeGreaterThan(0.15 * day * 1000)
    const ben = await connect('ben')
    await ben.accepted(chat(60_000))
    clock.advance(retryAfterMs)
    await ana.accepted(chat(60_000))
  })

  test.for([
    [
      'a call to itself',
      {
        kind: 'mcp.request',
        to: ['ana'],
        payload: { jsonrpc: '2.0', id: 1, method: 'x', params: { text: 'x'.repeat(60_000) } },
      },
    ],
    ['a kind of its own', { kind: 'x.y', payload: { text: 'x'.repeat(60_000) } }],
    [
      'a result',
      {
        kind: 'mcp.response',
        correlationId: 'q',
        payload: { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(300_000) } },
      },
    ],
  ] as const)('counts %s', async ([, sent]) => {
    const { ana, connect } = await begin()
    const ben = await connect('ben')
    await ben.accepted({
      id: 'q',
      kind: 'mcp.request',
      to: ['ana'],
      payload: { jsonrpc: '2.0', id: 1, method: 'x' },
    })
    await ana.until(ofKind('mcp.request'))
    await ana.accepted(chat(60_000))
    expect(await ana.refused(sent as Sent)).toMatchObject(refused)
  })

  test('counts what is posted', async () => {
    const { ana, url } = await begin()
    await ana.accepted(chat(60_000))
    const response = await fetch(`${url}/spaces/test/envelopes`, {
      method: 'POST',
      headers: { ...bearer('ana'), 'content-type': 'application/json' },
      body: JSON.stringify(chat(60_000)),
    })
    expect([response.status, await response.json()]).toMatchObject([429, { code: 'rate_limited' }])
  })

  test('lets one envelope pass that is larger than all of it, where nothing was used', async () => {
    const { ana } = await begin({ rates: { ana: { log: { perSecond: 1, burst: 1000 } } } })
    await ana.accepted(chat(50_000))
    expect(await ana.refused(chat(1))).toMatchObject(refused)
  })

  test('is told to the operator at 80 % and at all of it, once each', async () => {
    const { ana, lines } = await begin()
    for (const _ of range(1, 9)) await ana.accepted(chat(10_000))
    const levels = () => lines.filter(({ about }) => 'bytesLeft' in about)
    expect(levels()).toMatchObject([{ about: { space: 'test', rateLimitKey: 'ana' } }])
    for (const _ of range(1, 40)) await ana.send(chat(2000))
    await ana.refused(chat(10_000))
    expect(levels()).toHaveLength(2)
  })

  test('is used up by being refused, too, and then no arguments are recorded', async () => {
    const { ana, url } = await begin({
      participants: { ana: ['chat'], ben: ['*'] },
      rates: { ana: { log: { perSecond: 1, burst: 20_000 } } },
    })
    const call = (at: number): Sent => ({
      ...{ kind: 'mcp.request', to: ['ben'] },
      payload: {
        jsonrpc: '2.0',
        id: at,
        method: 'tools/call',
        params: { name: `t${at}`, arguments: { text: 'x'.repeat(1800) } },
      },
    })
    for (const at of range(1, 12)) await ana.refused(call(at))
    expect(await ana.refused(chat(100))).toMatchObject(refused)
    await ana.refused(call(13))
    const { envelopes: decisions } = await asking(url, 'ana').history('kind=system.decision&limit=1000')
    const bytes = decisions.reduce((sum, each) => sum + JSON.stringify(each).length, 0)
    expect(bytes).toBeLessThan(30_000)
  })
})

test('metrics tell what was appended', async () => {
  const { ana, url } = await begin()
  await ana.accepted(chat(10_000))
  const text = await (await fetch(`${url}/metrics`)).text()
  const [, bytes] = /^meup_log_appended_bytes_total\{space="test"\} (\d+)$/m.exec(text) ?? []
  expect(Number(bytes)).toBeGreaterThan(10_000)
})
