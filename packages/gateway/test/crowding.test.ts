import { type Envelope, PROTOCOL } from '@meup/protocol'
import { expect, test } from 'vitest'
import { SpaceState } from '../src/core/state/state.js'

const encoder = new TextEncoder()
let seq = 0

function say(
  state: SpaceState,
  from: string,
  kind: string,
  id: string,
  fields: Partial<Envelope> = {},
): void {
  const ts = '2026-01-01T00:00:00.000Z'
  const envelope: Envelope = { protocol: PROTOCOL, id, seq: ++seq, ts, from, kind, payload: {}, ...fields }
  state.apply(envelope, encoder.encode(JSON.stringify(envelope)))
}

/** A state with one request and one proposal of ana, followed by `times` of each from eve and mallory, most from mallory. */
function crowded(times: number): SpaceState {
  const state = new SpaceState()
  const payload = { method: 'tools/call' }
  for (const [kind, what] of [
    ['mcp.request', 'asked'],
    ['mcp.proposal', 'proposed'],
  ] as const) {
    say(state, 'ana', kind, what, { to: ['tools'], payload })
    for (let n = 0; n < times; n++) {
      say(state, n % 3 === 0 ? 'eve' : 'mallory', kind, `${what}-${n}`, { to: ['tools'], payload })
    }
  }
  return state
}

test('whoever asks and proposes the most is forgotten first, and nobody else', () => {
  const state = crowded(12_000)
  expect(state.calls.request('asked')).toMatchObject({ from: 'ana' })
  expect(state.calls.proposal('proposed', 0)).toMatchObject({ from: 'ana' })
  expect(state.calls.request('asked-0'), 'eve has asked less than mallory').toMatchObject({ from: 'eve' })
  expect([state.calls.request('asked-1'), state.calls.request('asked-11999')]).toMatchObject([
    undefined,
    { from: 'mallory' },
  ])
  expect(state.calls.proposals(0)).toHaveLength(10_000)
})

test('a snapshot goes on to forget the same', () => {
  const state = crowded(9_999)
  const again = SpaceState.from(state.toSnapshot(), state.seq)
  const before = seq
  for (const each of [state, again]) {
    seq = before
    for (let n = 0; n < 5000; n++) {
      say(each, n % 2 === 0 ? 'eve' : 'ana', 'mcp.request', `more-${n}`, { payload: { method: 'ping' } })
    }
  }
  expect(Buffer.compare(again.toSnapshot(), state.toSnapshot())).toBe(0)
})
