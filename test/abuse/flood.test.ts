import { FakeClock } from '@meup/gateway/testing'
import type { DecisionPayload, ErrorPayload } from '@meup/protocol'
import { expect, test } from 'vitest'
import { type Client, freshId, ofKind, range, type Sent } from '../../packages/gateway/test/client.js'
import { start } from '../../packages/gateway/test/support.js'

const names = ['ana', 'ben', 'cleo', 'dora']
const participants = {
  ...Object.fromEntries(names.map((name) => [name, ['chat']])),
  flooder: ['chat'],
  viewer: ['chat', 'observe.targeted'],
}
const rounds = 50
const roundMs = 100
/** The rate allows one envelope per round; unused rounds are not saved up. */
const rate = { perSecond: 1000 / roundMs, burst: 1 }
const perRound = 10

const plenty = { perSecond: 1e9, burst: 1e9 }
const rates = {
  reasoning: rate,
  chat: rate,
  mcp: rate,
  control: plenty,
  other: rate,
  bytes: plenty,
  results: plenty,
  work: plenty,
  frames: plenty,
}
const chat: Sent = { kind: 'chat', payload: { message: 'hello' } }

/** Sends a chat. Returns whether it was accepted. */
async function say(client: Client): Promise<boolean> {
  const id = freshId()
  client.send({ ...chat, id })
  const answer = await client.next((frame) => frame.id === id || frame.correlationId === id)
  return answer.kind === 'chat'
}

/** Sends a frame many times at once. Returns the codes of the refusals. */
async function flood(client: Client, frame: Sent | string): Promise<string[]> {
  for (const _ of range(1, perRound)) client.send(frame)
  const codes: string[] = []
  for (const _ of range(1, perRound)) {
    const answer = await client.next(
      ({ from, kind }) => from === client.participant || kind === 'system.error',
    )
    if (answer.kind === 'system.error') codes.push((answer.payload as ErrorPayload).code)
  }
  return codes
}

test.for<[what: string, frame: Sent | string]>([
  ['messages', chat],
  ['what it may not send', { kind: 'x.y' }],
  ['what cannot be read', '{'],
])('one that sends ten times too much costs nobody else anything: %s', async ([, frame]) => {
  const clock = new FakeClock()
  const limits = { rates }
  const { connect } = await start({
    participants,
    clock,
    limits,
    others: [{ name: 'elsewhere', participants, limits }],
  })
  const [viewer, flooder] = [await connect('viewer'), await connect('flooder')]
  const senders = await Promise.all([
    ...names.map((name) => connect(name)),
    connect('flooder', { space: 'elsewhere' }),
  ])

  /** Counts the messages of the other participants that were accepted, and collects the refusals of the flooder. */
  const play = async (isFlooded: boolean) => {
    let accepted = 0
    const refused: string[] = []
    for (const _ of range(1, rounds)) {
      clock.advance(roundMs)
      const flooding = isFlooded ? flood(flooder, frame) : []
      accepted += (await Promise.all(senders.map(say))).filter(Boolean).length
      refused.push(...(await flooding))
    }
    return { accepted, refused }
  }
  const alone = await play(false)
  const attacked = await play(true)
  expect(alone.accepted).toBe(senders.length * rounds)
  expect(attacked.accepted / alone.accepted).toBeGreaterThanOrEqual(0.95)
  expect(attacked.refused.length).toBeGreaterThanOrEqual((perRound - 1) * rounds)

  clock.advance(1000)
  await say(viewer)
  const heard = viewer.frames.filter(({ kind, from }) => kind === 'chat' && names.includes(from))
  expect(heard.length).toBeGreaterThanOrEqual(0.95 * 2 * names.length * rounds)

  // The log counts all refusals, but in a number of `system.decision` envelopes that does not grow with the flood.
  const records = viewer.frames
    .filter(ofKind('system.decision'))
    .map(({ payload }) => payload as DecisionPayload)
  const seconds = (rounds * roundMs) / 1000
  for (const code of new Set(attacked.refused)) {
    const those = records.filter(({ reasonCode }) => reasonCode === code)
    const isDecision = code !== 'invalid_json'
    const total = those.reduce((sum, { count }) => sum + count, 0)
    expect([code, total]).toEqual([
      code,
      isDecision ? attacked.refused.filter((each) => each === code).length : 0,
    ])
    expect(those.length).toBeLessThanOrEqual(2 * (seconds + 1))
  }
  expect(attacked.refused).toContain('rate_limited')
})
