import { type Logger, memoryStore } from '@meup/gateway'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { expect, onTestFinished, test, vi } from 'vitest'
import { receiveTraces } from '../../../test/support/otlp.js'
import { traceSpaces } from '../src/run/tracing.js'

/** A generous timeout, because the machine may be busy. */
const within = { timeout: 15_000 }

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} }

/** A gateway that traces these spaces, and a participant in it. */
async function start(spaces: Parameters<typeof memoryStore>[0], logger = silent) {
  const tracing = await traceSpaces(logger)
  const store = memoryStore(spaces)
  const gateway = await createTestGateway({ participants: { bot: ['*'] }, store, observe: tracing.observe })
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

test.for<[string, Record<string, string>, unknown[]]>([
  ['without an endpoint', { OTEL_SERVICE_NAME: 'demo' }, []],
  ['that is disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }, []],
  [
    'with an endpoint that is no address',
    { OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4318' },
    ['nothing is traced: OTEL_EXPORTER_OTLP_ENDPOINT is not an address'],
  ],
])('%s nothing is traced', async ([, variables, warnings]) => {
  const warned: unknown[] = []
  const logger = { ...silent, warn: (_: object, message: string) => void warned.push(message) }
  const { observe } = await traceSpaces(logger, variables)
  expect([observe, warned]).toEqual([undefined, warnings])
})

test('what was thought is exported where that is switched on, and only there', async () => {
  const receiver = await receiveTraces()
  for (const switched of ['false', 'true']) {
    setEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: switched,
    })
    const { say, stop } = await start(new Map())
    const { id } = await say('reasoning.start', { payload: { message: 'looking at my notes' } })
    await say('reasoning.thought', { context: id, payload: { message: 'the salaries are in there' } })
    await say('reasoning.conclusion', { context: id, payload: { message: 'nothing more to see' } })
    await stop()
  }
  const texts = receiver.spans.map(({ events }) =>
    events.map(({ name, attributes }) => [name, (attributes as Record<string, unknown>)['meup.message']]),
  )
  expect(texts).toEqual([
    [],
    [
      ['reasoning.start', 'looking at my notes'],
      ['reasoning.thought', 'the salaries are in there'],
      ['reasoning.conclusion', 'nothing more to see'],
    ],
  ])
})

test('where nobody takes the traces the gateway goes on, with one warning', async () => {
  setEnvironment({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  })
  const warned: unknown[] = []
  const warn = (_: object, message: string): void => void warned.push(message)
  const { say, stop } = await start(new Map(), { ...silent, warn })
  const lost = 'traces cannot be exported; this is logged once'
  for (const round of ['one', 'two']) {
    await say('reasoning.start', { id: round })
    await say('reasoning.conclusion', { context: round })
    await vi.waitFor(() => expect(warned).toContain(lost), within)
  }
  expect(await say('chat', { payload: { message: 'done' } })).toMatchObject({ payload: { message: 'done' } })
  await stop()
  expect(warned.slice().sort()).toEqual(['spans were lost on their way to the collector', lost])
})
