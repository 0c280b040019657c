import type { AuditStep } from '@meup/agent-sdk/http'
import { expect, test } from 'vitest'
import { trailLine } from '../src/commands/audit.js'

const step = (fields: Partial<AuditStep>): AuditStep => ({
  id: '01',
  turn_id: '00',
  step_number: 0,
  phase: 'thinking',
  content: 'It may be\nlate',
  linked_tool_call: null,
  linked_policy_decision: null,
  linked_approval_request: null,
  created_at: '2026-01-02T03:04:05.678Z',
  seq: 7,
  thread_id: 'demo/helper',
  turn_number: 3,
  timestamp: '2026-01-02T03:04:05.678Z',
  state: 'completed',
  input_source: 'chat',
  asked_by: 'ana',
  ...fields,
})
const at = '2026-01-02T03:04:05.678Z'

test.for<[Partial<AuditStep>, string]>([
  [{}, `${at}  helper turn 3, asked by ana  thinking: It may be late`],
  [{ turn_number: null, asked_by: null, phase: 'plan' }, `${at}  helper job  plan: It may be late`],
  [
    { phase: 'execute', content: 'read -> four', linked_tool_call: 'c1' },
    `${at}  helper turn 3, asked by ana  execute: read -> four (tool_call: c1)`,
  ],
  [
    { phase: 'execute', content: 'read -> four', linked_tool_call: 'c1', right: "by ana's grant" },
    `${at}  helper turn 3, asked by ana  execute: read -> four (tool_call: c1) · by ana's grant`,
  ],
  [
    {
      ...{ phase: 'execute', content: 'read -> four', linked_tool_call: 'c1' },
      ...{ parameters: { path: 'a' }, rationale: 'it\ndecides' },
    },
    `${at}  helper turn 3, asked by ana  execute: read -> four · with {"path":"a"} — it decides (tool_call: c1)`,
  ],
  [
    { phase: 'waiting_approval', linked_policy_decision: 'd1', linked_approval_request: 'p1' },
    `${at}  helper turn 3, asked by ana  waiting_approval: It may be late (policy: d1) (approval: p1)`,
  ],
  [{ content: 'x\u001B[2J\u202Ey' }, `${at}  helper turn 3, asked by ana  thinking: x[2Jy`],
  [{ content: 'x'.repeat(300) }, `${at}  helper turn 3, asked by ana  thinking: ${'x'.repeat(199)}…`],
])('a step is one line: %j', ([fields, line]) => {
  expect(trailLine(step(fields))).toBe(line)
})
