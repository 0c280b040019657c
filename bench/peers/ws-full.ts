import type { AddressInfo, Socket } from 'node:net'
import { jsonSchemas } from '@meup/protocol'
import { Ajv } from 'ajv'
import Database from 'better-sqlite3'
import { type WebSocket, WebSocketServer } from 'ws'
import { frameOf } from './frames.js'
import { receiverName, senderName, tokenOf } from './space.js'

/**
 * The minimum of a gateway's work for a chat: parses and validates the envelope, checks its sender, capability and rate, stores
 * the envelopes of one event loop turn in one transaction, and then delivers them, framed once for all. The echo is the
 * acknowledgement. It has no hash chain, known ids, resuming, addressees, subscriptions or guard.
 */
const [path = '', senders = '0', receivers = '0'] = process.argv.slice(2)

interface Submission {
  readonly id?: string
  readonly from?: string
  readonly kind: string
  readonly [field: string]: unknown
}

interface Participant {
  readonly name: string
  readonly capabilities: readonly RegExp[]
  readonly bucket: { tokens: number; at: number }
}

const validate = new Ajv().compile<Submission>(jsonSchemas().submission ?? {})
const patternOf = (kinds: string): RegExp =>
  new RegExp(`^${kinds.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
const capabilities = ['mcp.*', 'space.invite', 'chat', 'reasoning.*'].map(patternOf)
const rate = { perSecond: 1e12, burst: 1e12 }
const participants = new Map<string, Participant>()
const names = [
  ...Array.from({ length: Number(senders) }, (_, i) => senderName(i)),
  ...Array.from({ length: Number(receivers) }, (_, i) => receiverName(i)),
]
for (const name of names) {
  participants.set(tokenOf(name), {
    name,
    capabilities,
    bucket: { tokens: rate.burst, at: Date.now() },
  })
}

const db = new Database(path)
db.pragma('journal_mode = WAL')
// Writes survive a crash of the process, as with `durability: process` of the gateway.
db.pragma('synchronous = NORMAL')
db.exec('CREATE TABLE envelopes (seq INTEGER PRIMARY KEY, sender TEXT, kind TEXT, body BLOB) STRICT')
const insert = db.prepare<[number, string, string, Buffer]>('INSERT INTO envelopes VALUES (?, ?, ?, ?)')
const store = db.transaction((batch: readonly Accepted[]) => {
  for (const { seq, from, kind, body } of batch) insert.run(seq, from, kind, body)
})

interface Accepted {
  readonly seq: number
  readonly from: string
  readonly kind: string
  readonly body: Buffer
}

/** Maximum unsent bytes of one connection. */
const maxWaitingBytes = 16 * 1024 * 1024
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
const sockets = new Set<Socket>()
let waiting: Accepted[] = []
let seq = 0

function onMessage(client: WebSocket, participant: Participant, data: Buffer): void {
  const now = Date.now()
  const envelope = parse(data)
  const refusal = envelope === undefined ? 'invalid_envelope' : refuse(envelope, participant, now)
  if (envelope === undefined || refusal !== undefined) {
    client.send(JSON.stringify({ kind: 'system.error', payload: { code: refusal } }))
    return
  }
  const from = participant.name
  const accepted = { seq: ++seq, ...envelope, ts: new Date(now).toISOString(), from }
  if (waiting.length === 0) setImmediate(flush)
  waiting.push({ seq, from, kind: envelope.kind, body: Buffer.from(JSON.stringify(accepted)) })
}

function parse(data: Buffer): Submission | undefined {
  try {
    const value: unknown = JSON.parse(data.toString())
    return validate(value) ? value : undefined
  } catch {
    return undefined
  }
}

function refuse({ from, kind }: Submission, sender: Participant, now: number): string | undefined {
  if (from !== undefined && from !== sender.name) return 'sender_mismatch'
  if (!sender.capabilities.some((pattern) => pattern.test(kind))) return 'capability_violation'
  const { bucket } = sender
  bucket.tokens = Math.min(rate.burst, bucket.tokens + ((now - bucket.at) / 1000) * rate.perSecond)
  bucket.at = now
  if (bucket.tokens < 1) return 'rate_limited'
  bucket.tokens--
  return undefined
}

function flush(): void {
  const batch = waiting
  waiting = []
  store(batch)
  const all = Buffer.concat(batch.flatMap(({ body }) => frameOf(body)))
  for (const socket of sockets) {
    if (socket.writableLength > maxWaitingBytes) socket.destroy()
    else socket.write(all)
  }
}

server.on('connection', (client, request) => {
  const participant = participants.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
  if (participant === undefined) {
    client.close(4401, 'unauthorized')
    return
  }
  sockets.add(request.socket)
  client.on('close', () => sockets.delete(request.socket))
  client.on('message', (data) => onMessage(client, participant, data as Buffer))
})
server.once('listening', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
