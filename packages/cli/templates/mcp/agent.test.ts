import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Type } from '@sinclair/typebox'

test('it writes down what fails', async () => {
  await using space = await createTestSpace({
    participants: { ana: ['*'], files: ['*'], notes: ['*'], secretary: ['*'] },
  })
  const files = await space.join('files')
  files.tool('read_text_file', { input: Type.Object({ path: Type.String() }) }, () => 'ok 1\nFAIL 2')
  const notes = await space.join('notes')
  let written = ''
  const input = Type.Object({ path: Type.String(), content: Type.String() })
  notes.tool('write_file', { input }, ({ content }) => {
    written = content
    return 'written'
  })
  await space.run('secretary', () => import('./agent.js'))

  const ana = await space.join('ana')
  const { text } = await ana.ask('What fails?', { to: ['secretary'] })
  equal(text, 'Noted in notes/failed.md: FAIL 2.')
  equal(written, '- FAIL 2\n')
})
