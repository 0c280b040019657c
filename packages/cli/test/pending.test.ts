import { HttpClient } from '@meup/agent-sdk/http'
import { parseExact } from '@meup/protocol'
import { expect, test } from 'vitest'
import { PendingProposals } from '../src/join/pending-proposals.js'
import { envelope } from './support/turns.js'

/**
 * Proposals as ana sees them, who may approve whatever is addressed to her. `proposals`: those that her connection has
 * received.
 */
const createPending = (proposals: object = {}): PendingProposals =>
  new PendingProposals({
    id: 'ana',
    proposals: { get: () => undefined, mayApprove: () => true, ...proposals },
  } as never)

const proposes = (id: number, name: string, args: object) =>
  envelope(id, 'mcp.proposal', 'ben', {
    to: ['files'],
    payload: { method: 'tools/call', params: { name, arguments: args } },
  })

async function waiting(can = true) {
  const pending = createPending({ mayApprove: () => can })
  await pending.read(new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })).catch(() => {})
  return pending
}

test('what is asked for is a change, a few arguments, or JSON; secrets are masked for who does not decide', async () => {
  const [pending, onlooker] = [await waiting(), await waiting(false)]
  const edits = [{ oldText: 'port 80', newText: 'port 8080' }]
  const cards = [
    proposes(1, 'edit_file', { path: 'a.txt', edits }),
    proposes(2, 'refund', { order: 4711, password: 'hunter2' }),
    proposes(3, 'refund', { order: { id: 4711 } }),
  ].map((each) => {
    pending.onEnvelope(each)
    onlooker.onEnvelope(each)
    return pending.card(each.id)
  })
  expect(cards).toEqual([
    ['    edit a.txt, 1 line', '    -port 80', '    +port 8080'],
    ['    order     4711', '    password  hunter2'],
    expect.arrayContaining(['            "id": 4711']),
  ])
  expect(onlooker.card('e2')).toEqual(['    order     4711', '    password  [redacted]'])
})

test('a change beside other arguments is shown as a change, above all that is asked for', async () => {
  const pending = await waiting()
  const diffs = [{ path: 'a.txt', oldText: 'one', newText: 'two' }]
  const proposal = proposes(1, 'edit', { filepath: 'a.txt', diffs })
  pending.onEnvelope(proposal)
  const card = pending.card(proposal.id)
  expect(card.slice(0, 4)).toEqual(['    edit a.txt, 1 line', '     a.txt', '    -one', '    +two'])
  expect(card.join('\n')).toContain('"filepath": "a.txt"')
})

test('y and n are for the one that waits longest, once all of it was shown, to who may decide it', async () => {
  const pending = await waiting()
  for (const id of [1, 2]) pending.onEnvelope(proposes(id, 'refund', { order: id }))
  expect(pending.offer()).toMatchObject({ proposal: { id: 'e1' }, since: undefined })
  expect(pending.summary()).toMatch(/^⚠ 2 pending · ben: files\/refund .*Ctrl\+P shows it$/)
  pending.card('e1', 5)
  expect(pending.offer()?.since).toBeGreaterThan(5) // The time of the offer, which is later than the card.
  expect(pending.summary()).toMatch(/^⚠ 2 pending · y\/n · ben: files\/refund/)
  for (const args of [
    { path: 'a', content: `${'x'.repeat(9000)}EVIL` },
    { path: 'a', content: `a\n${'b'.repeat(4000)}\n${'c'.repeat(4200)}\nrm -rf /` },
    { text: 'x'.repeat(5000) },
    { order: 2 ** 60 },
    { deep: { order: 2 ** 60 } },
  ]) {
    const other = await waiting()
    other.onEnvelope(proposes(3, 'write_file', args))
    other.card('e3')
    expect([args, other.offer()?.since]).toEqual([args, undefined])
  }
  const onlooker = await waiting(false)
  onlooker.onEnvelope(proposes(1, 'refund', { order: 1 }))
  expect(onlooker.offer()).toBeUndefined()
  expect(onlooker.summary()).toMatch(/Ctrl\+P$/)
})

