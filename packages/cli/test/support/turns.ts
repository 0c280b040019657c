import type { TurnInfo } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'

/** Timestamp of the envelope with this seq. */
export const parseTimestamp = (seq: number): string =>
  new Date(Date.parse('2026-01-02T03:04:05Z') + seq).toISOString()

export const envelope = (seq: number, kind: string, from: string, fields: object = {}): AnyEnvelope =>
  ({ seq, id: `e${seq}`, ts: parseTimestamp(seq), kind, from, payload: {}, ...fields }) as AnyEnvelope

/** A turn of `bot` with one tool, as in the HTTP API. */
export const createTurn = (turn_number: number, fields: Partial<TurnInfo> = {}): TurnInfo => ({
  turn_number,
  user_input: 'why?',
  response: 'because',
  state: 'completed',
  started_at: parseTimestamp(0),
  completed_at: parseTimestamp(0),
  tool_calls: [{ name: 'read', has_result: true, has_error: false }],
  reasoning: {
    session_id: 'epoch',
    thread_id: 'demo/bot',
    turn_number,
    narrative: null,
    tool_decisions: [
      { tool_name: 'read', rationale: 'to know', parameters: {}, outcome: 'success', parallel_group: null },
    ],
  },
  ...fields,
})
