import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { recordEnvelopes } from '../support/record-envelopes.js'
import { listStory, stage } from './stage.js'

/**
 * This test has a file of its own, so that the package `ai` is imported while it runs, unless the worker has already imported
 * it for another file.
 */
test('what is asked while the package of models is loaded is answered then; who says more meanwhile gets one answer', async () => {
  const both = async () =>
    hearing.until(({ kind, payload }) => kind === Kind.chat && JSON.stringify(payload).includes('2 more'))
  await using here = await stage(() => [{ wait: both }, { text: 'Seven.' }])
  const hearing = recordEnvelopes(here.bot)
  const asked = ['What is 2 + 3?', 'And 2 more?'].map((text) => here.ana.chat(text, { to: ['bot'] }))
  const [first, second] = await Promise.all(asked)
  const answer = await here.heard.until(({ from, kind }) => from === 'bot' && kind === Kind.chat)
  expect(answer.correlationId).toEqual([first?.id, second?.id])
  expect(listStory(here.heard)).toEqual(['reasoning.start', 'reasoning.conclusion', 'chat: Seven.'])
  expect(here.troubles).toEqual([])
})
