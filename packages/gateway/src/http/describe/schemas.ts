import { whyRoles, whySignals } from '@meup/folds'
import {
  ContextInfo,
  DecisionPayload,
  errorCodes,
  InviteAckPayload,
  type JsonSchema,
  jsonSchemas,
  maxErasureReason,
  ParticipantDetails,
  Phase,
  plainSchema,
} from '@meup/protocol'

const count: JsonSchema = { type: 'integer', minimum: 0 }
export const text: JsonSchema = { type: 'string' }

/** An object schema; all fields are required unless `optional` names them. */
export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

export const array = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** The protocol's schemas as parts of a larger document, where a name replaces an `$id`. */
export function protocolSchemas(): Record<string, JsonSchema> {
  const nameless = Object.entries(jsonSchemas()).map(([name, { $id: _, ...schema }]) => [name, schema])
  return Object.fromEntries(nameless)
}

const place = { epoch: text, head: { ...count, description: 'last seq of the log' } }
const context = plainSchema(ContextInfo)
const anyContext: JsonSchema = { anyOf: [schemaRef('context'), schemaRef('free_path')] }

/** The response schemas of the routes. */
export function answerSchemas(): Record<string, JsonSchema> {
  const { envelope = {}, submission = {} } = protocolSchemas()
  const counts = object({ envelopes: count, thoughts: count, contributors: count })
  return {
    envelope,
    submission,
    receipt: object(
      { id: text, seq: { type: 'integer', minimum: 1 }, invitation: plainSchema(InviteAckPayload) },
      ['invitation'],
    ),
    history: object(
      {
        envelopes: array(schemaRef('envelope')),
        ...place,
        has_more: { type: 'boolean' },
        next: { ...count, description: '`after` of the next request, or `before` in descending order' },
      },
      ['next'],
    ),
    participants: object({ participants: array(plainSchema(ParticipantDetails)), ...place }),
    proposals: object(
      {
        proposals: array(schemaRef('proposal')),
        ...place,
        has_more: { type: 'boolean' },
        next: { ...count, description: '`after` of the next request' },
      },
      ['next'],
    ),
    proposal: object(
      {
        ...{ seq: { type: 'integer', minimum: 1 }, id: text, ts: text, from: text, to: array(text) },
        ...{ context: text, rationale: text, correlationId: { oneOf: [text, array(text)] }, method: text },
        parallelGroup: count,
        params: { type: 'object', description: 'the bytes that were proposed' },
        expiresAt: text,
        usesLeft: { type: 'integer', minimum: 1 },
        rejectedBy: { ...array(text), description: 'participants that may no longer approve it; others may' },
      },
      ['to', 'context', 'rationale', 'correlationId', 'parallelGroup', 'params', 'expiresAt'],
    ),
    context: {
      allOf: [context, object({ counts, children: array(anyContext) })],
      description: 'the counts cover it and everything below it, as far as everyone may read it',
    },
    free_path: {
      ...object({
        context: text,
        state: { const: 'free' },
        startedAt: text,
        counts,
        children: array(schemaRef('free_path')),
      }),
      description:
        'a path that no reasoning has opened; counts up to 10,000 envelopes, in a list without calls',
    },
    contexts: object({ contexts: array(anyContext), ...place }),
    audit: object(
      {
        steps: array(schemaRef('step')),
        decisions: array(schemaRef('decision')),
        has_more: { type: 'boolean' },
        next: { ...count, description: '`before` of the next request' },
      },
      ['next'],
    ),
    decision: object(
      {
        id: text,
        seq: count,
        ts: text,
        participant: { ...text, description: 'whose envelope it was' },
        decision: plainSchema(DecisionPayload.properties.decision),
        reason_code: text,
        message: text,
        attempted_kind: text,
        attempted_tool: text,
        attempted_rationale: text,
        attempted_arguments: plainSchema(DecisionPayload.properties.attemptedArguments),
        attempted_correlation: plainSchema(DecisionPayload.properties.attemptedCorrelation),
        attempted_id: text,
        missing: plainSchema(DecisionPayload.properties.missing),
        context: text,
        count: { type: 'integer', minimum: 1, description: 'how often, within a second' },
      },
      [
        'attempted_kind',
        'attempted_tool',
        'attempted_rationale',
        'attempted_arguments',
        'attempted_correlation',
        'attempted_id',
        'missing',
        'context',
      ],
    ),
    search: object(
      {
        hits: array(schemaRef('hit')),
        searched_to: {
          type: ['string', 'null'],
          description: 'time of the oldest envelope that was looked at',
        },
        has_more: { type: 'boolean' },
        next: { ...count, description: '`before` of the next request' },
      },
      ['next'],
    ),
    hit: object(
      {
        seq: count,
        id: text,
        ts: text,
        from: text,
        kind: text,
        context: text,
        tool: { ...text, description: 'that was called, proposed or refused, or whose call it answers' },
        snippet: { ...text, description: 'its text around the first word, guarded' },
        ranges: {
          ...array({ type: 'array', items: count, minItems: 2, maxItems: 2 }),
          description: 'start and end of each word in the snippet',
        },
      },
      ['context', 'tool'],
    ),
    why: object(
      {
        of: object({ seq: count, id: text }),
        steps: array(schemaRef('why_step')),
        allowed: {
          ...object({ by: { enum: ['configured', 'grant', 'proposal'] }, id: text, capability: text }, [
            'id',
            'capability',
          ]),
          description: 'the right that let the call pass which the envelope is, or answers',
        },
        approvals: array(object({ by: text, seq: count, reason: text }, ['reason'])),
        outside: { ...array(count), description: 'seqs of results of tools, and of messages of guests' },
        transcript: {
          ...object({ hash: text }),
          description: 'the transcript of the model that wrote the answer',
        },
        cut: { type: 'boolean', description: 'earlier causes may be missing, or steps are left out' },
        proof: {
          ...object({ seq: count, hash: text, head: count }),
          description: 'the place of the envelope in the hash chain, and the last seq of the log',
        },
      },
      ['allowed', 'transcript'],
    ),
    why_step: object(
      {
        ...{ seq: count, id: text, ts: text, from: text, role: { enum: whyRoles } },
        rank: { type: 'integer', minimum: 1, description: '1: look here first' },
        text: { ...text, description: 'its text, guarded and cut' },
        context: text,
        about: { ...count, description: 'seq of the step that it answers' },
        signals: { ...array({ enum: whySignals }), description: 'why it is ranked before others' },
      },
      ['context', 'about', 'signals'],
    ),
    verification: object(
      {
        ok: { type: 'boolean' },
        ...place,
        hash: { ...text, description: 'of the last valid envelope: with `ok`, of the head' },
        checked: { ...count, description: 'envelopes that hold, from the oldest on' },
        brokenAt: { ...count, description: 'seq of the first envelope that is missing or changed' },
        column: {
          ...text,
          description: 'the stored field of that row that differs from its body',
        },
        prunedBefore: { ...count, description: 'envelopes before this seq have been pruned' },
        erased: {
          ...array(object({ seq: count, id: text, by: text, reason: text })),
          description: 'the latest records of erased envelopes',
        },
      },
      ['brokenAt', 'column', 'prunedBefore', 'erased'],
    ),
    erase: object({
      seq: { type: 'integer', minimum: 1 },
      reason: { ...text, minLength: 1, maxLength: maxErasureReason },
    }),
    erasure: object({
      seq: count,
      recordedAt: { ...count, description: 'seq of the record' },
      removed: { type: 'boolean', description: 'false: its bytes go as soon as the log can' },
    }),
    link: object({ code: text, expiresAt: text }),
    exchanged: object({ space: text, participant: text, token: text }),
    spaces: object({ spaces: array(text) }),
    status: object({ status: text }),
    problem: {
      ...object({ type: text, title: text, status: count, detail: text, code: { enum: errorCodes } }),
      description: 'RFC 9457; `detail` includes advice',
    },
  }
}

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
    description: 'the reason, may be empty; present if it was cancelled before it was answered',
  },
  parallel_group: { ...countOrNull, description: 'the same for all that were dispatched together' },
}
const right = {
  allowed_by: {
    ...text,
    description: 'the right that let the call pass: `configured`, or the id of a grant or an invitation',
  },
  approved_by: { ...text, description: 'the approver, if the call was proposed by another participant' },
  right: { ...text, description: 'the same in words' },
}
const rightFields = Object.keys(right)
const size: JsonSchema = {
  oneOf: [object({ count, unit: text }), { type: 'null' }],
  description: 'size of the result, in chars, bytes, or the counted unit; only with `sizes=true`',
}
const { parameters: _, cancelled: __, ...eventDecision } = decision
const { parallel_group: ___, ...jobDecision } = eventDecision

