import { connect } from '@meup/agent-sdk'
import { testToken } from '@meup/gateway/testing'
import { Kind } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { lastingMemory, standing } from '../../../agent-sdk/test/support/standing.js'
import { editorTexts } from '../../src/serve/errors.js'
import { next, openEditor, stage } from '../support/stage.js'

test('a participant that is kicked is told by whom and why', async () => {
  const { prompt, answer, coder, ben, serving } = await stage()
  answer(() => new Promise(() => {}))
  const asked = next(coder, Kind.chat)
  const prompted = prompt('Think')
  await asked
  await ben.kick('ana', { reason: 'enough' })
  await expect(prompted).rejects.toMatchObject({
    code: -32603,
    message: expect.stringMatching(/ben.*enough/),
    data: { code: 'forbidden' },
  })
  expect(await serving.ended).toMatchObject({ code: 'forbidden' })
  await expect(prompt('Hello?')).rejects.toThrow(/ben.*enough/)
})

async function overSockets() {
  const gateway = await standing({ participants: { ana: ['*'], coder: ['*'] } })
  onTestFinished(() => gateway.stop())
  const target = (id: string) => ({ url: gateway.url, space: 'test', token: testToken(id) })
  const [ana, coder] = [await connect(target('ana')), await connect(target('coder'))]
  onTestFinished(() => {
    ana.close()
    coder.close()
  })
  const { editor } = await openEditor(ana, { to: 'coder' })
  const { sessionId } = await editor.begin()
  return { gateway, coder, editor, sessionId }
}

test('a prompt goes on over a restart of the gateway', async () => {
  const { gateway, coder, editor, sessionId } = await overSockets()
  void coder.answer(async (turn) => {
    const run = await turn.reason('Let me see')
    await gateway.stop()
    await gateway.start()
    await run.thought('There it is again')
    await run.conclude()
    await turn.reply('yes')
  })
  expect(await editor.prompt(sessionId, 'Well?')).toEqual({ stopReason: 'end_turn' })
  expect(editor.shown).toEqual(['thinks: Let me see', 'thinks: There it is again', 'says: yes'])
})

test('a prompt whose log was replaced says so', async () => {
  const { gateway, coder, editor, sessionId } = await overSockets()
  void coder.answer(async () => {
    await gateway.stop()
    await gateway.start(lastingMemory())
    await new Promise(() => {})
  })
  await expect(editor.prompt(sessionId, 'Well?')).rejects.toMatchObject({
    message: editorTexts.replaced,
  })
})
