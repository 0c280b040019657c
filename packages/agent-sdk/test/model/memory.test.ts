import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { byKind } from '../support/record-envelopes.js'
import { getPrompt, type Stage, stage } from './stage.js'

const always = () => [{ text: 'noted' }]

/** The user message before a prompt that would begin with the agent's own: many chat templates require one. */
const notShown = '(What was said before this is not shown.)'

/** The texts of the latest request to the model, without the system prompt. */
const listPrompt = ({ model }: Stage): string[] =>
  getPrompt(model, model.requests.length - 1)
    .slice(1)
    .map(({ content }) => (content as { text: string }[])[0]?.text ?? '')

test('what was said in private is recalled for those who know it, and in answers to them alone', async () => {
  await using here = await stage(always)
  await here.ask('My code is 1234')
  expect((await here.bob.ask('What is her code?', { to: ['bot'] })).text).toBe('noted')
  expect(listPrompt(here)).toEqual(['bob: What is her code?'])
  await here.ana.ask('What is my code?')
  expect(listPrompt(here)).toEqual(['ana: What is my code?'])
  await here.ask('Well?')
  const public_ = ['ana: What is my code?', 'noted']
  expect(listPrompt(here)).toEqual(['ana: My code is 1234', 'noted', ...public_, 'ana: Well?'])
})

test('not what was taken back', async () => {
  await using here = await stage(always)
  const { id } = await here.ana.chat('Forget that', { to: ['bot'] })
  await here.heard.until(({ from, kind }) => from === 'bot' && kind === Kind.chat)
  await here.ana.send({ kind: Kind.chatCancel, correlationId: id })
  await here.ask('Now?')
  expect(listPrompt(here)).toEqual([notShown, 'noted', 'ana: Now?'])
})

test('as many messages as were wished for', async () => {
  await using here = await stage(always, { memory: 1 })
  for (const question of ['one', 'two', 'three']) await here.ask(question)
  expect(listPrompt(here)).toEqual([notShown, 'noted', 'ana: three'])
  await using forgetful = await stage(always, { memory: 0 })
  for (const question of ['one', 'two']) await forgetful.ask(question)
  expect(listPrompt(forgetful)).toEqual(['ana: two'])
})

test('nothing, once it is asked to clear its memory', async () => {
  await using here = await stage(always)
  await here.ask('one')
  await here.ana.send({ kind: Kind.participantClear, to: ['bot'] })
  await here.ask('two')
  expect(listPrompt(here)).toEqual(['ana: two'])
  expect(here.heard.all.filter(byKind(Kind.chat))).toHaveLength(4)
})

test('nothing blank of its own, which some providers refuse', async () => {
  await using here = await stage(always)
  for (const text of [' ', '\n']) await here.bot.chat(text)
  await here.ask('one')
  expect(listPrompt(here)).toEqual(['ana: one'])
})
