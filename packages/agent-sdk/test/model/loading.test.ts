import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { answering, stage, storyOf } from './stage.js'

/** Alone in its file, so that the package is loaded here. */
test('what is asked while the package of models is loaded is answered then; who says more meanwhile gets one answer', async () => {
  await using here = await stage(() => answering('Seven.'))
  const asked = ['What is 2 + 3?', 'And 2 more?'].map((text) => here.ana.chat(text, { to: ['bot'] }))
  const [first, second] = await Promise.all(asked)
  const answer = await here.heard.until(({ from, kind }) => from === 'bot' && kind === Kind.chat)
  expect(answer.correlationId).toEqual([first?.id, second?.id])
  expect(storyOf(here.heard)).toEqual(['reasoning.start', 'reasoning.conclusion', 'chat: Seven.'])
  expect(here.troubles).toEqual([])
})
