import { GATEWAY, maxNesting } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, type Client, ofKind, type Sent, said } from './client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], reader: ['chat'] }
const utf8 = new TextEncoder()

/** A frame whose `payload` nests arrays to this depth. */
const nested = (levels: number): string =>
  `{"id":"deep","kind":"x.y","payload":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`

/**
 * Expects that the sender can continue, that other participants receive no trace of the refusal, and that the log only has
 * records of denials.
 */
async function expectNothingHappened(
  sender: Client,
  other: Client,
  seq: number,
  records: 0 | 1 = 0,
): Promise<void> {
  const after = await sender.accepted({ kind: 'chat', payload: { message: 'after' } })
  expect(after.seq).toBe(seq + records + 1)
  expect(said(await other.until(byId(after.id)))).toEqual([after.id])
}

async function twoInASpace() {
  const { connect } = await start({ participants })
  const [alice, bob] = [await connect('alice'), await connect('bob')]
  const { id, seq } = await alice.accepted({ kind: 'chat', payload: { message: 'before' } })
  await bob.next(byId(id))
  return { alice, bob, seq, connect }
}

describe('what cannot be read', () => {
  test.for<[string, string | Uint8Array, string?]>([
    ['an empty frame', ''],
    ['one byte', '{'],
    ['white space', ' \n'],
    ['text', 'hello'],
    ['null', 'null'],
    ['an array', '[{"kind":"chat"}]'],
    ['two objects', '{"kind":"chat"}{"kind":"chat"}'],
    ['a repeated key', '{"id":"twice","kind":"chat","kind":"chat","payload":{"message":"x"}}', 'twice'],
    ['a repeated key, once escaped', '{"kind":"chat","\\u006bind":"chat","payload":{"message":"x"}}'],
    ['a repeated key far down', '{"kind":"x.y","payload":{"a":[{"b":1,"b":1}]}}'],
    ['a lone surrogate', '{"kind":"chat","payload":{"message":"\\ud83d"}}'],
    ['a lone surrogate in a key', '{"kind":"x.y","payload":{"\\udc00":1}}'],
    ['__proto__', '{"kind":"x.y","payload":{"__proto__":{"admin":true}}}'],
    [`${maxNesting + 1} levels`, nested(maxNesting + 1), 'deep'],
    ['a lone surrogate behind an id', '{"kind":"chat","payload":{"message":"\\ud83d"},"id":"late"}', 'late'],
    ['__proto__ behind an id', '{"id":"own","kind":"x.y","payload":{"__proto__":{"id":"other"}}}', 'own'],
    ['an id that is none', '{"id":"not one","kind":"chat","payload":{"message":"\\ud83d"}}'],
    ['two ids', '{"id":"one","id":"two","kind":"chat","payload":{"message":"x"}}'],
    ['half an object with an id', '{"id":"half","kind":"chat"'],
    ['a hundred thousand levels', '['.repeat(100_000)],
    ['a binary frame', utf8.encode('{"kind":"chat","payload":{"message":"binary"}}')],
    ['bytes that are no text', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)],
  ])('%s: invalid_json', async ([, frame, id]) => {
    const { alice, bob, seq } = await twoInASpace()
    alice.send(frame)
    const error = await alice.next(ofKind('system.error'))
    expect(error).toMatchObject({ from: GATEWAY, to: ['alice'], payload: { code: 'invalid_json' } })
    expect(error).not.toHaveProperty('seq')
    expect(error.correlationId).toBe(id)
    await expectNothingHappened(alice, bob, seq)
  })

  test(`${maxNesting} levels are fine`, async () => {
    const { alice, bob } = await twoInASpace()
    alice.send(nested(maxNesting))
    expect(await bob.next(byId('deep'))).toMatchObject({ kind: 'x.y' })
  })
})

