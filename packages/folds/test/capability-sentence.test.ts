import { capabilitySentence, capabilityText, explainCapability, type GrantedCapabilities } from '@meup/folds'
import type { Capability, Subject } from '@meup/protocol'
import { expect, test } from 'vitest'

test.for<[capability: Capability, sentence: string]>([
  ['chat', 'send messages'],
  ['files/read_*', 'call files/read_*'],
  ['acme.note', 'send acme.note'],
  [{ kind: 'mcp.request', to: 'files' }, 'make requests (such as calls of tools) to files'],
  ['constructor', 'send constructor'],
  [
    { tool: 'files/read', arguments: { path: ['a/*', '!a/secret'] } },
    'call read of files where path is a/*, but not a/secret',
  ],
  [{ tool: 'files/read', arguments: { 'pa\u200bth': 'a' } }, 'call read of files where "path" is a'],
  [
    {
      kind: 'mcp.request',
      to: 'files',
      payload: { method: 'tools/call', params: { name: 'edit', arguments: { path: ['a/*', 'b'] } } },
    },
    'call edit of files where path is a/* or b',
  ],
  [{ tool: 'files/edit', arguments: { path: 'a' } }, 'call edit of files where path is a'],
  [{ kind: ['chat', 'mcp.proposal'], context: 'run/**' }, 'send messages or propose calls in run/**'],
  [{ kind: 'chat', payload: { format: 'markdown' } }, 'send messages where {"format":"markdown"}'],
])('a capability is a sentence: %j', ([capability, sentence]) => {
  expect(capabilitySentence(capability)).toBe(sentence)
})

const grant = {
  id: 'g1',
  ts: '2026-01-02T03:04:05.000Z',
  grantor: 'ana',
  recipient: 'bot',
  capabilities: [{ tool: 'files/read_*' }],
  expiresAt: '2030-01-02T03:04:05.000Z',
}
const bot: GrantedCapabilities = {
  id: 'bot',
  status: 'present',
  configured: ['chat', 'mcp.proposal', { tool: 'shop/buy', arguments: { what: 'tea' } }],
  grants: [grant],
  others: ['observe.visibility'],
}
const calling = (to: string, name: string, args?: object): Subject => ({
  kind: 'mcp.request',
  to: [to],
  payload: { method: 'tools/call', params: { name, ...(args && { arguments: args }) } },
})
const explain = (attempt: Subject) => explainCapability(bot, attempt)

test('what allows an envelope is named, with where it comes from', () => {
  expect(explain({ kind: 'chat', to: ['ana'], payload: {} })).toEqual({
    isAllowed: true,
    sentences: ['bot may send messages to ana: its configuration lets it send messages.'],
  })
  expect(explain(calling('files', 'read_text_file')).sentences).toEqual([
    'bot may call read_text_file of files: the grant g1 of ana until 2030-01-02T03:04:05.000Z lets it call read_* of files.',
  ])
  expect(explain({ kind: 'observe.visibility', payload: {} }).sentences).toEqual([
    'bot may hide and show the thoughts of runs: a grant that you may not see lets it hide and show the thoughts of runs.',
  ])
})

test('what is refused is told with what comes near it, and with what would allow it', () => {
  expect(explain(calling('shop', 'buy', { what: 'wine' }))).toEqual({
    isAllowed: false,
    missing: { tool: 'shop/buy' },
    sentences: [
      'bot may not call buy of shop.',
      'Its capabilities for mcp.request do not cover that: call buy of shop where what is tea; call read_* of files.',
      'It may propose it for approval.',
    ],
  })
  expect(explain({ kind: 'space.kick', payload: { participantId: 'ana' } })).toEqual({
    isAllowed: false,
    missing: 'space.kick',
    sentences: ['bot may not remove participants.', 'It has no capability for space.kick.'],
  })
  expect(explain({ kind: 'mcp.response', payload: {} }).sentences.at(-1)).toBe(
    'Without a capability it may answer a request that is addressed to it.',
  )
})

test('what needs no capability, and what the gateway alone sends, is told apart', () => {
  expect(explain({ kind: 'observe.subscribe', payload: {} })).toEqual({
    isAllowed: true,
    sentences: ['observe.subscribe needs no capability.'],
  })
  expect(explain({ kind: 'system.presence', payload: {} })).toEqual({
    isAllowed: false,
    sentences: ['Only the gateway sends system.presence.'],
  })
})

test.for<[capability: Capability, text: string]>([
  ['chat', 'chat'],
  [{ kind: 'mcp.request', to: 'files' }, 'mcp.request to files'],
  [{ tool: 'files/read_*' }, 'files/read_*'],
  [{ tool: 'a/b', arguments: { c: 'd' } }, 'a/b · {"c":"d"}'],
  [
    { kind: 'mcp.request', to: 'a', payload: { method: 'tools/call', params: { name: ['b', 'c*'] } } },
    'a/b or c*',
  ],
  [
    {
      kind: 'mcp.request',
      to: 'a',
      payload: { method: 'tools/call', params: { name: 'b', arguments: { c: 'd' } } },
    },
    'a/b · {"c":"d"}',
  ],
  [
    { kind: ['a', '!b'], context: '**', payload: { method: 'x\u202e\u001b[2J' } },
    '["a","!b"] in ** · {"method":"x\\u001b[2J"}',
  ],
])('a capability is shown in few words, of which none can move another: %j', ([capability, text]) => {
  expect(capabilityText(capability)).toBe(text)
})
