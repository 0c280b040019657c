import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Type } from '@sinclair/typebox'

test('it moves nothing until that is approved', async () => {
  await using space = await createTestSpace({
    participants: {
      ana: ['*'],
      files: ['*'],
      clerk: ['chat', 'reasoning.*', 'mcp.proposal', 'mcp.withdraw'],
    },
  })
  const files = await space.join('files')
  const moved: string[] = []
  const input = Type.Object({ source: Type.String(), destination: Type.String() })
  files.tool('move_file', { input }, ({ source }) => {
    moved.push(source)
    return 'moved'
  })
  await space.run('clerk', () => import('./agent.js'))

  const ana = await space.join('ana')
  ana.proposals.on('proposal', ({ id }) => {
    deepEqual(moved, [])
    void ana.proposals.approve(id)
  })
  const { text } = await ana.ask('Archive march.txt', { to: ['clerk'] })
  equal(text, 'march.txt is archived, with the leave of ana.')
  deepEqual(moved, ['inbox/march.txt'])
})