test('the next proposal is offered when one is withdrawn, and since when is known', async () => {
  const pending = await waiting()
  for (const id of [1, 2]) {
    pending.onEnvelope(proposes(id, 'refund', { order: id }))
    pending.card(`e${id}`, 1000)
  }
  expect(pending.offer(2000)).toMatchObject({ proposal: { id: 'e1' }, since: 2000 })
  pending.onEnvelope(
    envelope(3, 'mcp.withdraw', 'ben', { correlationId: 'e1', payload: { reason: 'mistaken' } }),
  )
  expect(pending.offer(3000)).toMatchObject({ proposal: { id: 'e2' }, since: 3000 })
  expect(pending.endedAt).toBe(3000)
})

const readShown = (lines: readonly string[]): unknown => JSON.parse(lines.join('\n'))

test.for([
  ['a secret in a list', { list: [{ token: 'rm -rf ~' }] }, '"token": "rm -rf ~"'],
  ['bidi', { command: 'ls \u202e', deep: {} }, '"command": "ls \\u202e"'],
  ['zero width', { 'pa\u200bth': 'a' }, '"pa\\u200bth": "a"'],
  ['an escape sequence', { command: 'ls\u001b[2K', deep: {} }, '"command": "ls\\u001b[2K"'],
] as const)('what a card shows is what is sent: %s', async ([, args, shown]) => {
  const pending = await waiting()
  pending.onEnvelope(proposes(1, 'run', args))
  const card = pending.card('e1')
  expect(card.join('\n')).toContain(shown)
  expect(readShown(card)).toMatchObject({ to: ['files'], params: { name: 'run', arguments: args } })
  expect(pending.isShown('e1')).toBe(true)
})

test('what does not fit a card is shown whole where all of it is asked for, and then counts as shown', async () => {
  const pending = await waiting()
  pending.onEnvelope(proposes(1, 'run', { comment: '-'.repeat(8000), command: 'rm -rf ~', deep: {} }))
  pending.card('e1')
  expect(pending.isShown('e1')).toBe(false)
  expect(pending.lines().join('\n')).toContain('"command": "rm -rf ~"')
  expect([pending.isShown('e1'), pending.offer()?.since]).toEqual([true, expect.any(Number)])
})

test('what is longer than a terminal shows is never shown here, and the card says where it is', async () => {
  const pending = await waiting()
  pending.onEnvelope(proposes(1, 'run', { comment: '-'.repeat(20_000), command: 'rm -rf ~', deep: {} }))
  expect(pending.lines().join('\n')).toContain('meup proposals show e1')
  expect([pending.isShown('e1'), pending.offer()?.since]).toEqual([false, undefined])
})

test('a card says in which context, how often and until when', async () => {
  const pending = await waiting()
  const expiresAt = '2999-01-02T03:04:05.000Z'
  pending.onEnvelope(
    envelope(1, 'mcp.proposal', 'ben', {
      to: ['files'],
      context: 'run',
      payload: { method: 'tools/call', params: { name: 'read', arguments: { n: 1 } }, uses: 3, expiresAt },
    }),
  )
  expect(pending.card('e1')).toEqual(['    n  1', `    in run · 3 times · until ${expiresAt}`])
})

test('numbers keep their digits', async () => {
  const args = parseExact('{"order":12345678901234567890}') as object
  const pending = createPending()
  await pending.read(new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })).catch(() => {})
  pending.onEnvelope(proposes(1, 'refund', args))
  expect(pending.card('e1').join('\n')).toContain('12345678901234567890')
  expect(pending.isShown('e1')).toBe(true)
})

test('what comes while the log is read is shown whole, and may be decided when it was read', async () => {
  const known = { ...proposes(1, 'refund', { order: 7 }), method: 'tools/call', usesLeft: 1, rejectedBy: [] }
  const pending = createPending({
    get: () => ({ ...known, to: ['files'], params: { name: 'refund', arguments: { order: 7 } } }),
  })
  pending.onEnvelope(proposes(1, 'refund', { order: 7 }))
  expect(pending.card('e1').join('\n')).toContain('order')
  expect(pending.isShown('e1')).toBe(true)
  await pending.read(new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })).catch(() => {})
  expect(pending.offer()).toMatchObject({ proposal: { id: 'e1' }, since: expect.any(Number) })
})
