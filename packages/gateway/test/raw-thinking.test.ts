import { testToken } from '@meup/gateway/testing'
import { expect } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { call, guarded, thought } from './guarded.js'

verifies(
  'I13',
  'raw thinking in tags is taken out before it is logged or seen, ended or not, in narratives and in rationales',
  async () => {
    const { running, ana, ben } = await guarded()
    const said = [
      ['<thinking>RAW one</thinking>I read the report.', 'I read the report.'],
      ['I read. <think>RAW two\nand more</think>Then I decide.', 'I read. Then I decide.'],
      ['RAW three, begun by a template</think>I decide.', 'I decide.'],
      ['<think>RAW four, never ended', ''],
    ] as const
    for (const [sent, expected] of said) {
      expect((await ana.accepted(thought(sent))).payload.message).toBe(expected)
      expect((await ana.accepted(call(sent))).rationale).toBe(expected || undefined)
    }
    const { id } = await ana.accepted({ kind: 'chat', payload: { message: 'mark' } })
    const heard = await ben.until((envelope) => envelope.id === id)
    expect(heard.length).toBeGreaterThanOrEqual(2 * said.length)
    expect(JSON.stringify(heard)).not.toContain('RAW')
    const headers = { authorization: `Bearer ${testToken('ben')}` }
    const history = await fetch(`${running.url}/spaces/test/envelopes?limit=1000`, { headers })
    expect(history.status).toBe(200)
    expect(await history.text()).not.toContain('RAW')
  },
)
