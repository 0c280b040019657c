import { type Logger, memoryStore } from '@meup/gateway'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { expect, onTestFinished, test, vi } from 'vitest'
import { receiveTraces } from '../../../test/support/otlp.js'
import { traced } from '../src/run/tracing.js'

/** For machines that do much else. */
const within = { timeout: 15_000 }

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} }

/** A gateway that traces what it keeps in these spaces, and a seat in it. */
async function start(spaces: Parameters<typeof memoryStore>[0], logger = silent) {
  const tracing = await traced(memoryStore(spaces), logger)
  const gateway = await createTestGateway({ participants: { bot: ['*'] }, store: tracing.store })
  const heard: Envelope[] = []
  const line = await dialInMemory(
    gateway,
    { space: 'test', token: testToken('bot') },
    {
      message: (text) => heard.push(JSON.parse(text)),
      close: () => {},
    },
  )
  const say = async (kind: string, fields: object): Promise<Envelope> => {
    const before = heard.length
    line.send(JSON.stringify({ kind, ...fields }))
    return vi.waitFor(
      () => heard.slice(before).find((each) => each.kind === kind) ?? expect.unreachable(),
      within,
    )
  }
  const stop = async (): Promise<void> => {
    await gateway.close()
    await tracing.close()
  }
  return { say, stop }
}

function setEnvironment(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}

test('a run that goes on after a restart is one span from its beginning; what ended before is not sent again', async () => {
  const receiver = await receiveTraces()
  setEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const spaces = new Map()
  const first = await start(spaces)
  await first.say('reasoning.start', { id: 'short' })
  await first.say('reasoning.conclusion', { context: 'short' })
  const begun = await first.say('reasoning.start', { id: 'long' })
  await first.stop()
  expect(receiver.spans.map(({ attributes }) => attributes['meup.context'])).toEqual(['short'])

  const second = await start(spaces)
  const ended = await second.say('reasoning.conclusion', { context: 'long' })
  await second.stop()
  expect(receiver.spans.slice(1)).toEqual([
    expect.objectContaining({ start: Date.parse(begun.ts), end: Date.parse(ended.ts) }),
  ])
})

test('another protocol is not spoken, and that is said', async () => {
  const receiver = await receiveTraces()
  setEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
  const warned: unknown[] = []
  const { stop } = await start(new Map(), {
    ...silent,
    warn: (fields, message) => warned.push([fields, message]),
  })
  await stop()
  expect(warned).toEqual([
    [{ protocol: 'grpc' }, 'traces are sent as http/protobuf; nothing else is spoken here'],
  ])
})

test('without an endpoint the store is left as it is', async () => {
  const store = memoryStore()
  expect((await traced(store, silent, {})).store).toBe(store)
})
