import { connect } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { standing } from '../../../agent-sdk/test/support/standing.js'
import { choose } from '../support/editor.js'
import { careful, offerFiles, openEditor, useTool } from '../support/stage.js'

/** Starts a gateway, so that an editor can read the log of earlier sessions over HTTP. */
async function remembered() {
  const gateway = await standing({
    participants: {
      ana: { kind: 'human', capabilities: ['*'] },
      ben: ['*'],
      coder: careful,
      files: ['mcp.*'],
    },
  })
  onTestFinished(() => gateway.stop())
  const target = (id: string) => ({ url: gateway.url, space: 'test', token: testToken(id) })
  const enter = async (id: string) => {
    const space = await connect(target(id))
    onTestFinished(() => space.close())
    return space
  }
  offerFiles(await enter('files'))
  const coder = await enter('coder')
  /** Opens another connection of ana's editor, like that of a restarted editor. */
  const open = async () =>
    openEditor(await enter('ana'), { to: 'coder', http: new HttpClient(target('ana')) })
  return { enter, coder, open }
}

test('a session that is loaded shows what it showed: questions, thoughts, calls, decisions, answers', async () => {
  const { coder, open } = await remembered()
  void coder.answer((turn) => useTool(`files/${turn.text}`, { path: 'a' }, `to ${turn.text} it`)(turn), {
    onError: () => {},
  })
  const { editor } = await open()
  const { sessionId } = await editor.begin()
  await editor.prompt(sessionId, 'read')
  editor.decide = () => choose('allow_once')
  await editor.prompt(sessionId, 'write')
  editor.decide = () => choose('reject_once')
  await editor.prompt(sessionId, 'write')

  const { editor: another } = await open()
  const { modes } = await another.load(sessionId)
  expect(modes?.currentModeId).toBe('coder')
  const questions = another.shown.filter((each) => each.startsWith('user: '))
  expect(questions).toEqual(['user: read', 'user: write', 'user: write'])
  expect(another.shown.filter((each) => !questions.includes(each))).toEqual(editor.shown)
  expect(another.permissions).toEqual([])
  editor.decide = () => choose('reject_once')
  expect(await another.prompt(sessionId, 'read')).toEqual({ stopReason: 'end_turn' })
})

test('only what was asked in the session is part of it', async () => {
  const { coder, open, enter } = await remembered()
  void coder.answer((turn) => turn.reply(`to ${turn.text}`))
  const { editor } = await open()
  const [one, other] = [await editor.begin(), await editor.begin()]
  await editor.prompt(one.sessionId, 'one')
  await editor.prompt(other.sessionId, 'other')
  await (await enter('ana')).ask('page', { to: ['coder'] })
  await (await enter('ben')).ask('ben', { to: ['coder'] })
  await editor.prompt(one.sessionId, 'one again')
  const { editor: another } = await open()
  await another.load(one.sessionId)
  expect(another.shown).toEqual(['user: one', 'says: to one', 'user: one again', 'says: to one again'])
})

test('a turn that was cancelled ends where it ended', async () => {
  const { coder, open } = await remembered()
  void coder.answer(
    async (turn) => {
      await turn.reason(`Thinking about ${turn.text}`)
      await new Promise(() => {})
    },
    { onError: () => {} },
  )
  const { editor } = await open()
  const { sessionId } = await editor.begin()
  for (const text of ['one', 'two']) {
    const prompted = editor.prompt(sessionId, text)
    await expect.poll(() => editor.shown).toContain(`thinks: Thinking about ${text}`)
    await editor.cancel(sessionId)
    await prompted
  }
  const { editor: another } = await open()
  await another.load(sessionId)
  expect(another.shown).toEqual([
    'user: one',
    'thinks: Thinking about one',
    'user: two',
    'thinks: Thinking about two',
  ])
})

test('the latest 50 turns are shown, and the agent that was asked last is asked on', async () => {
  const { coder, open, enter } = await remembered()
  for (const agent of [coder, await enter('ben')]) void agent.answer((turn) => turn.reply(`to ${turn.text}`))
  const { editor } = await open()
  const { sessionId } = await editor.begin()
  for (let n = 1; n <= 51; n++) await editor.prompt(sessionId, `${n}`)
  await editor.ask(sessionId, 'ben')
  await editor.prompt(sessionId, '52')
  const { editor: another } = await open()
  expect((await another.load(sessionId)).modes?.currentModeId).toBe('ben')
  expect([another.shown[0], another.shown.at(-1), another.shown.length]).toEqual([
    'user: 3',
    'says: to 52',
    100,
  ])
})

test('sessions are listed, the latest first, by their first questions', async () => {
  const { coder, open } = await remembered()
  void coder.answer((turn) => turn.reply('yes'))
  const { editor } = await open()
  const [one, other] = [await editor.begin(), await editor.begin()]
  await editor.prompt(one.sessionId, 'First question')
  await editor.prompt(one.sessionId, 'Second question')
  await editor.prompt(other.sessionId, 'Another\nquestion')
  const { editor: another } = await open()
  expect((await another.list()).sessions).toEqual([
    { sessionId: other.sessionId, cwd: '/work', title: 'Another question', updatedAt: expect.any(String) },
    { sessionId: one.sessionId, cwd: '/work', title: 'First question', updatedAt: expect.any(String) },
  ])
})
