import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Type } from '@sinclair/typebox'
import { role } from './role.js'

test('it reads the report, and answers', async () => {
  await using space = await createTestSpace({ participants: { ana: ['*'], files: ['*'], reviewer: ['*'] } })
  const files = await space.join('files')
  const read: string[] = []
  files.tool('read_text_file', { input: Type.Object({ path: Type.String() }) }, ({ path }) => {
    read.push(path)
    return 'FAIL 2 token expires'
  })
  const model = scriptedModel([
    [{ call: 'files__read_text_file', input: { _rationale: 'what fails decides', path: 'report.txt' } }],
    [{ text: 'Do not deploy: the token expires.' }],
  ])
  const reviewer = await space.join('reviewer')
  void reviewer.agent({ ...role, model, transcript: 'off' })

  const ana = await space.join('ana')
  const { text } = await ana.ask('Can we deploy?', { to: ['reviewer'] })
  equal(text, 'Do not deploy: the token expires.')
  deepEqual(read, ['report.txt'])
})
