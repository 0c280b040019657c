import { type JsonSchema, Phase, plainSchema } from '@meup/protocol'
import { arrayOf, count, object, schemaRef, text } from './schemas.js'

const textOrNull: JsonSchema = { type: ['string', 'null'] }
const countOrNull: JsonSchema = { type: ['integer', 'null'], minimum: 0 }
const turnNumber: JsonSchema = { type: 'integer', minimum: 1 }
const turnState: JsonSchema = { enum: ['running', 'completed', 'cancelled', 'abandoned', 'error'] }
const outcome: JsonSchema = { enum: ['success', 'error', 'rejected', null], description: 'null: none yet' }

const identity = {
  session_id: { ...text, description: 'epoch of the log' },
  thread_id: { ...text, description: 'space/agent' },
  turn_number: turnNumber,
}
const decision = {
  tool_name: text,
  rationale: { ...text, minLength: 1 },
  rationale_given: { const: false, description: 'present where the agent gave no rationale' },
  parameters: { description: 'redacted and cut' },
  outcome,
  cancelled: {
    ...text,
    description: 'why, may be empty; present where it was cancelled before it was answered',
  },
  parallel_group: { ...countOrNull, description: 'the same for all that were dispatched together' },
}
const size: JsonSchema = {
  oneOf: [object({ count, unit: text }), { type: 'null' }],
  description: 'how much came back, in chars, bytes, or what was counted; only with `sizes=true`',
}
const { parameters: _, cancelled: __, ...told } = decision
const { parallel_group: ___, ...toldOfJob } = told

/** Turns, the steps of the audit, and the events that tell why tools were called. */
export const turnSchemas = (): Record<string, JsonSchema> => ({
  turns: object(
    {
      thread_id: identity.thread_id,
      turns: arrayOf(schemaRef('turn')),
      has_more: { type: 'boolean' },
      next: { ...count, description: '`before` of the next request' },
    },
    ['next'],
  ),
  turn: object(
    {
      turn_number: turnNumber,
      user_input: textOrNull,
      response: textOrNull,
      state: turnState,
      started_at: text,
      completed_at: textOrNull,
      tool_calls: arrayOf(
        object({ name: text, has_result: { type: 'boolean' }, has_error: { type: 'boolean' } }),
      ),
      reasoning: {
        oneOf: [
          object({
            ...identity,
            narrative: textOrNull,
            tool_decisions: arrayOf(object({ ...decision, size }, ['rationale_given', 'cancelled', 'size'])),
          }),
          { type: 'null' },
        ],
        description: 'null: no tool was called',
      },
      truncated: { const: true, description: 'present where its first envelopes have been pruned' },
      next: { ...count, description: '`calls_before` of the request for its earlier calls' },
    },
    ['truncated', 'next'],
  ),
  step: object({
    id: { ...text, description: 'a ULID' },
    turn_id: text,
    step_number: { ...count, description: 'from 0 in the turn' },
    phase: plainSchema(Phase),
    content: text,
    linked_tool_call: { ...textOrNull, description: 'id of the request' },
    linked_policy_decision: { ...textOrNull, description: 'id of the decision' },
    linked_approval_request: { ...textOrNull, description: 'id of the proposal' },
    created_at: text,
    seq: count,
    thread_id: identity.thread_id,
    turn_number: { type: ['integer', 'null'], minimum: 1, description: 'null: of a job' },
    timestamp: { ...text, description: 'when the turn began' },
    state: turnState,
    input_source: { ...text, description: 'kind of what the turn is about, or job' },
  }),
  reasoning_update: object(
    {
      type: { const: 'reasoning_update' },
      ...identity,
      narrative: text,
      tool_decisions: arrayOf(object(told, ['rationale_given'])),
    },
    ['narrative'],
  ),
  job_reasoning: object(
    {
      type: { const: 'job_reasoning' },
      job_id: { ...text, description: 'id of the start of the run' },
      narrative: text,
      tool_decisions: arrayOf(object(toldOfJob, ['rationale_given'])),
    },
    ['narrative'],
  ),
})
