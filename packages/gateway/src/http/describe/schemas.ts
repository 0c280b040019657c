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
export const textSchema: JsonSchema = { type: 'string' }

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

const place = { epoch: textSchema, head: { ...count, description: 'last seq of the log' } }
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
      { id: textSchema, seq: { type: 'integer', minimum: 1 }, invitation: plainSchema(InviteAckPayload) },
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
        ...{
          seq: { type: 'integer', minimum: 1 },
          id: textSchema,
          ts: textSchema,
          from: textSchema,
          to: array(textSchema),
        },
        ...{
          context: textSchema,
          rationale: textSchema,
          correlationId: { oneOf: [textSchema, array(textSchema)] },
          method: textSchema,
        },
        parallelGroup: count,
        params: { type: 'object', description: 'the bytes that were proposed' },
        expiresAt: textSchema,
        usesLeft: { type: 'integer', minimum: 1 },
        rejectedBy: {
          ...array(textSchema),
          description: 'participants that may no longer approve it; others may',
        },
      },
      ['to', 'context', 'rationale', 'correlationId', 'parallelGroup', 'params', 'expiresAt'],
    ),
    context: {
      allOf: [context, object({ counts, children: array(anyContext) })],
      description: 'the counts cover it and everything below it, as far as everyone may read it',
    },
    free_path: {
      ...object({
        context: textSchema,
        state: { const: 'free' },
        startedAt: textSchema,
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
        id: textSchema,
        seq: count,
        ts: textSchema,
        participant: { ...textSchema, description: 'whose envelope it was' },
        decision: plainSchema(DecisionPayload.properties.decision),
        reason_code: textSchema,
        message: textSchema,
        attempted_kind: textSchema,
        attempted_tool: textSchema,
        attempted_rationale: textSchema,
        attempted_arguments: plainSchema(DecisionPayload.properties.attemptedArguments),
        attempted_correlation: plainSchema(DecisionPayload.properties.attemptedCorrelation),
        attempted_id: textSchema,
        missing: plainSchema(DecisionPayload.properties.missing),
        context: textSchema,
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
        id: textSchema,
        ts: textSchema,
        from: textSchema,
        kind: textSchema,
        context: textSchema,
        tool: {
          ...textSchema,
          description: 'that was called, proposed or refused, or whose call it answers',
        },
        snippet: { ...textSchema, description: 'its text around the first word, guarded' },
        ranges: {
          ...array({ type: 'array', items: count, minItems: 2, maxItems: 2 }),
          description: 'start and end of each word in the snippet',
        },
      },
      ['context', 'tool'],
    ),
    why: object(
      {
        of: object({ seq: count, id: textSchema }),
        steps: array(schemaRef('why_step')),
        allowed: {
          ...object(
            { by: { enum: ['configured', 'grant', 'proposal'] }, id: textSchema, capability: textSchema },
            ['id', 'capability'],
          ),
          description: 'the right that let the call pass which the envelope is, or answers',
        },
        approvals: array(object({ by: textSchema, seq: count, reason: textSchema }, ['reason'])),
        outside: { ...array(count), description: 'seqs of results of tools, and of messages of guests' },
        transcript: {
          ...object({ hash: textSchema }),
          description: 'the transcript of the model that wrote the answer',
        },
        cut: { type: 'boolean', description: 'earlier causes may be missing, or steps are left out' },
        proof: {
          ...object({ seq: count, hash: textSchema, head: count }),
          description: 'the place of the envelope in the hash chain, and the last seq of the log',
        },
      },
      ['allowed', 'transcript'],
    ),
    why_step: object(
      {
        ...{ seq: count, id: textSchema, ts: textSchema, from: textSchema, role: { enum: whyRoles } },
        rank: { type: 'integer', minimum: 1, description: '1: look here first' },
        text: { ...textSchema, description: 'its text, guarded and cut' },
        context: textSchema,
        about: { ...count, description: 'seq of the step that it answers' },
        signals: { ...array({ enum: whySignals }), description: 'why it is ranked before others' },
      },
      ['context', 'about', 'signals'],
    ),
    verification: object(
      {
        ok: { type: 'boolean' },
        ...place,
        hash: { ...textSchema, description: 'of the last valid envelope: with `ok`, of the head' },
        checked: { ...count, description: 'envelopes that hold, from the oldest on' },
        brokenAt: { ...count, description: 'seq of the first envelope that is missing or changed' },
        column: {
          ...textSchema,
          description: 'the stored field of that row that differs from its body',
        },
        prunedBefore: { ...count, description: 'envelopes before this seq have been pruned' },
        erased: {
          ...array(object({ seq: count, id: textSchema, by: textSchema, reason: textSchema })),
          description: 'the latest records of erased envelopes',
        },
      },
      ['brokenAt', 'column', 'prunedBefore', 'erased'],
    ),
    erase: object({
      seq: { type: 'integer', minimum: 1 },
      reason: { ...textSchema, minLength: 1, maxLength: maxErasureReason },
    }),
    erasure: object({
      seq: count,
      recordedAt: { ...count, description: 'seq of the record' },
      removed: { type: 'boolean', description: 'false: its bytes go as soon as the log can' },
    }),
    link: object({ code: textSchema, expiresAt: textSchema }),
    exchanged: object({ space: textSchema, participant: textSchema, token: textSchema }),
    spaces: object({ spaces: array(textSchema) }),
    status: object({ status: textSchema }),
    problem: {
      ...object({
        type: textSchema,
        title: textSchema,
        status: count,
        detail: textSchema,
        code: { enum: errorCodes },
      }),
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
  session_id: { ...textSchema, description: 'epoch of the log' },
  thread_id: { ...textSchema, description: 'space/agent' },
  turn_number: turnNumber,
}
const decision = {
  tool_name: textSchema,
  rationale: { ...textSchema, minLength: 1 },
  rationale_given: { const: false, description: 'present where the agent gave no rationale' },
  parameters: { description: 'redacted and cut' },
  outcome,
  cancelled: {
    ...textSchema,
    description: 'the reason, may be empty; present if it was cancelled before it was answered',
  },
  parallel_group: { ...countOrNull, description: 'the same for all that were dispatched together' },
}
const right = {
  allowed_by: {
    ...textSchema,
    description: 'the right that let the call pass: `configured`, or the id of a grant or an invitation',
  },
  approved_by: {
    ...textSchema,
    description: 'the approver, if the call was proposed by another participant',
  },
  right: { ...textSchema, description: 'the same in words' },
}
const rightFields = Object.keys(right)
const size: JsonSchema = {
  oneOf: [object({ count, unit: textSchema }), { type: 'null' }],
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
      answer_id: { ...textSchema, description: 'the envelope that is the response, with `sizes=true`' },
      state: turnState,
      error: {
        ...textSchema,
        description: 'the error, as reported by the agent; present in the state error',
      },
      started_at: textSchema,
      completed_at: textOrNull,
      tool_calls: array(
        object({ name: textSchema, has_result: { type: 'boolean' }, has_error: { type: 'boolean' } }),
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
      id: { ...textSchema, description: 'a ULID' },
      turn_id: textSchema,
      step_number: { ...count, description: 'from 0 in the turn' },
      phase: plainSchema(Phase),
      content: textSchema,
      linked_tool_call: { ...textOrNull, description: 'id of the request' },
      linked_policy_decision: { ...textOrNull, description: 'id of the decision' },
      linked_approval_request: { ...textOrNull, description: 'id of the proposal' },
      created_at: textSchema,
      seq: count,
      thread_id: identity.thread_id,
      turn_number: { type: ['integer', 'null'], minimum: 1, description: 'null: of a job' },
      timestamp: { ...textSchema, description: 'when the turn began' },
      state: turnState,
      input_source: { ...textSchema, description: 'kind of the envelope that the turn answers, or job' },
      asked_by: {
        ...textOrNull,
        description: 'sender of the envelope that the turn answers; null: none, pruned, or not readable',
      },
      rationale: { ...textSchema, description: 'why the call was made; absent where no reason was given' },
      parameters: { description: 'arguments of the call, masked and cut' },
      redacted_by: {
        ...textSchema,
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
      narrative: textSchema,
      tool_decisions: array(object(eventDecision, ['rationale_given'])),
    },
    ['narrative'],
  ),
  job_reasoning: object(
    {
      type: { const: 'job_reasoning' },
      job_id: { ...textSchema, description: 'id of the start of the run' },
      narrative: textSchema,
      tool_decisions: array(object(jobDecision, ['rationale_given'])),
    },
    ['narrative'],
  ),
})
