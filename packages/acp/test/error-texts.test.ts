import { expect, test } from 'vitest'
import { filesUnder } from '../../../test/support/files.js'
import { readText } from '../../../test/support/packages.js'
import { agentError, agentTexts } from '../src/errors.js'
import { editorError, editorTexts } from '../src/serve/errors.js'

test.for([
  ...Object.entries(agentTexts).map(([code, text]) => [code, text, /^[a-z{][^;]{1,120}(?<!,)$/] as const),
  ...Object.entries(editorTexts).map(([code, text]) => [code, text, /^[A-Z][^;]{1,120}\.$/] as const),
])('%s: %s says what happened. What to do', ([code, text, style]) => {
  expect(text).toMatch(style)
  expect(text).not.toMatch(/[.?] [a-z]/)
  const used = filesUnder('packages/acp/src').filter((path) => readText(path).includes(`'${code}'`))
  expect(used).not.toEqual([])
})

test('an error has its code and values', () => {
  const details = { mode: 'ask', modes: ['code', 'plan'] }
  const message = 'the agent has no mode ask. Choose one of code, plan.'
  expect(agentError('unknown_mode', details)).toMatchObject({ code: 'unknown_mode', details, message })
  expect(editorError('busy', {}, -32600)).toMatchObject({ code: -32600, message: editorTexts.busy })
})
