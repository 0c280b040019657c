import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, test } from 'vitest'

test('what a participant may send is known before it is sent', async () => {
  const capabilities = ['chat', { kind: 'mcp.request', to: 'files', payload: { method: 'tools/*' } }]
  await using space = await createTestSpace({ participants: { bot: capabilities, ana: ['*'], files: [] } })
  const [bot, ana] = await Promise.all([space.join('bot'), space.join('ana')])
  const request = (to: string[], method: string) => ({ kind: 'mcp.request', to, payload: { method } })
  expect(bot.can({ kind: 'chat' })).toBe(true)
  expect(bot.can({ kind: 'chat', to: ['ana'], context: 'a/b' })).toBe(true)
  expect(bot.can({ kind: 'reasoning.start' })).toBe(false)
  expect(bot.can(request(['files'], 'tools/call'))).toBe(true)
  expect(bot.can(request(['files'], 'resources/read'))).toBe(false)
  expect(bot.can(request(['files', 'ana'], 'tools/call'))).toBe(false)
  expect(bot.can({ kind: 'observe.subscribe' })).toBe(true) // This kind requires no capability.
  expect(ana.can({ kind: 'system.welcome' })).toBe(false) // Only the gateway may send this kind.
  expect(ana.can({ kind: 'space.invite-ack' })).toBe(false)
  expect(ana.can({ kind: 'anything.else' })).toBe(true)
})

test('what a participant may grant is known before it is granted', async () => {
  const files = { tool: 'files/read_*' }
  await using space = await createTestSpace({
    participants: { ana: [files, 'capability.grant'], bot: [files], files: [] },
  })
  const [ana, bot] = await Promise.all([space.join('ana'), space.join('bot')])
  expect(ana.mayGrant('bot', [{ tool: 'files/read_text' }])).toBe(true)
  expect(ana.mayGrant('bot', [{ tool: 'files/write' }])).toBe(false)
  expect(ana.mayGrant('ana', [files])).toBe(false)
  expect(bot.mayGrant('ana', [files])).toBe(false)
})
