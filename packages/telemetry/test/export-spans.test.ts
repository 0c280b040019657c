import { exportSpans, type TraceSpan } from '@meup/telemetry'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { receiveTraces } from '../../../test/support/otlp.js'

const span = (spanId: string, more: Partial<TraceSpan> = {}): TraceSpan => ({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId,
  name: 'execute_tool add',
  start: Date.parse('2026-02-21T10:00:00.123Z'),
  end: Date.parse('2026-02-21T10:00:02.456Z'),
  attributes: { 'gen_ai.tool.name': 'add', 'meup.seq': 7, 'meup.to': ['sums'] },
  events: [],
  droppedEvents: 0,
  ...more,
})
const toId = (n: number): string => n.toString(16).padStart(16, '0')

/** Sets environment variables, and starts an export. `received`: the messages that it logs. */
function exporting(variables: Record<string, string>) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const received: string[] = []
  const notify = (_: object, message: string): void => void received.push(message)
  return { spans: exportSpans({ info: notify, warn: notify }), received }
}

const isTold = 'traces cannot be exported; this is logged once'
const isLost = 'spans were lost on their way to the collector'

test('a span arrives with all that it has', async () => {
  const receiver = await receiveTraces()
  const { spans, received } = exporting({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const event = {
    name: 'reasoning.thought',
    time: Date.parse('2026-02-21T10:00:01Z'),
    attributes: { 'meup.seq': 8 },
  }
  spans.add([
    span(toId(1)),
    span(toId(2), { parentSpanId: toId(1), error: 'tool_error', events: [event], droppedEvents: 3 }),
  ])
  await spans.close()
  const { start, end, attributes } = span(toId(1))
  const common = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    name: 'execute_tool add',
    kind: 1,
    start,
    end,
  }
  const resource = expect.objectContaining({ 'service.name': 'meup' })
  expect(receiver.spans).toEqual([
    {
      ...common,
      spanId: toId(1),
      parentSpanId: '',
      attributes,
      events: [],
      droppedEvents: 0,
      status: 0,
      resource,
    },
    {
      ...common,
      spanId: toId(2),
      parentSpanId: toId(1),
      attributes: { ...attributes, 'error.type': 'tool_error' },
      events: [event],
      droppedEvents: 3,
      status: 2,
      resource,
    },
  ])
  expect(receiver.requests.map(({ path }) => path)).toEqual(['POST /v1/traces'])
  expect(received).toEqual([])
})

test('the variables of OpenTelemetry say where to, with which headers, under which name and how many at once', async () => {
  const receiver = await receiveTraces()
  const { spans } = exporting({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/elsewhere`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret',
    OTEL_SERVICE_NAME: 'deploys',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=staging',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
  })
  spans.add([1, 2, 3].map((n) => span(toId(n))))
  await spans.close()
  expect(receiver.requests.map(({ path, headers }) => [path, headers['x-key']])).toEqual([
    ['POST /elsewhere', 'secret'],
    ['POST /elsewhere', 'secret'],
  ])
  expect(receiver.spans).toHaveLength(3)
  expect(receiver.spans[0]?.resource).toMatchObject({
    'service.name': 'deploys',
    'deployment.environment.name': 'staging',
  })
})

describe('headers', () => {
  const credential = 'Basic aHVzaDpodXNoLWh1c2g=='

  /** Exports one span with this header variable. Returns the headers of the request, and all log lines as JSON. */
  async function exportWith(value: string, variable = 'OTEL_EXPORTER_OTLP_HEADERS') {
    const receiver = await receiveTraces()
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url)
    vi.stubEnv(variable, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    const lines: unknown[] = []
    const log = (...line: unknown[]): void => void lines.push(line)
    const spans = exportSpans({ info: log, warn: log })
    spans.add([span(toId(1))])
    await spans.close()
    return { headers: receiver.requests[0]?.headers ?? {}, lines: JSON.stringify(lines) }
  }

  test.for([
    `Authorization: ${credential}`,
    `authorization:${credential}`,
    `Authorization=${credential}`,
    `authorization=${encodeURIComponent(credential)}`,
    ` x-team = blue , Authorization: ${credential},`,
  ])('are read as name=value and as they stand in a request: %s', async (value) => {
    const { headers, lines } = await exportWith(value)
    expect([headers.authorization, lines]).toEqual([credential, '[]'])
  })

  test('are read for traces alone, too', async () => {
    const { headers } = await exportWith(`Authorization: ${credential}`, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS')
    expect(headers.authorization).toBe(credential)
  })

  test.for([
    credential,
    `Bearer hush-hush=`,
    `my key: ${credential}`,
    `"Authorization: ${credential}"`,
    `authorization=${encodeURIComponent('hush\nhush-hush')}`,
  ])('that make no sense are reported without a quote: %s', async (value) => {
    const { lines } = await exportWith(value)
    expect(lines).toContain('[')
    expect(lines).not.toMatch(/hush|aHVz/)
  })
})

test('failures are told once until it works again; what was lost is told at the end', async () => {
  const answers = [400, 400, 200, 500]
  const receiver = await receiveTraces(() => answers.shift() ?? 200)
  const { spans, received } = exporting({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '1',
  })
  for (const n of [1, 2, 3, 4, 5]) {
    spans.add([span(toId(n))])
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(n), { timeout: 10_000, interval: 5 })
  }
  await spans.close()
  expect(receiver.spans.map(({ spanId }) => spanId)).toEqual([toId(3), toId(5)])
  const again = 'traces are exported again'
  expect(received).toEqual([isTold, again, isTold, again, isLost])
})

test('nobody there costs one warning, and not more time than a batch has', async () => {
  const { spans, received } = exporting({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
  })
  for (let n = 1; n <= 3000; n++) spans.add([span(toId(n))])
  await spans.close()
  expect(received).toEqual([isTold, isLost])
})
