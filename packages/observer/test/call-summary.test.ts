import { summarizeCall, summarizeCalls } from '@meup/observer/model'
import { describe, expect, test } from 'vitest'
import { Script } from './support.js'

const call = (name: string, args: object, _meta?: object) => ({
  method: 'tools/call',
  params: { name, arguments: args, ...(_meta && { _meta }) },
})

describe('a call says what it does', () => {
  const cases: readonly (readonly [name: string, args: object, shown: object])[] = [
    ['read_file', { path: 'src/db/pool.ts' }, { sort: 'read', verb: 'Read', object: 'pool.ts' }],
    ['view', { file_path: 'C:\\src\\a.ts' }, { sort: 'read', verb: 'Read', object: 'a.ts' }],
    ['bash', { command: 'npm test', description: 'tests' }, { sort: 'run', verb: 'Run', object: 'npm test' }],
    ['grep', { pattern: 'TODO' }, { sort: 'search', verb: 'Search', object: 'TODO' }],
    [
      'edit_file',
      { path: 'src/sum.js', edits: [{ oldText: 'a', newText: 'b' }] },
      { sort: 'edit', verb: 'Edit', object: 'sum.js', added: 1, removed: 1 },
    ],
    [
      'write_file',
      { path: 'new.txt', content: 'a\nb' },
      { sort: 'edit', verb: 'Write', object: 'new.txt', added: 2 },
    ],
    ['release', { version: '1.4.2' }, { sort: 'other', verb: undefined, object: '1.4.2' }],
    ['release', { version: 'next', to: 'prod' }, { sort: 'other', object: 'version next, to prod' }],
    ['list', { deep: { folder: ['src'] }, all: true }, { object: 'deep {…}, all true' }],
    ['login', { password: 'hunter2' }, { object: expect.not.stringContaining('hunter2') }],
    ['publish_file', { path: 'a.txt' }, { sort: 'other', verb: undefined }],
  ]
  for (const [name, args, shown] of cases)
    test(`${name} ${JSON.stringify(args)}`, () =>
      expect(summarizeCall(call(name, args))).toMatchObject(shown))

  test('by the kind that a coding agent names', () => {
    expect(summarizeCall(call('open_it', { filePath: 'a/b.ts' }, { kind: 'read' }))).toMatchObject({
      verb: 'Read',
      object: 'b.ts',
    })
  })
})

test('calls are counted by what they did', () => {
  const edit = (path: string) => call('edit_file', { path, edits: [{ oldText: 'a', newText: 'b' }] })
  const calls = [
    edit('a.ts'),
    edit('a.ts'),
    call('bash', { command: 'ls' }),
    call('bash', { command: 'pwd' }),
  ]
  expect(summarizeCalls([...calls, call('read', { path: 'a' }), call('deploy', {})])).toBe(
    'edited 1 file, ran 2 commands, read 1 file, called 1 tool',
  )
  expect(summarizeCalls([call('deploy', {}), call('release', {})])).toBe('2 tools')
  expect(summarizeCalls([])).toBe('')
})

test('a command that ends with another code than 0 has failed, whatever its tool says', () => {
  const script = new Script()
  const run = script.start('bot', 'Testing')
  const params = { name: 'bash', arguments: { command: 'node test.js' } }
  const request = script.call('bot', run.id, 'bash', { payload: { method: 'tools/call', params } })
  const result = {
    content: [{ type: 'text', text: 'expected 4\ngot 5' }],
    structuredContent: { exitCode: 1, locations: [{ path: 'a' }] },
  }
  script.say({
    from: 'tools',
    to: ['bot'],
    kind: 'mcp.response',
    correlationId: request.id,
    payload: { result },
  })
  const model = script.read()
  model.chooseAll('all')
  const row = model.lists.stream.rows.find(({ type }) => type === 'call')
  expect(row).toMatchObject({
    hasFailed: true,
    exitCode: 1,
    size: '2 lines',
    summary: { object: 'node test.js' },
  })
})

test('a proposal that was carried out is one row with its call', () => {
  const script = new Script()
  const run = script.start('bot', 'Editing')
  const proposal = script.propose('bot', run.id, 'release')
  const { kind: _, payload, to = [] } = proposal
  script.say({ from: 'ana', to, kind: 'mcp.request', context: run.id, correlationId: proposal.id, payload })
  const model = script.read()
  model.chooseAll('all')
  const rows = model.lists.stream.rows.slice(1)
  expect(rows).toMatchObject([
    { type: 'call', approvedBy: 'ana', proposedBy: 'bot', rationale: 'it is time' },
  ])
  expect(model.getLineId(proposal)).toBe(rows[0]?.envelope.id)
})
