import { memoryStore } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import { byId, errorFor, type Sent } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { asking } from './http-client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['chat'] }
const chat: Sent = { kind: 'chat', payload: { message: 'hello' } }

describe('GET readyz', () => {
  const ask = async (url: string) => {
    const response = await fetch(`${url}/readyz`)
    return [response.status, await response.json()]
  }

  test('says yes while every space takes envelopes', async () => {
    const { url } = await start({ participants, others: [{ name: 'second', participants }] })
    expect(await ask(url)).toEqual([200, { status: 'ready' }])
  })

  test('says no while the gateway stops, and that it is alive', async () => {
    const { store, stall } = faultyDisk(memoryStore())
    const { url, connect, close } = await start({ participants, store })
    const alice = await connect('alice')
    const { appending, goOn } = stall()
    alice.send(chat)
    await appending
    const closing = close()
    const reason = 'the gateway is stopping'
    expect(await ask(url)).toEqual([
      503,
      expect.objectContaining({ code: 'unavailable', detail: `test: ${reason}`, spaces: { test: reason } }),
    ])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const response = await asking(url, 'bob').get('/envelopes')
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'unavailable' }])
    goOn()
    await closing
  })

  test('says no while a log is broken, and whose', async () => {
    const { store, stall, fault } = faultyDisk(memoryStore())
    const { url, connect } = await start({ participants, store })
    const alice = await connect('alice')
    const { appending, fail } = stall()
    alice.send({ id: 'lost', ...chat })
    await appending
    fault.unreadable = true
    fail()
    await alice.next(errorFor('lost'))
    const reason = 'the log cannot be written'
    expect(await ask(url)).toMatchObject([503, { spaces: { test: reason } }])
    expect(await metric(url, 'meup_space_ready{space="test"}')).toBe(0)
  })
})

/** The value of one line of the metrics; 0 if absent. */
async function metric(url: string, line: string): Promise<number> {
  const response = await fetch(`${url}/metrics`)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const found = (await response.text()).split('\n').find((each) => each.startsWith(`${line} `))
  return Number(found?.slice(line.length + 1) ?? 0)
}

describe('GET metrics', () => {
  test('moves with what happens', async () => {
    const { url, connect, connectRequest, post, gateway } = await start({ participants })
    const seen = (...lines: string[]) => Promise.all(lines.map((line) => metric(url, line)))
    const accepted = (name: string) => `meup_envelopes_accepted_total{space="test",class="${name}"}`
    const refused = (code: string) => `meup_envelopes_refused_total{space="test",code="${code}"}`
    const joins = (code: string) => `meup_joins_refused_total{code="${code}"}`
    const lines = [
      accepted('chat'),
      accepted('reasoning'),
      refused('capability_violation'),
      refused('invalid_payload'),
      joins('unauthorized'),
      joins('forbidden'),
      joins('not_found'),
      'meup_auth_failures_total',
      'meup_connections{space="test"}',
      'meup_suppressed_envelopes_total{space="test"}',
    ]
    expect(await seen(...lines)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0])

    const [alice, bob] = [await connect('alice'), await connect('bob')]
    await bob.subscribe({ reasoning: 'none' })
    await asking(url, 'bob').events()
    for (let count = 0; count < 3; count++) await alice.accepted(chat)
    await alice.accepted({ kind: 'reasoning.thought', context: 'c' })
    await bob.refused({ kind: 'x.y' })
    await post('bob', { kind: 'x.y' })
    await post('bob', { kind: 'chat' })
    await connectRequest({})
    await connectRequest({ token: 'wrong' })
    await connectRequest({ space: 'nowhere' })
    await connectRequest({ headers: { origin: 'https://evil.example' } })
    await asking(url, 'stranger').get('/events')
    await asking(url, 'stranger').get('/contexts')
    expect(await seen(...lines)).toEqual([3, 1, 2, 1, 3, 1, 1, 4, 3, 1])
    const tokens = { input: 1200, output: 30 }
    await alice.accepted({ kind: 'reasoning.start', id: 'run', payload: { message: 'Looking' } })
    await alice.accepted({ kind: 'reasoning.conclusion', context: 'run', payload: { metadata: { tokens } } })
    const reported = (way: string) => `meup_reported_tokens_total{space="test",direction="${way}"}`
    expect(await seen(reported('input'), reported('output'))).toEqual([1200, 30])
    expect(await metric(url, 'meup_suppressed_bytes_total{space="test"}')).toBeGreaterThan(50)
    const [{ head = 0 } = {}] = gateway.report()
    expect(await metric(url, 'meup_log_head{space="test"}')).toBe(head)
    expect(await metric(url, 'process_cpu_seconds_total')).toBeGreaterThan(0)
  })

  test('counts what waits for the log, how long it took, and what it did not take', async () => {
    const { store, stall } = faultyDisk(memoryStore())
    const { url, connect } = await start({ participants, store })
    const alice = await connect('alice')
    const seconds = (suffix: string) => metric(url, `meup_commit_seconds_${suffix}`)
    const before = await seconds('count{space="test"}')
    const { appending, goOn } = stall()
    alice.send(chat)
    await appending
    alice.send({ id: 'second', ...chat })
    await alice.subscribe({})
    expect(await metric(url, 'meup_waiting_envelopes{space="test"}')).toBe(1)
    expect(await metric(url, 'meup_waiting_bytes{space="test"}')).toBeGreaterThan(50)
    goOn()
    await alice.next(byId('second'))
    expect(await metric(url, 'meup_waiting_bytes{space="test"}')).toBe(0)
    expect(await seconds('count{space="test"}')).toBe(before + 2)
    expect(await seconds('bucket{space="test",le="+Inf"}')).toBe(before + 2)
    expect(await seconds('bucket{space="test",le="5"}')).toBeLessThanOrEqual(before + 2)
    expect(await seconds('sum{space="test"}')).toBeGreaterThan(0)

    const failing = stall()
    alice.send({ id: 'lost', ...chat })
    await failing.appending
    failing.fail()
    await alice.next(errorFor('lost'))
    expect(await metric(url, 'meup_commits_failed_total{space="test"}')).toBe(1)
    expect(await metric(url, 'meup_envelopes_refused_total{space="test",code="unavailable"}')).toBe(1)
  })

  test('explains every metric of the gateway', async () => {
    const { url } = await start({ participants })
    const text = await (await fetch(`${url}/metrics`)).text()
    const names = [...text.matchAll(/^# TYPE (meup_\w+) (\w+)$/gm)]
    expect(names.length).toBeGreaterThan(12)
    for (const [, name = '', type] of names) {
      expect(text).toMatch(new RegExp(`^# HELP ${name} \\w.{10,}$`, 'm'))
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
    }
  })

  test('of two gateways in one process are their own', async () => {
    const [one, two] = [await start({ participants }), await start({ participants })]
    await one.connect('alice')
    expect(await metric(one.url, 'meup_connections{space="test"}')).toBe(1)
    expect(await metric(two.url, 'meup_connections{space="test"}')).toBe(0)
  })
})