const response = { kind: 'mcp.response', payload: { jsonrpc: '2.0', id: 1, result: {} } }
const withdrawal = { kind: 'mcp.withdraw', payload: { reason: 'late' } }
const thought = { kind: 'reasoning.thought', payload: { message: 'hm' } }
const pause = { kind: 'participant.pause', to: ['bob'] }
const chat = { kind: 'chat', payload: { message: 'x' } }
const long = 'x'.repeat(64)
const free = { kind: 'x.y', payload: {} }
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}`)

const refused: [code: string, path: string | undefined, sent: Sent][] = [
  ['invalid_envelope', '/kind', { payload: {} }],
  ['invalid_envelope', '/kind', { ...free, kind: 'Chat' }],
  ['invalid_envelope', '/kind', { ...free, kind: 'a.b.c.d.e' }],
  ['invalid_envelope', '/kind', { ...free, kind: `x.${'y'.repeat(127)}` }],
  ['invalid_envelope', '/seq', { ...chat, seq: 7 }],
  ['invalid_envelope', '/colour', { ...chat, colour: 'red' }],
  ['invalid_envelope', '/to', { ...chat, to: 'bob' }],
  ['invalid_envelope', '/to', { ...chat, to: many(65) }],
  ['invalid_envelope', '/to/1', { ...chat, to: ['bob', 'b b'] }],
  ['invalid_envelope', '/payload', { kind: 'x.y', payload: [] }],
  ['invalid_envelope', '/context', { ...chat, context: 7 }],
  [
    'invalid_envelope',
    '/parallelGroup',
    { kind: 'mcp.request', payload: { method: 'm' }, parallelGroup: -1 },
  ],
  ['invalid_envelope', '/rationale', { ...chat, rationale: 'why not' }],
  ['invalid_envelope', '/parallelGroup', { ...chat, parallelGroup: 0 }],
  ['invalid_envelope', '/rationale', { kind: 'chat.cancel', correlationId: 'x', rationale: 'why not' }],
  ['invalid_envelope', '/correlationId', response],
  ['invalid_envelope', '/correlation_id', { ...chat, correlationId: 'a', correlation_id: 'b' }],
  ['invalid_envelope', '/payload/text', { kind: 'chat', payload: { message: 'a', text: 'b' } }],
  ['invalid_envelope', '/correlationId', { kind: 'chat.acknowledge' }],
  ['invalid_envelope', '/correlationId', { kind: 'chat.cancel' }],
  ['invalid_envelope', '/correlationId', withdrawal],
  ['invalid_envelope', '/correlationId', { kind: 'mcp.reject', payload: { reason: 'no' } }],
  ['invalid_envelope', '/to', { kind: 'participant.request-status' }],
  ['invalid_envelope', '/to', { kind: 'participant.shutdown', to: [] }],
  ['invalid_envelope', '/to', { kind: 'participant.pause' }],
  ['invalid_envelope', '/to', { kind: 'participant.resume', to: [] }],
  ['invalid_context', '/context', thought],
  ['invalid_context', '/context', { kind: 'reasoning.conclusion' }],
  ['invalid_context', '/context', { kind: 'reasoning.cancel' }],
  ['invalid_context', '/context', { kind: 'reasoning.hypothesis' }],
  ...['', '/', '/a', 'a/', 'a//b', 'a b', 'a.b', 'ä', 'a/b/c/d/e/f', 'x'.repeat(65)].map(
    (context): [string, string, Sent] => ['invalid_context', '/context', { ...thought, context }],
  ),
  ['invalid_context', '/context', { ...chat, context: [long, long, long, long].join('/') }],
  ['unsupported_protocol', '/protocol', { ...chat, protocol: 'meup/v0.2' }],
  ['sender_mismatch', '/from', { ...chat, from: 'bob' }],
  ['sender_mismatch', '/from', { ...chat, from: GATEWAY }],
  ...['chat.x', 'mcp.x', 'observe.x', 'capability.x', 'space.x', 'participant.x', 'stream.x', 'stream'].map(
    (kind): [string, string, Sent] => ['unknown_kind', '/kind', { ...free, kind }],
  ),
  ...[
    'system.welcome',
    'system.error',
    'system.presence',
    'system.space',
    'system.x',
    'space.invite-ack',
  ].map((kind): [string, string, Sent] => ['reserved_kind', '/kind', { ...free, kind }]),
  [
    'participant_not_found',
    '/payload/recipient',
    { kind: 'capability.grant', payload: { recipient: 'eve', capabilities: ['chat'] } },
  ],
  [
    'invalid_payload',
    '/payload/capabilities/1/kind',
    { kind: 'capability.grant', payload: { recipient: 'bob', capabilities: ['chat', { kind: 're:(' }] } },
  ],
  [
    'not_found',
    '/payload/grantId',
    { kind: 'capability.revoke', payload: { recipient: 'bob', grantId: 'g' } },
  ],
  ['invalid_envelope', '/correlationId', { kind: 'capability.grant-ack', payload: { status: 'accepted' } }],
  ['invalid_payload', '/payload/capabilities', { kind: 'space.invite', payload: { participantId: 'eve' } }],
  [
    'participant_not_found',
    '/payload/participantId',
    { kind: 'space.kick', payload: { participantId: 'eve' } },
  ],
  [
    'run_not_active',
    '/payload/context',
    { kind: 'observe.visibility', payload: { context: 'c', reasoningVisible: false } },
  ],
  ['participant_not_found', '/to/1', { ...chat, to: ['bob', 'nobody'] }],
  ['not_found', '/correlationId', { ...response, correlationId: 'never-asked' }],
  ['not_found', '/correlationId', { ...response, correlationId: ['never-asked', 'nor-this'] }],
  ['proposal_not_found', '/correlationId', { ...withdrawal, correlationId: 'never-proposed' }],
  [
    'proposal_not_found',
    '/correlationId',
    { kind: 'mcp.reject', correlationId: 'never-proposed', payload: { reason: 'no' } },
  ],
  ['invalid_payload', '/payload/timeoutSeconds', { ...pause, payload: { timeoutSeconds: 0 } }],
  ['invalid_payload', '/payload/message', { kind: 'chat' }],
  ['invalid_payload', '/payload/message', { kind: 'chat', payload: { message: 7 } }],
  ['invalid_payload', '/payload/format', { kind: 'chat', payload: { message: 'x', format: 'html' } }],
  ['invalid_payload', '/payload/method', { kind: 'mcp.request', payload: { id: 1 } }],
  ['invalid_payload', '/payload/uses', { kind: 'mcp.proposal', payload: { method: 'm', uses: 0 } }],
  ['invalid_payload', '/payload/phase', { ...thought, context: 'c', payload: { phase: 'dreaming' } }],
  ['invalid_payload', '/payload/metadata', { kind: 'reasoning.start', payload: { metadata: 'x' } }],
  ['invalid_payload', '/payload/reasoning', { kind: 'observe.subscribe', payload: { reasoning: 'some' } }],
  ['invalid_payload', '/payload/colour', { kind: 'observe.subscribe', payload: { colour: 'red' } }],
  ...['contexts', 'excludeContexts', 'from', 'kinds'].flatMap((field): [string, string, Sent][] => [
    [
      'invalid_payload',
      `/payload/${field}/1`,
      { kind: 'observe.subscribe', payload: { [field]: ['a', 're:('] } },
    ],
    ['invalid_payload', `/payload/${field}`, { kind: 'observe.subscribe', payload: { [field]: [] } }],
  ]),
]

describe('what is read and refused', () => {
  test.for(refused)('%s at %s: %j', async ([code, path, sent]) => {
    const { alice, bob, seq } = await twoInASpace()
    alice.send({ ...sent, id: 'offending' })
    const error = await alice.next(ofKind('system.error'))
    expect(error).toMatchObject({
      from: GATEWAY,
      to: ['alice'],
      correlationId: 'offending',
      payload: { code, message: expect.stringMatching(/\w/), details: { path } },
    })
    expect(error).not.toHaveProperty('seq')
    const isRefusal = code === 'sender_mismatch' || code === 'reserved_kind'
    await expectNothingHappened(alice, bob, seq, isRefusal ? 1 : 0)
  })

  test.for(['', 'a b', 'ä', 'x'.repeat(65), 7, null])('an id %j is not given back', async (id) => {
    const { alice, bob, seq } = await twoInASpace()
    alice.send(JSON.stringify({ ...chat, id }))
    const error = await alice.next(ofKind('system.error'))
    expect(error.payload).toMatchObject({ code: 'invalid_envelope', details: { path: '/id' } })
    expect(error).not.toHaveProperty('correlationId')
    await expectNothingHappened(alice, bob, seq)
  })

  test('what a participant may not do: capability_violation, with what it may', async () => {
    const { alice, bob, connect } = await twoInASpace()
    const reader = await connect('reader')
    await bob.next(ofKind('system.presence'))
    const { seq } = await alice.accepted(chat)
    await bob.next(ofKind('chat'))
    expect(await reader.refused({ kind: 'mcp.request', payload: { method: 'tools/list' } })).toEqual({
      code: 'capability_violation',
      message: expect.stringContaining('reader'),
      attemptedKind: 'mcp.request',
      capabilities: ['chat'],
      details: { missing: 'mcp.request' },
    })
    await expectNothingHappened(reader, bob, seq, 1)
  })

  test('a context may be 255 characters long', async () => {
    const { alice } = await twoInASpace()
    const context = [long, long, long, 'x'.repeat(60)].join('/')
    expect(await alice.accepted({ ...chat, context })).toMatchObject({ context })
  })

  test('a context nested deeper than the space allows is not opened', async () => {
    const { alice, bob } = await twoInASpace()
    const open = (id: string, context?: string) =>
      alice.accepted({ id, kind: 'reasoning.start', ...(context && { context }) })
    for (const [id, context] of [
      ['a'],
      ['b', 'a'],
      ['c', 'a/b'],
      ['d', 'a/b/c'],
      ['e', 'a/b/c/d'],
    ] as const) {
      await open(id, context)
    }
    const { seq } = await alice.accepted({ id: 'last', ...thought, context: 'a/b/c/d/e' })
    await bob.next(byId('last'))
    expect(await alice.refused({ kind: 'reasoning.start', context: 'a/b/c/d/e' })).toMatchObject({
      code: 'invalid_context',
      details: { path: '/context' },
    })
    await expectNothingHappened(alice, bob, seq)
  })
})
