import type { Connection, ConnectionGrant, OutboundBatch } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import { checkEnvelope, type Envelope, isGuarded } from '@meup/protocol'
import { expect, test } from 'vitest'
import { times } from '../support/soak.js'

const count = times(5000, 1_000_000)

const bases = [
  '{"id":"a1","kind":"chat","payload":{"message":"héllo \\u00e9 \\ud83d\\ude00","format":"plain"}}',
  '{"kind":"chat","payload":{"text":"an alias","more":[1,2,{"deep":null}]},"correlation_id":"a1"}',
  '{"id":"r1","kind":"reasoning.start","correlationId":["a1"],"payload":{"metadata":{"confidence":0.70}}}',
  '{"kind":"reasoning/thought","context":"r1","payload":{"message":"x","phase":"plan"}}',
  '{"kind":"mcp.request","to":["bob"],"context":"r1","rationale":"why \\"not\\"","parallelGroup":0,' +
    '"payload":{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"t","arguments":{"n":1e400}}}}',
  '{"protocol":"meup/v0.3","ts":"now","from":"ana","to":[],"kind":"acme.thing","payload":{ "spaced" : [ true , false ] }}',
].map((text) => Buffer.from(text))
const inserted = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\\',
  '\\u0000',
  '\\ud800',
  '\u0000',
  '\u2028',
  '"__proto__":1,',
  '1e9',
]
const splices = inserted.map((text) => Buffer.from(text))

/** A random generator with a seed, so that a failure can be repeated (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

function mutate(frame: Buffer, random: (below: number) => number): Buffer {
  const at = random(frame.length)
  const [head, tail] = [frame.subarray(0, at), frame.subarray(at)]
  switch (random(6)) {
    case 0:
      return Buffer.concat([head, Buffer.of(random(256)), tail.subarray(1)])
    case 1:
      return Buffer.concat([head, splices[random(splices.length)] ?? head, tail])
    case 2:
      return Buffer.concat([head, tail.subarray(random(8))])
    case 3:
      return head
    case 4:
      return Buffer.concat([head, bases[random(bases.length)]?.subarray(random(40)) ?? head])
    default:
      return Buffer.concat([head, tail.subarray(0, random(12)), tail])
  }
}

/** Whether a frame is a record of a refusal. It comes in addition to the answer, some time later. */
const isRecord = (bytes: Buffer): boolean =>
  (JSON.parse(bytes.toString()) as Envelope).kind === 'system.decision'

/** Matches invisible characters. The guard removes them from texts, so a payload with them is not delivered byte for byte. */
const invisible = /\\u00[0189]|\\[bf]|[\u007f-\u009f]|\p{Default_Ignorable_Code_Point}/iu

const name = Buffer.from('"payload":')

/** Returns the bytes of the payload in a delivered frame: its last member. */
const payloadOf = (delivered: Buffer): Buffer =>
  delivered.subarray(delivered.indexOf(name) + name.length, delivered.length - 1)

/**
 * Returns the expected payload of an accepted frame, with aliases resolved, and whether its bytes must be exactly those sent.
 */
function expectedOf(frame: Buffer, kind: string): { value: Record<string, unknown>; isVerbatim: boolean } {
  const { payload } = JSON.parse(frame.toString()) as { payload?: Record<string, unknown> }
  if (payload === undefined) return { value: {}, isVerbatim: false }
  if (kind !== 'chat' || !Object.hasOwn(payload, 'text')) return { value: payload, isVerbatim: true }
  const { text, ...rest } = payload
  return { value: { ...rest, message: text }, isVerbatim: false }
}

test(
  `${count} mutated envelopes: none does harm, and what is accepted comes back byte for byte`,
  async () => {
    const seed = Number(process.env.MEUP_SEED ?? Date.now() % 2 ** 31)
    const random = randomFrom(seed)
    const gateway = await createTestGateway({ participants: { ana: ['*'], bob: ['*'] } })
    const delivered: Buffer[] = []
    const closes: string[] = []
    const connection: Connection = {
      remote: 'test',
      pending: 0,
      isGone: false,
      send: ({ messages }: OutboundBatch) => {
        const frames = messages.map(({ text }) => Buffer.from(text))
        delivered.push(...frames.filter((bytes) => !isRecord(bytes)))
      },
      drained: () => Promise.resolve(),
      close: (code, reason) => void closes.push(`${code} ${reason}`),
    }
    const ticket = (await gateway.admit({
      space: 'test',
      token: testToken('ana'),
      remote: 'test',
    })) as ConnectionGrant
    const line = await ticket.open(connection, {})

    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    while (!delivered.some((bytes) => bytes.includes('system.presence'))) await turn()

    let [accepted, refused] = [0, 0]
    for (let i = 0; i < count; i++) {
      let frame: Buffer = bases[random(bases.length)] ?? Buffer.alloc(0)
      for (let n = random(3); n >= 0; n--) frame = mutate(frame, random)
      delivered.length = 0
      line.receive(frame)
      while (delivered.length === 0) await turn()
      const [bytes = frame, ...more] = delivered
      const envelope = JSON.parse(bytes.toString()) as Envelope
      const problem = checkEnvelope(envelope)
      if (problem !== undefined || more.length > 0)
        throw new Error(`${frame} gave ${delivered} with seed ${seed}`)
      if (envelope.kind === 'system.error') {
        refused++
        continue
      }
      accepted++
      if (isGuarded(envelope) && invisible.test(frame.toString())) continue
      const payload = payloadOf(bytes)
      const expected = expectedOf(frame, envelope.kind)
      expect(JSON.parse(payload.toString()), `${frame} with seed ${seed}`).toEqual(expected.value)
      if (expected.isVerbatim) expect(frame.includes(payload), `${frame} with seed ${seed}`).toBe(true)
    }
    expect(closes).toEqual([])
    await gateway.close()
    expect(accepted).toBeGreaterThan(count / 100)
    expect(refused).toBeGreaterThan(count / 2)
  },
  30_000 + count,
)
