import { HttpClient } from '@meup/agent-sdk/http'
import { expect, test } from 'vitest'
import { PendingProposals } from '../src/join/pending-proposals.js'
import { envelope } from './support/turns.js'

const proposal = (seq: number) =>
  envelope(seq, 'mcp.proposal', 'ben', {
    to: ['files'],
    payload: { method: 'tools/call', params: { name: 'read' } },
  })

test.for([
  ['whose proposer is kicked', envelope(3, 'space.kick', 'ana', { payload: { participantId: 'ben' } })],
  [
    'that is pruned',
    envelope(3, 'system.space', 'system:gateway', { payload: { event: 'pruned', through: 2 } }),
  ],
] as const)('a proposal %s waits no more', async ([, end]) => {
  const pending = new PendingProposals({ id: 'ana', can: () => true })
  await pending.read(new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })).catch(() => {})
  for (const each of [proposal(1), proposal(2)]) pending.onEnvelope(each)
  expect(pending.list()).toHaveLength(2)
  pending.onEnvelope(end)
  expect(pending.list()).toEqual([])
})

const proposes = (id: number, name: string, args: object) =>
  envelope(id, 'mcp.proposal', 'ben', {
    to: ['files'],
    payload: { method: 'tools/call', params: { name, arguments: args } },
  })

async function waiting(can = true) {
  const pending = new PendingProposals({ id: 'ana', can: () => can })
  await pending.read(new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })).catch(() => {})
  return pending
}

test('what is asked for is a change, a few arguments, or JSON; secrets are masked', async () => {
  const pending = await waiting()
  const edits = [{ oldText: 'port 80', newText: 'port 8080' }]
  const cards = [
    proposes(1, 'edit_file', { path: 'a.txt', edits }),
    proposes(2, 'refund', { order: 4711, password: 'hunter2' }),
    proposes(3, 'refund', { order: { id: 4711 } }),
  ].map((each) => {
    pending.onEnvelope(each)
    return pending.card(each.id)
  })
  expect(cards).toEqual([
    ['    edit a.txt, 1 line', '    -port 80', '    +port 8080'],
    ['    order     4711', '    password  [redacted]'],
    [expect.stringContaining('{"name":"refund","arguments":{"order":{"id":4711}}}')],
  ])
})

test('y and n are for the one that waits longest, once all of it was shown, to who may decide it', async () => {
  const pending = await waiting()
  for (const id of [1, 2]) pending.onEnvelope(proposes(id, 'refund', { order: id }))
  expect(pending.offer()).toMatchObject({ proposal: { id: 'e1' }, since: undefined })
  expect(pending.summary()).toMatch(/^⚠ 2 pending · ben: files\/refund .*Ctrl\+P shows it$/)
  pending.card('e1', 5)
  expect(pending.offer()?.since).toBeGreaterThan(5) // It was named later than it was shown.
  expect(pending.summary()).toMatch(/^⚠ 2 pending · y\/n · ben: files\/refund/)
  for (const args of [
    { path: 'a', content: `${'x'.repeat(9000)}EVIL` },
    { path: 'a', content: `a\n${'b'.repeat(4000)}\n${'c'.repeat(4200)}\nrm -rf /` },
    { password: 'rm -rf /', user: 'bob' },
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
