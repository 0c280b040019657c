import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, onTestFinished, test } from 'vitest'
import { editorTexts } from '../../src/serve/errors.js'
import { openEditor, stage } from '../support/stage.js'

async function among(participants: readonly string[], to?: string) {
  const space = await createTestSpace({
    participants: Object.fromEntries(participants.map((id) => [id, ['*']])),
  })
  onTestFinished(() => space.close())
  const ana = await space.join('ana')
  return { space, ...(await openEditor(ana, to === undefined ? {} : { to })) }
}

test('initialize says what is offered: sessions are loaded and listed, files may be embedded, no images', async () => {
  const { editor } = await stage()
  expect(await editor.initialize()).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'meup', title: 'The space test' },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { embeddedContext: true, image: false, audio: false },
      sessionCapabilities: { list: {} },
    },
    authMethods: [],
  })
})

test('a new session asks the agent that was named, and offers the others as modes', async () => {
  const { editor, space } = await among(['ana', 'coder', 'helper'], 'helper')
  await space.join('coder')
  const { sessionId, modes } = await editor.begin()
  expect(sessionId).toMatch(/^acp-\d+-[0-9a-f]{12}$/)
  expect(modes).toEqual({
    currentModeId: 'helper',
    availableModes: [
      { id: 'coder', name: 'coder' },
      { id: 'helper', name: 'helper', description: 'away' },
    ],
  })
})

test('without a name it asks an agent that is there', async () => {
  const { editor, space } = await among(['ana', 'coder', 'helper'])
  await space.join('helper')
  expect((await editor.begin()).modes?.currentModeId).toBe('helper')
})

test('an unknown name, and a space without agents, are told when a session begins', async () => {
  const { editor } = await among(['ana', 'coder', 'helper'], 'codre')
  await expect(editor.begin()).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining('codre'),
  })
  const alone = await among(['ana'])
  await expect(alone.editor.begin()).rejects.toMatchObject({ message: editorTexts.no_agent })
})

test('another mode asks another agent from the next prompt on', async () => {
  const { editor, space } = await among(['ana', 'coder', 'helper'], 'coder')
  for (const id of ['coder', 'helper']) void (await space.join(id)).answer((turn) => turn.reply(`I am ${id}`))
  const { sessionId } = await editor.begin()
  await editor.prompt(sessionId, 'Who are you?')
  await editor.ask(sessionId, 'helper')
  await editor.prompt(sessionId, 'Who are you?')
  expect(editor.shown).toEqual(['says: I am coder', 'says: I am helper'])
  await expect(editor.ask(sessionId, 'ana')).rejects.toMatchObject({ code: -32602 })
})

test('sessions that begin at the same time are different ones; an unknown one is refused', async () => {
  const { editor } = await stage()
  const [one, other] = await Promise.all([editor.begin(), editor.begin()])
  expect(one.sessionId).not.toBe(other.sessionId)
  const unknown = { code: -32002 }
  await expect(editor.prompt('acp-1-0123456789ab', 'Hello')).rejects.toMatchObject(unknown)
  await expect(editor.load('something')).rejects.toMatchObject(unknown)
})

test('a session has one prompt at a time', async () => {
  const { editor, prompt, answer } = await stage()
  answer(async (turn) => {
    if (turn.text === 'First') await expect(prompt('Second')).rejects.toMatchObject({ code: -32600 })
    await turn.reply('done')
  })
  expect(await prompt('First')).toEqual({ stopReason: 'end_turn' })
  expect(editor.shown).toEqual(['says: done'])
})

test('that the folder and the MCP servers of the client are not used is said once', async () => {
  const { editor, logged } = await stage()
  await editor.begin()
  expect(logged).toEqual([expect.stringContaining('MCP servers of the client are not used')])
})
