import { createTestSpace } from '@meup/agent-sdk/testing'
import { expect, test } from 'vitest'
import { recordEnvelopes } from './support/record-envelopes.js'

const participants = { ana: ['*'], bob: ['chat', 'test.*'], bot: ['chat', 'reasoning.*'] }

test('what is thought about a private question is for its asker alone', async () => {
  await using space = await createTestSpace({ participants })
  const [ana, bob, bot] = [await space.join('ana'), await space.join('bob'), await space.join('bot')]
  void bot.answer(async (turn) => {
    await turn.reason('secret: 7', async (run) => {
      await run.thought('secret: 7')
      await run.reason('secret: 7', (nested) => nested.thought('secret: 7').then(() => 'secret: 7'))
    })
    await turn.reply('secret: 7')
  })
  const [anas, bobs] = [recordEnvelopes(ana), recordEnvelopes(bob)]
  await ana.ask('the secret is 7', { to: ['bot'] })
  await bob.send({ id: 'fence', kind: 'test.fence' })
  await bobs.until(({ id }) => id === 'fence')
  expect(JSON.stringify(bobs.all)).not.toContain('secret')
  expect(anas.all.filter(({ from }) => from === 'bot')).toHaveLength(7)
})

test('a run about a private question that is left is cancelled in private', async () => {
  await using space = await createTestSpace({ participants })
  const [ana, bob, bot] = [await space.join('ana'), await space.join('bob'), await space.join('bot')]
  const answering = { onError: () => {} }
  void bot.answer(async (turn) => {
    await turn.reason()
    throw new Error('secret: 7')
  }, answering)
  const bobs = recordEnvelopes(bob)
  expect(await ana.ask('the secret is 7', { to: ['bot'] })).toMatchObject({ noAnswer: 'failed' })
  await bob.send({ id: 'fence', kind: 'test.fence' })
  await bobs.until(({ id }) => id === 'fence')
  expect(JSON.stringify(bobs.all)).not.toContain('secret')
})
