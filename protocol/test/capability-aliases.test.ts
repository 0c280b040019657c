import { type Capability, compileCapabilities, holdsLiteral, type Subject } from '@meup/protocol'
import { describe, expect, test } from 'vitest'

function allowed(capability: Capability, envelope: Partial<Subject>): boolean {
  return compileCapabilities([capability]).allows({ kind: 'chat', payload: {}, ...envelope }).allowed
}

describe('the exact kind chat', () => {
  const kinds = ['chat', 'chat.acknowledge', 'chat.cancel', 'chat.delta', 'chat.other', 'chats']
  const all = kinds.slice(0, 4)
  test.each<[Capability, string[]]>([
    ['chat', all],
    [{ kind: 'chat' }, all],
    [{ kind: ['chat'] }, all],
    [{ kind: 'chat', to: 'ana', context: 'run' }, all],
    [{ kind: 'chat', payload: {} }, ['chat']],
    [{ kind: ['chat', '!chat.cancel'] }, ['chat']],
    [{ kind: ['chat', 'acme.*'] }, ['chat']],
    [{ kind: 're:chat' }, ['chat']],
    ['\\chat', ['chat']],
    ['chat*', ['chat', 'chats']],
    ['!chat', kinds.slice(1)],
    ['chat.cancel', ['chat.cancel']],
  ])('%j', (capability, expected) => {
    const sent = kinds.filter((kind) => allowed(capability, { kind, to: ['ana'], context: 'run' }))
    expect(sent).toEqual(expected)
  })

  test('is one capability, narrowed as it is written', () => {
    expect(allowed({ kind: 'chat', to: 'ana' }, { kind: 'chat.cancel', to: ['bob'] })).toBe(false)
    const { allows, list } = compileCapabilities(['mcp.*', 'chat'])
    expect(allows({ kind: 'chat.cancel', payload: {} }).matched).toBe(1)
    expect(list).toEqual(['mcp.*', 'chat'])
  })
})

describe('a tool', () => {
  const request = (to: string[], method: string, params: unknown = {}) => ({
    kind: 'mcp.request',
    to,
    payload: { method, params },
  })
  const call = (to: string, name: string, args: unknown = {}) =>
    request([to], 'tools/call', { name, arguments: args })

  test('stands for the call, and for what goes with it', () => {
    const reads: Capability = { tool: 'files/read_*' }
    for (const sent of [call('files', 'read_text'), call('files', 'read_text', { path: '/' })])
      expect(allowed(reads, sent)).toBe(true)
    for (const method of ['tools/list', 'ping', 'notifications/cancelled'])
      expect(allowed(reads, request(['files'], method))).toBe(true)
    for (const sent of [
      call('files', 'write_text'),
      call('shell', 'read_text'),
      request(['files', 'shell'], 'tools/call', { name: 'read_text' }),
      request(['files'], 'resources/list'),
      request([], 'ping'),
      { ...call('files', 'read_text'), kind: 'mcp.proposal' },
    ])
      expect(allowed(reads, sent)).toBe(false)
  })

  test('is split at the first slash', () => {
    expect(allowed({ tool: 'files/a/*' }, call('files', 'a/b'))).toBe(true)
    expect(allowed({ tool: 'files/a/*' }, call('files/a', 'b'))).toBe(false)
    expect(allowed({ tool: 'files/!write_*' }, call('files', 'read'))).toBe(true)
    expect(allowed({ tool: 'files/!write_*' }, call('files', 'write_x'))).toBe(false)
    expect(allowed({ tool: 'files/re:(read|list)_.*' }, call('files', 'list_x'))).toBe(true)
  })

  test('may ask something of the arguments, and of calls alone', () => {
    const inSource: Capability = { tool: 'files/read', arguments: { path: 'src/**' } }
    expect(allowed(inSource, call('files', 'read', { path: 'src/a.ts' }))).toBe(true)
    expect(allowed(inSource, call('files', 'read', { path: '.env' }))).toBe(false)
    expect(allowed(inSource, request(['files'], 'tools/call', { name: 'read' }))).toBe(false)
    expect(allowed(inSource, request(['files'], 'tools/list'))).toBe(true)
  })

  test('is kept as it is written, and counts as one', () => {
    const written: Capability[] = [
      { tool: 'files/read' },
      { tool: 'shell/run', arguments: { command: 'ls' } },
    ]
    const { allows, list } = compileCapabilities(written)
    expect(list).toEqual(written)
    expect(allows({ ...request(['shell'], 'ping') }).matched).toBe(1)
    expect(holdsLiteral(written, 'mcp.request')).toBe(false)
  })
})
