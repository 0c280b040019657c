import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Type } from '@sinclair/typebox'

const agent = (description: string, ...more: (string | { tool: string })[]) => ({
  kind: 'agent',
  description,
  capabilities: ['chat', 'reasoning.*', ...more],
})

test('a report is reviewed, approved and written', async () => {
  await using space = await createTestSpace({
    frontDesk: 'desk',
    participants: {
      ana: { kind: 'human', capabilities: ['*'] },
      desk: agent('takes questions'),
      researcher: agent(
        'writes reports',
        'mcp.proposal',
        'mcp.withdraw',
        { tool: 'library/read_text_file' },
        { tool: 'reports/list_directory' },
      ),
      reviewer: agent('reviews drafts'),
      library: { kind: 'mcp', capabilities: ['*'] },
      reports: { kind: 'mcp', capabilities: ['*'] },
    },
  })
  const [library, reports] = [await space.join('library'), await space.join('reports')]
  library.tool('read_text_file', { input: Type.Object({ path: Type.String() }) }, () => 'They come and go.')
  const written: string[] = []
  const file = Type.Object({ path: Type.String(), content: Type.String() })
  reports.tool('write_file', { input: file }, ({ path, content }) => {
    written.push(path, content)
    return 'written'
  })
  await space.run('desk', () => import('./desk.js'))
  await space.run('researcher', () => import('./researcher.js'))
  await space.run('reviewer', () => import('./reviewer.js'))

  const ana = await space.join('ana')
  ana.proposals.on('proposal', ({ id }) => void ana.proposals.approve(id))
  const { from, text } = await ana.ask('Write a report about the tides.')
  equal(`${from}: ${text}`, 'researcher: The report is in reports/tides.md; reviewer has approved it.')
  deepEqual(written, ['tides.md', '# Tides\n\nThey come and go.\n\nSource: library/tides.txt'])
})
