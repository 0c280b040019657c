import { ConnectionError, ProtocolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, test } from 'vitest'

test('a question resolves with the first answer, whoever gives it', async () => {
  await using space = await createTestSpace({
    participants: { ana: ['chat'], ben: ['chat'], cleo: ['chat'] },
  })
  const [ana, ben, cleo] = await Promise.all([space.join('ana'), space.join('ben'), space.join('cleo')])
  const serve = async (): Promise<void> => {
    for await (const turn of ben.turns()) {
      await turn.reply(`You said ${turn.text}.`)
      return
    }
  }
  const served = serve()
  const asked = ana.ask('hello', { to: ['ben'] })
  await cleo.chat('not an answer')
  expect(await asked).toMatchObject({ from: 'ben', text: 'You said hello.' })
  await served
})

test('a question that nobody answers, or that may not be asked, is rejected', async () => {
  await using space = await createTestSpace({ participants: { ana: ['chat'], mute: [] } })
  const [ana, mute] = await Promise.all([space.join('ana'), space.join('mute')])
  await expect(ana.ask('hello', { timeoutMs: 20 })).rejects.toThrow(ConnectionError)
  await expect(mute.ask('hello')).rejects.toThrow(ProtocolError)
})
