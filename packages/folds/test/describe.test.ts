import { Describer, type Description, defaultGuard, describe, formatDuration, sentence } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import { expect, test } from 'vitest'

const envelope = (kind: string, payload: object, fields: object = {}): Envelope =>
  ({ kind, id: 'e', seq: 1, ts: '', from: 'bot', payload, ...fields }) as Envelope

/** A payload with the required fields of all kinds. */
const anything = {
  message: 'hello',
  method: 'tools/call',
  params: { name: 'read' },
  result: {},
  reason: 'r',
  recipient: 'ana',
  participantId: 'ana',
  participant: { id: 'ana' },
  capabilities: ['chat'],
  status: 'accepted',
  event: 'update',
  decision: 'denied',
  reasonCode: 'forbidden',
  code: 'forbidden',
  count: 1,
  token: 'meup_secret',
  you: { id: 'ana' },
}

test('every kind reads as a sentence about somebody, and so does one that nobody knows', () => {
  for (const kind of [
    ...Object.values(Kind),
    'reasoning.hypothesis',
    'participant.unknown',
    'deploy.asked',
  ]) {
    const said = sentence(
      describe(envelope(kind, anything, { to: ['ana'], correlationId: 'x' }), defaultGuard),
    )
    expect(said, kind).toMatch(/\b(bot|ana|the space)\b/)
    expect(said, kind).not.toMatch(/undefined|\[object|meup_secret$/)
  }
})

test.for<[Envelope, Partial<Description>, string]>([
  [
    envelope(
      Kind.mcpRequest,
      { method: 'elicitation/create', params: { message: 'Which seat?' } },
      { to: ['ana'] },
    ),
    { verb: 'asks', object: 'ana', tone: 'call' },
    'bot asks ana: Which seat?',
  ],
  [
    envelope(Kind.chat, { message: 'hello', mentions: ['bot'], urgent: true }),
    { detail: 'hello\nurgent: true' },
    'bot says: hello\nurgent: true',
  ],
  // A decision is about its first addressee. Further addressees only read it, because they may restrict that participant.
  [
    envelope(
      Kind.systemDecision,
      {
        decision: 'denied',
        message: 'no',
        reasonCode: 'capability_violation',
        attemptedKind: 'chat',
        count: 1,
      },
      { from: 'system:gateway', to: ['ana', 'system:gateway'] },
    ),
    { actor: 'ana', tone: 'problem' },
    'ana: chat denied: no (capability_violation)',
  ],
  [
    envelope(
      Kind.systemSpace,
      { event: 'erased', seq: 7, id: 'x', by: 'eve', reason: 'a password' },
      { from: 'system:gateway' },
    ),
    { verb: 'erased', tone: 'event' },
    'eve erased the envelope 7 — a password',
  ],
  [
    envelope(Kind.participantRestart, {}, { to: ['ana'] }),
    { verb: 'asks', object: 'ana to restart', tone: 'event' },
    'bot asks ana to restart',
  ],
  [
    envelope('reasoning.hypothesis', { message: 'hypothesis: it rains', phase: 'plan' }),
    { object: 'hypothesis', detail: 'it rains', tone: 'plan' },
    'bot thinks, hypothesis: it rains',
  ],
  [
    envelope('deploy.asked', { env: 'test', password: 'swordfish' }),
    { object: 'deploy.asked', tone: 'other' },
    'bot sends deploy.asked: env: test\npassword: [redacted]',
  ],
  [
    envelope(Kind.spaceInviteAck, { participantId: 'ana', token: 'secret' }),
    { detail: '' },
    'bot admits ana',
  ],
])('%# reads as it should', ([each, fields, text]) => {
  const description = describe(each, defaultGuard)
  expect(description).toMatchObject(fields)
  expect(sentence(description)).toBe(text)
})

test('an answer names the tool of its call, and who may not cancel a context asks its owner', () => {
  const describer = new Describer(defaultGuard, () => 'bot')
  const call = { method: 'tools/call', params: { name: 'read' } }
  const said = [
    envelope(Kind.mcpRequest, call, { id: 'one' }),
    envelope(Kind.mcpResponse, { error: { message: 'locked' } }, { from: 'files', correlationId: 'one' }),
    envelope(Kind.reasoningCancel, { reason: 'lunch' }, { from: 'ana', context: 'run' }),
    envelope(Kind.reasoningCancel, { reason: 'lunch' }, { context: 'run' }),
  ].map((each) => sentence(describer.describe(each)))
  expect(said).toEqual([
    'bot calls read: {}',
    'read of files fails: error: locked',
    'ana asks bot to stop: lunch',
    'bot stops thinking: lunch',
  ])
})

test.each([
  [-5, '0 ms'],
  [34, '34 ms'],
  [440, '0.4 s'],
  [8400, '8.4 s'],
  [59_960, '1 min'],
  [200_000, '3 min 20 s'],
  [7_200_000, '2 h'],
  [7_500_000, '2 h 5 min'],
  [266_400_000, '3 d 2 h'],
])('%i ms are %s', (milliseconds, text) => expect(formatDuration(milliseconds)).toBe(text))

test('a participant whose rights have changed has other capabilities', () => {
  const update = { event: 'update', participant: { id: 'bot', capabilities: ['chat'] } }
  expect(sentence(describe(envelope(Kind.systemPresence, update), defaultGuard))).toBe(
    'bot has other capabilities',
  )
})
