import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { type Clock, systemClock } from '@meup/gateway'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
`

test('a log cut short is refused at start, with what to do, and left as it is', async () => {
  const folder = temporaryFolder({ 'space.yaml': config })
  const file = join(folder, '.meup/space.db')
  const running = await startMeup('gateway', folder)
  const ana = await connect({ url: running.url, space: 'demo', as: 'ana', directory: folder })
  await Promise.all(Array.from({ length: 20 }, (_, i) => ana.chat(`${i}`.padEnd(5000, '.'))))
  ana.close()
  expect(await running.stop('SIGTERM')).toBe(0)

  const half = statSync(file).size >> 1
  truncateSync(file, half)
  const { code, stderr } = await meup(['gateway'], { cwd: folder })
  expect(code).toBe(1)
  expect(stderr).toMatch(/damaged.*Restore it from a copy/)
  expect(statSync(file).size).toBe(half)
})

test('a clock that jumps disturbs neither the order nor the rates', async () => {
  let offset = 0
  const clock: Clock = { now: () => Date.now() + offset, after: systemClock.after }
  const rates = { perSecond: 1, burst: 2 }
  const others = {
    reasoning: rates,
    mcp: rates,
    control: rates,
    other: rates,
    results: rates,
    work: rates,
    frames: rates,
    bytes: { perSecond: 1e6, burst: 1e6 },
  }
  const limits = { rates: { chat: rates, ...others } }
  const gateway = await createTestGateway({ participants: { ana: ['*'] }, limits, clock })
  onTestFinished(() => gateway.close())
  const heard: Envelope[] = []
  const line = await dialInMemory(
    gateway,
    { space: 'test', token: testToken('ana') },
    { message: (text) => heard.push(JSON.parse(text) as Envelope), close: () => {} },
  )
  const send = async (id: string): Promise<Envelope> => {
    line.send(JSON.stringify({ id, kind: 'chat', payload: { message: id } }))
    const isAnswer = (envelope: Envelope) => envelope.id === id || envelope.correlationId === id
    await expect.poll(() => heard.some(isAnswer), { interval: 1 }).toBe(true)
    return heard.find(isAnswer) as Envelope
  }
  const hour = 3_600_000
  const first = await send('now')
  offset = -hour
  const second = await send('an-hour-ago')
  expect(second.seq).toBe((first.seq ?? 0) + 1)
  expect((await send('too-fast')).payload).toMatchObject({ code: 'rate_limited' })
  offset = hour
  // The refusal of `too-fast` was logged as a `system.decision`, which has the seq between those of `second` and `later`.
  expect((await send('later')).seq).toBe((second.seq ?? 0) + 2)
})
