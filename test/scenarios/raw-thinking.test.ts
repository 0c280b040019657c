import { expect } from 'vitest'
import { meup } from '../support/cli.js'
import { running, timeout } from '../support/guarded-gateway.js'
import { verifies } from '../verifies.js'

const thought = (message: string) => ({ kind: 'reasoning.thought', context: 'run', payload: { message } })

verifies(
  'I13',
  'raw thinking in tags that go over several thoughts reaches nobody',
  async () => {
    const space = await running()
    const status = await space.post('ana', [
      { id: 'run', kind: 'reasoning.start', payload: { message: 'Looking' } },
      thought('<think>RAW one'),
      thought('RAW two'),
      thought('RAW three</think>ok'),
      {
        kind: 'mcp.request',
        context: 'run',
        to: ['cas'],
        rationale: '<thinking>RAW four',
        payload: { method: 'tools/call', params: { name: 'read' } },
      },
      { kind: 'reasoning.conclusion', context: 'run', payload: { message: 'RAW five</thinking>done' } },
    ])
    expect(status).toBe(201)
    const asked = ['envelopes', 'turns?thread_id=demo/ana', 'audit', 'audit/export?format=markdown']
    for (const path of [...asked, 'contexts/run']) {
      const response = await space.get(path)
      expect([path, response.status]).toEqual([path, 200])
      const text = await response.text()
      expect([path, text.match(/RAW \w+/g)]).toEqual([path, null])
    }
    const watched = await meup(['watch', '--from', '1', '--no-follow', '--as', 'ben'], { cwd: space.folder })
    expect(watched.stdout).not.toContain('RAW')
    expect(watched.stdout).toContain('ana · ok')
    await space.stop()
  },
  { timeout },
)
