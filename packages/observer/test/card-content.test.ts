import { describeCard, SeenParts, summarizeProposal } from '@meup/observer/model'
import { expect, test } from 'vitest'

const call = (name: unknown, args: object, more: object = {}) => ({
  method: 'tools/call',
  params: { name, arguments: args },
  ...more,
})

test('a change and a few settings say all that is sent; JSON has to be seen beside everything else', () => {
  expect(summarizeProposal(call('write_file', { path: 'a', content: 'b' })).needed).toEqual(['change'])
  expect(summarizeProposal(call('refund', { order: 4711 })).needed).toEqual(['settings'])
  expect(summarizeProposal(call('refund', { order: { id: 4711 } })).needed).toEqual(['exact'])
  expect(summarizeProposal(call('write_file', { path: 'a', content: 'b', mode: 'x' })).needed).toEqual([
    'change',
    'exact',
  ])
})

test.for([
  ['a name that is not what it seems', call('refun\u200bd', { order: 4711 })],
  ['a name with a letter of another script', call('r\u0435fund', { order: 4711 })],
  ['a long name', call('x'.repeat(300), { order: 4711 })],
  ['another method', call('refund', { order: 4711 }, { method: 'prompts/get' })],
  [
    'files with further fields',
    call('edit', { diffs: [{ path: 'a', oldText: 'b', newText: 'c', run: 'x' }] }),
  ],
  [
    'files beside others',
    {
      method: 'tools/call',
      params: { name: 'edit', arguments: { diffs: [{ path: 'a', newText: 'c' }] }, _meta: { x: 1 } },
    },
  ],
  [
    'lines that are left out',
    call('edit_file', {
      path: 'a',
      edits: [{ oldText: `${'x\n'.repeat(50)}a`, newText: `${'x\n'.repeat(50)}b` }],
    }),
  ],
] as const)('the JSON has to be seen with %s', ([, payload]) => {
  expect(summarizeProposal(payload).needed).toContain('exact')
})

test('the kind of a call says nothing that is to be seen', () => {
  const edit = { name: 'edit', arguments: { diffs: [{ path: 'a', oldText: 'b', newText: 'c' }] } }
  const needed = (params: object) => summarizeProposal({ method: 'tools/call', params }).needed
  expect(needed({ ...edit, _meta: { kind: 'edit' } })).toEqual(['change'])
  expect(needed({ name: 'bash', arguments: { command: 'npm test' }, _meta: { kind: 'execute' } })).toEqual([
    'settings',
  ])
  for (const _meta of [{ kind: 'rm -rf' }, { kind: 'edit', as: 'root' }, { as: 'root' }, 'edit', {}])
    expect(needed({ ...edit, _meta })).toContain('exact')
})

test('a card that is cut is not whole until all of it is asked for', () => {
  const payload = call('run', { comment: { text: '-'.repeat(16_000) } })
  const exact = { method: payload.method, params: payload.params }
  const [first, all] = [describeCard(payload, exact, false), describeCard(payload, exact, true)]
  expect([first.isApprovable, first.isCut, all.isApprovable, all.isCut]).toEqual([false, true, true, false])
  const lines = call('write_file', { path: 'a', content: 'b\n'.repeat(201) })
  expect(describeCard(lines, { method: lines.method, params: lines.params }, false).isApprovable).toBe(false)
})

test('a card whose numbers JSON cannot hold is complete, and still not approvable', () => {
  const payload = call('pay', { amount: 2 ** 60, to: { account: [1] } })
  const card = describeCard(payload, { method: payload.method, params: payload.params }, true)
  expect([card.isApprovable, card.isCut]).toEqual([false, false])
})

test('a proposal is seen once each of its parts was, and not when it has become longer', () => {
  const seen = new SeenParts()
  expect([seen.add('p', 'change', 7), seen.add('p', 'change', 7)]).toEqual([true, false])
  expect(seen.hasAll('p', ['change', 'exact'], 7)).toBe(false)
  seen.add('p', 'exact', 7)
  expect([seen.hasAll('p', ['change', 'exact'], 7), seen.hasAll('q', ['exact'], 7)]).toEqual([true, false])
  expect(seen.hasAll('p', ['change'], 8)).toBe(false)
})

test('arguments show beside what only a program reads, and all of it has to be seen', () => {
  const payload = {
    method: 'tools/call',
    params: { name: 'bash', arguments: { command: 'npm test' }, _meta: { x: 1 } },
  }
  expect(summarizeProposal(payload)).toMatchObject({
    settings: [['command', 'npm test']],
    isAll: false,
    needed: ['settings', 'exact'],
  })
})
