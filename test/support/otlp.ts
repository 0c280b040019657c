import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A span as a collector receives it. Times in milliseconds since the epoch; `kind` 1 = internal; `status` 2 = error. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Id of the parent; empty = the span begins a trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly start: number
  readonly end: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string; readonly time: number; readonly attributes: object }[]
  readonly droppedEvents: number
  readonly status: number
  readonly resource: Readonly<Record<string, unknown>>
}

/** Starts a receiver of traces by OTLP over HTTP. `answer`: status of the next response; default 200. */
export async function receiveTraces(answer: () => number = () => 200) {
  const spans: ReceivedSpan[] = []
  const requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    requests.push({ path: `${request.method} ${request.url}`, headers: request.headers })
    const status = answer()
    if (status === 200) spans.push(...spansIn(Buffer.concat(chunks)))
    response.writeHead(status).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
  onTestFinished(() => {
    server.closeAllConnections()
    return close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, requests }
}

type Field = bigint | Buffer
type Message = (field: number) => Field[]

/** Reads the fields of a protobuf message, by number. Implemented here, so that the writer is not tested with itself. */
function read(bytes: Buffer): Message {
  const fields = new Map<number, Field[]>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('the message is cut off')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number): Buffer => {
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wireType = tag & 7
    const lengths: Record<number, () => number> = { 1: () => 8, 2: () => Number(varint()), 5: () => 4 }
    const field = wireType === 0 ? varint() : take(lengths[wireType]?.() ?? Number.NaN)
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), field])
  }
  return (number) => fields.get(number) ?? []
}

const messages = (fields: Field[]): Message[] => fields.map((field) => read(field as Buffer))
const text = ([field]: Field[]): string => (field as Buffer | undefined)?.toString() ?? ''
const hex = ([field]: Field[]): string => (field as Buffer | undefined)?.toString('hex') ?? ''
const number = ([field]: Field[]): number => Number(field ?? 0)
const milliseconds = ([field]: Field[]): number => Number((field as Buffer).readBigUInt64LE() / 1_000_000n)

/** Reads an AnyValue. Supports only the types that are used here. */
function contentOf(value: Message): unknown {
  const [[written], [integer]] = [value(1), value(3)]
  if (written !== undefined) return written.toString()
  const [list] = messages(value(5))
  if (list !== undefined) return messages(list(1)).map(contentOf)
  if (integer === undefined) throw new Error('an attribute is neither text, list nor integer')
  return Number(integer)
}

const attributesIn = (fields: Field[]): Record<string, unknown> =>
  Object.fromEntries(
    messages(fields).map((pair) => [text(pair(1)), contentOf(messages(pair(2))[0] ?? (() => []))]),
  )

/** Reads ExportTraceServiceRequest → ResourceSpans → ScopeSpans → Span, by opentelemetry/proto/trace/v1/trace.proto. */
function spansIn(body: Buffer): ReceivedSpan[] {
  return messages(read(body)(1)).flatMap((resourceSpans) => {
    const resource = attributesIn(messages(resourceSpans(1)).flatMap((each) => each(1)))
    const spans = messages(resourceSpans(2)).flatMap((scope) => messages(scope(2)))
    return spans.map((span) => spanOf(span, resource))
  })
}

const spanOf = (span: Message, resource: Record<string, unknown>): ReceivedSpan => ({
  traceId: hex(span(1)),
  spanId: hex(span(2)),
  parentSpanId: hex(span(4)),
  name: text(span(5)),
  kind: number(span(6)),
  start: milliseconds(span(7)),
  end: milliseconds(span(8)),
  attributes: attributesIn(span(9)),
  events: messages(span(11)).map((event) => ({
    name: text(event(2)),
    time: milliseconds(event(1)),
    attributes: attributesIn(event(3)),
  })),
  droppedEvents: number(span(12)),
  status: number(messages(span(15)).flatMap((status) => status(3))),
  resource,
})
