import type { ShownDecision, ShownReasoning, ShownTurn } from '@meup/folds'

export const decision = (tool_name: string, fields: Partial<ShownDecision> = {}): ShownDecision => ({
  tool_name,
  rationale: 'because',
  parameters: {},
  outcome: 'success',
  parallel_group: null,
  ...fields,
})
export const reasoning = (turn_number: number, ...tool_decisions: ShownDecision[]): ShownReasoning => ({
  session_id: 'epoch-1',
  thread_id: '7c9e6679',
  turn_number,
  narrative: null,
  tool_decisions,
})
export const turn = (turn_number: number, fields: Partial<ShownTurn> = {}): ShownTurn => ({
  turn_number,
  user_input: 'why?',
  response: 'because',
  state: 'completed',
  started_at: '2026-02-21T10:00:00.000Z',
  completed_at: '2026-02-21T10:00:01.000Z',
  tool_calls: [{ name: 'x', has_result: true, has_error: false }],
  reasoning: reasoning(turn_number, decision('x')),
  ...fields,
})
export const joined = (lines: readonly string[]) => lines.join('\n')
