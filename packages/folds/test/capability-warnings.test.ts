import { findCapabilityWarnings } from '@meup/folds'
import type { Capability } from '@meup/protocol'
import { expect, test } from 'vitest'

const participants = ['ana', 'files', 'shell']
const find = (capabilities: readonly Capability[]) => findCapabilityWarnings(capabilities, participants)

const running = (command: string | string[]): Capability => ({ tool: 'shell/run', arguments: { command } })

test('a glob over a command of a shell is warned of, however the call is written', () => {
  const params = { name: 'run', arguments: { command: 'npm test*' } }
  const call: Capability = { kind: 'mcp.request', to: 'shell', payload: { method: 'tools/call', params } }
  for (const capability of [running('npm test*'), call]) {
    expect(find([capability])).toEqual([
      expect.stringContaining('"npm test*" also allows "npm test; rm -rf ."'),
    ])
  }
  expect(find([running(['ls', 'git ?', 'npm **'])])).toHaveLength(2)
})

test('whole commands, regular expressions and exclusions are not warned of', () => {
  const fine = [running('npm test'), running(['re:npm (test|lint)', '!rm *', '\\*']), running('/^ls/')]
  expect(find([...fine, 'chat', { tool: 'files/*', arguments: { path: 'src/*' } }])).toEqual([])
})

test('misspelt kinds are warned of, and tools that are taken for kinds; kinds of one’s own are not', () => {
  const wrong: Capability[] = [
    'chatt',
    'resoning.*',
    { kind: ['mcp.reqest', 'chat'] },
    'files/edit_file',
    'space.earse',
  ]
  expect(find(wrong)).toEqual([
    '"chatt" is not a kind of MEUP; did you mean "chat"?',
    '"resoning.*" is not a kind of MEUP; did you mean "reasoning.*"?',
    '"mcp.reqest" is not a kind of MEUP; did you mean "mcp.request"?',
    '"files/edit_file" is a kind; the tool of that name is {"tool":"files/edit_file"}',
    '"space.earse" is not a kind of MEUP; did you mean "space.erase"?',
  ])
  const fine: Capability[] = [
    '*',
    'chat',
    'reasoning.*',
    '!mcp.proposal',
    're:mcp\\..*',
    'acme.note',
    'space.erase',
    'observe.targeted',
    'reasoning/step',
    'reasoning/*',
    'deploy.*',
  ]
  expect(find(fine)).toEqual([])
})

test('a name that is nearly that of a participant is warned of; patterns, and who may come later, are not', () => {
  const wrong: Capability[] = [
    { tool: 'flies/read_*' },
    { kind: 'mcp.request', to: 'file' },
    { kind: 'chat', to: ['ana', 'anna'] },
  ]
  expect(find(wrong)).toEqual([
    '"flies" is not a participant of this space; did you mean "files"?',
    '"file" is not a participant of this space; did you mean "files"?',
    '"anna" is not a participant of this space; did you mean "ana"?',
  ])
  const fine: Capability[] = [{ tool: 'file*/x' }, { kind: 'chat', to: ['!file', 're:fil?es', 'weather'] }]
  expect(find(fine)).toEqual([])
})
