import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { next, stage, useTool } from '../support/stage.js'

test('a cancelled prompt is taken back: its agent stops, and its permissions are no longer asked', async () => {
  const { editor, sessionId, prompt, answer, coder, written } = await stage()
  answer(useTool('files/write', { path: 'note' }, 'so'))
  const taken = next(coder, Kind.chatCancel)
  const withdrawn = next(coder, Kind.mcpWithdraw)
  const prompted = prompt('Write it')
  await expect.poll(() => editor.permissions.length).toBe(1)
  await editor.cancel(sessionId)
  expect(await prompted).toEqual({ stopReason: 'cancelled' })
  expect(await taken).toMatchObject({ from: 'ana', payload: { reason: 'the asker has cancelled it' } })
  await withdrawn
  await expect.poll(() => editor.withdrawn).toHaveLength(1)
  await editor.update({ sessionUpdate: 'tool_call_update', status: 'failed' })
  expect([editor.said, written]).toEqual(['', []])
})

test('a question that is taken back elsewhere ends its prompt', async () => {
  const { prompt, answer, space, coder } = await stage()
  const page = await space.join('ana')
  answer(() => new Promise(() => {}))
  const asked = next(coder, Kind.chat)
  const prompted = prompt('Think')
  await page.send({ kind: Kind.chatCancel, to: ['coder'], correlationId: (await asked).id })
  expect(await prompted).toEqual({ stopReason: 'cancelled' })
})

test('what waits for an agent that is away is cancelled without a word', async () => {
  const { editor, sessionId, space, ben } = await stage({
    participants: { ana: ['*'], ben: ['observe.targeted'], coder: ['*'], files: ['*'], late: ['*'] },
  })
  const heard: string[] = []
  ben.on('envelope', ({ kind, from }) => from === 'ana' && heard.push(kind))
  await editor.ask(sessionId, 'late')
  const prompted = editor.prompt(sessionId, 'Hello?')
  await expect.poll(() => editor.shown).toEqual(['thinks: waiting for late to join'])
  await editor.cancel(sessionId)
  expect(await prompted).toEqual({ stopReason: 'cancelled' })
  await (await space.join('late')).chat('I am here')
  expect(heard).toEqual([])
})

test('after a cancel the session goes on', async () => {
  const { editor, sessionId, prompt, answer, coder } = await stage()
  answer((turn) => (turn.text === 'Think' ? new Promise(() => {}) : turn.reply('yes')))
  const asked = next(coder, Kind.chat)
  const prompted = prompt('Think')
  await asked
  await editor.cancel(sessionId)
  await prompted
  expect(await prompt('Well?')).toEqual({ stopReason: 'end_turn' })
  expect(editor.said).toBe('yes')
})

test('a client that goes takes its questions back', async () => {
  const { editor, prompt, answer, coder, serving } = await stage()
  answer(() => new Promise(() => {}))
  const asked = next(coder, Kind.chat)
  prompt('Think').catch(() => {})
  await asked
  const taken = next(coder, Kind.chatCancel)
  editor.close()
  expect(await serving.ended).toBeUndefined()
  await serving.close()
  expect((await taken).from).toBe('ana')
})