/** Turns, the steps of the audit, and the events with the reasons of tool calls. */
export const turnSchemas = (): Record<string, JsonSchema> => ({
  turns: object(
    {
      thread_id: identity.thread_id,
      turns: array(schemaRef('turn')),
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
      answer_id: { ...text, description: 'the envelope that is the response, with `sizes=true`' },
      state: turnState,
      error: { ...text, description: 'the error, as reported by the agent; present in the state error' },
      started_at: text,
      completed_at: textOrNull,
      tool_calls: array(
        object({ name: text, has_result: { type: 'boolean' }, has_error: { type: 'boolean' } }),
      ),
      reasoning: {
        oneOf: [
          object({
            ...identity,
            narrative: textOrNull,
            tool_decisions: array(
              object({ ...decision, ...right, size }, [
                'rationale_given',
                'cancelled',
                'size',
                ...rightFields,
              ]),
            ),
          }),
          { type: 'null' },
        ],
        description: 'null: no tool was called',
      },
      truncated: { const: true, description: 'present if its first envelopes have been pruned' },
      next: { ...count, description: '`calls_before` of the request for its earlier calls' },
    },
    ['answer_id', 'error', 'truncated', 'next'],
  ),
  step: object(
    {
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
      input_source: { ...text, description: 'kind of the envelope that the turn answers, or job' },
      asked_by: {
        ...textOrNull,
        description: 'sender of the envelope that the turn answers; null: none, pruned, or not readable',
      },
      rationale: { ...text, description: 'why the call was made; absent where no reason was given' },
      parameters: { description: 'arguments of the call, masked and cut' },
      redacted_by: {
        ...text,
        description:
          'the rules that masked arguments and results of calls: `redaction` of `system.space configured`',
      },
      ...right,
    },
    ['rationale', 'parameters', 'redacted_by', ...rightFields],
  ),
  reasoning_update: object(
    {
      type: { const: 'reasoning_update' },
      ...identity,
      narrative: text,
      tool_decisions: array(object(eventDecision, ['rationale_given'])),
    },
    ['narrative'],
  ),
  job_reasoning: object(
    {
      type: { const: 'job_reasoning' },
      job_id: { ...text, description: 'id of the start of the run' },
      narrative: text,
      tool_decisions: array(object(jobDecision, ['rationale_given'])),
    },
    ['narrative'],
  ),
})
