import {
  ContextInfo,
  DecisionPayload,
  errorCodes,
  InviteAckPayload,
  type JsonSchema,
  jsonSchemas,
  ParticipantDetails,
  plainSchema,
} from '@meup/protocol'

export const count: JsonSchema = { type: 'integer', minimum: 0 }
export const text: JsonSchema = { type: 'string' }

/** An object whose fields are all there, unless `optional` names them. */
export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

export const arrayOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** The schemas of the protocol, as parts of a larger document: there a name stands for an `$id`. */
export function protocolSchemas(): Record<string, JsonSchema> {
  const nameless = Object.entries(jsonSchemas()).map(([name, { $id: _, ...schema }]) => [name, schema])
  return Object.fromEntries(nameless)
}

const place = { epoch: text, head: { ...count, description: 'last seq of the log' } }
const context = plainSchema(ContextInfo)

/** What the routes answer with. */
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
        envelopes: arrayOf(schemaRef('envelope')),
        ...place,
        has_more: { type: 'boolean' },
        next: { ...count, description: '`after` of the next request, or `before` in descending order' },
      },
      ['next'],
    ),
    participants: object({ participants: arrayOf(plainSchema(ParticipantDetails)), ...place }),
    context: {
      allOf: [context, object({ counts, children: arrayOf(schemaRef('context')) })],
      description: 'the counts cover it and everything below it, as far as everyone may read it',
    },
    free_path: {
      ...object({
        context: text,
        state: { const: 'free' },
        startedAt: text,
        counts,
        children: { type: 'array', maxItems: 0 },
      }),
      description: 'a path that no reasoning has opened; counts up to 10,000 envelopes',
    },
    contexts: object({ contexts: arrayOf(schemaRef('context')), ...place }),
    audit: object(
      {
        steps: arrayOf(schemaRef('step')),
        decisions: arrayOf(schemaRef('decision')),
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
        'context',
      ],
    ),
    verification: object(
      {
        ok: { type: 'boolean' },
        ...place,
        hash: { ...text, description: 'of the last envelope that holds: with `ok`, of the head' },
        checked: { ...count, description: 'envelopes that hold, from the oldest on' },
        brokenAt: { ...count, description: 'seq of the first that is missing, or is not what was chained' },
        column: {
          ...text,
          description: 'what is kept beside the body of that one, and is not what the body says',
        },
        prunedBefore: { ...count, description: 'what is older than this seq has been pruned' },
      },
      ['brokenAt', 'column', 'prunedBefore'],
    ),
    link: object({ code: text, expiresAt: text }),
    exchanged: object({ space: text, participant: text, token: text }),
    spaces: object({ spaces: arrayOf(text) }),
    status: object({ status: text }),
    problem: {
      ...object({ type: text, title: text, status: count, detail: text, code: { enum: errorCodes } }),
      description: 'RFC 9457; `detail` says what to do',
    },
  }
}
