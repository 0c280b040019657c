import { randomBytes } from 'node:crypto'
import { Kind } from '@meup/protocol'
import { maskedHeader } from '../load/dialects.js'
import { pause } from '../load/waiting.js'
import type { Attacker } from './attacker.js'

export const attackerName = 'mallory'

/** Attacks the gateway until the process is killed. */
export type Attack = (attacker: Attacker) => Promise<unknown>

const opcodes = { text: 1, ping: 9 }
/** Bytes per write of attacks that send as fast as possible. */
const blockBytes = 64 * 1024

const frame = (text: string | Buffer, opcode = opcodes.text): Buffer => {
  const data = Buffer.from(text)
  return Buffer.concat([maskedHeader(data.length, opcode), data])
}
const envelope = (fields: object): Buffer => frame(JSON.stringify(fields))
const block = (one: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: Math.max(1, Math.floor(blockBytes / one.length)) }, () => one))

/** Sends the same bytes again and again, as fast as possible, on `count` connections. */
const flood =
  (connections: number, bytes: Buffer): Attack =>
  ({ keepOpen }) =>
    keepOpen(connections, async (line) => {
      while (line.isOpen) await line.write(bytes)
    })

/** Sends one message after the other, made by `make`, at this rate per second. */
const paced =
  (perSecond: number, make: (i: number) => Buffer): Attack =>
  ({ keepOpen }) => {
    let i = 0
    return keepOpen(1, async (line) => {
      while (line.isOpen) {
        await line.write(make(i++))
        await pause(1000 / perSecond)
      }
    })
  }

/**
 * A list that is expensive to compare: 17 capabilities with 61 globs each, in about 7,000 characters. All lists share the first
 * 60 globs.
 */
const narrowChats = (seed: number): object[] =>
  Array.from({ length: 17 }, (_, i) => ({
    kind: Kind.chat,
    payload: { message: [...Array.from({ length: 60 }, (_, j) => globOf(j)), globOf(60 + seed * 17 + i)] },
  }))
/** A glob of two letters or digits and a star. */
const globOf = (i: number): string => `${(i % 1296).toString(36).padStart(2, '0')}*`

/** Makes in turn a grant, a revocation of capabilities that were not granted, and a revocation of some that were granted. */
function coverage(i: number): Buffer {
  const grant = narrowChats(Math.floor(i / 3))
  const recipient = 'r0'
  if (i % 3 === 0)
    return envelope({ kind: Kind.capabilityGrant, payload: { recipient, capabilities: grant } })
  const revoked = i % 3 === 1 ? narrowChats(i + 7) : [...narrowChats(i + 7).slice(1), ...grant.slice(0, 1)]
  return envelope({ kind: Kind.capabilityRevoke, payload: { recipient, capabilities: revoked } })
}

/** A thought with 250 base64 texts in its metadata, the last of which is a private key. */
function encodedTexts(): Buffer {
  const texts = Array.from({ length: 250 }, () => randomBytes(480).toString('base64'))
  texts.push(Buffer.from('key AKIAIOSFODNN7EXAMPLE').toString('base64'))
  return envelope({
    kind: Kind.reasoningThought,
    context: 'free',
    payload: { message: 'x', metadata: { texts } },
  })
}

const classes = (i: number): Buffer => {
  const pattern = `re:${i}[\\pL\\pN]{900}`
  const payload = { contexts: [pattern], excludeContexts: [pattern], from: [pattern], kinds: [pattern] }
  return envelope({ kind: Kind.observeSubscribe, payload })
}

const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 0]))
const deep = `{"kind":"chat","payload":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`

export const attacks: Readonly<Record<string, Attack>> = {
  coverage: paced(10, coverage),
  'malformed frames': flood(8, block(frame('{'))),
  'chats over the rate': flood(8, block(envelope({ kind: Kind.chat, payload: { message: 'x' } }))),
  retries: flood(8, block(envelope({ id: 'again-and-again', kind: Kind.chat, payload: { message: 'x' } }))),
  pings: flood(8, block(frame('', opcodes.ping))),
  'encoded texts': paced(5, encodedTexts),
  'character classes': paced(10, classes),
  subscriptions: paced(50, (i) => envelope({ kind: Kind.observeSubscribe, payload: { from: [`a${i}*`] } })),
  'deep JSON': flood(2, frame(deep)),
  'many keys': flood(2, envelope({ kind: Kind.chat, payload: { message: 'x', keys } })),
  'results to nobody': flood(
    2,
    envelope({
      kind: Kind.mcpResponse,
      correlationId: 'nothing',
      payload: { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(4_000_000) } },
    }),
  ),
  'endless tails': ({ keepOpen }) => keepOpen(8, async (line) => line.close(), '?tail=9007199254740991'),
  'slow readers': ({ keepOpen, epoch }) =>
    keepOpen(16, async (line) => line.stopReading(), `?after=1&epoch=${epoch}`),
  'event streams': ({ stream }) => stream(64, '/events?after=0'),
  connections: ({ keepOpen }) => keepOpen(32, async (line) => line.close()),
  'wrong tokens': ({ askAsStranger }) => askAsStranger(64),
}
