import { type Envelope, GATEWAY, PROTOCOL } from '@meup/protocol'

/** The fields of an envelope in a test. Seq and time follow from its position in the log. */
export type Fields = Pick<Envelope, 'from' | 'kind'> & Partial<Envelope>
type More = Partial<Envelope>

const beginning = Date.parse('2026-02-21T10:00:00.000Z')

/** Makes logged envelopes, one second apart; ids are `e<seq>` unless the test sets them. */
export const toLog = (all: readonly Fields[], first = 1): Envelope[] =>
  all.map((fields, index) => {
    const seq = first + index
    return {
      protocol: PROTOCOL,
      id: `e${seq}`,
      seq,
      ts: new Date(beginning + (seq - 1) * 1000).toISOString(),
      payload: {},
      ...fields,
    }
  })

/** Applies all envelopes to a fold, and returns the changes. */
export function feed<Change>(fold: { apply(envelope: Envelope): Change }, all: readonly Fields[]): Change[] {
  return toLog(all).map((envelope) => fold.apply(envelope))
}

const said =
  (kind: string) =>
  (from: string, message: string, more: More = {}): Fields => ({
    kind,
    from,
    ...more,
    payload: { message, ...more.payload },
  })
export const chat = said('chat')
export const start = said('reasoning.start')
export const thought = said('reasoning.thought')
export const conclusion = said('reasoning.conclusion')

export const cancel = (from: string, context: string, reason?: string): Fields => ({
  kind: 'reasoning.cancel',
  from,
  context,
  payload: reason === undefined ? {} : { reason },
})

export const call = (from: string, name: string, args: object | undefined, more: More = {}): Fields => ({
  kind: 'mcp.request',
  from,
  to: ['tools'],
  ...more,
  payload: { method: 'tools/call', params: { name, ...(args && { arguments: args }) }, ...more.payload },
})

export const propose = (from: string, name: string, args: object, more: More = {}): Fields => ({
  ...call(from, name, args, more),
  kind: 'mcp.proposal',
})

/** An elicitation of a tool about a call. */
export const elicit = (from: string, correlationId: string, caller: string, more: More = {}): Fields => ({
  kind: 'mcp.request',
  from,
  to: [caller],
  correlationId,
  ...more,
  payload: { method: 'elicitation/create', params: { message: 'Which?' } },
})

export const response = (from: string, correlationId: string, payload: Envelope['payload']): Fields => ({
  kind: 'mcp.response',
  from,
  correlationId,
  payload,
})

/** A response of a tool with a text. */
export const result = (correlationId: string, text: string, from = 'tools'): Fields =>
  response(from, correlationId, { result: { content: [{ type: 'text', text }] } })

export const failure = (correlationId: string, message: string, from = 'tools'): Fields =>
  response(from, correlationId, { error: { code: -32000, message } })

export const toolError = (correlationId: string, text: string, from = 'tools'): Fields =>
  response(from, correlationId, { result: { content: [{ type: 'text', text }], isError: true } })

export const reject = (from: string, correlationId: string, reason = 'unsafe'): Fields => ({
  kind: 'mcp.reject',
  from,
  correlationId,
  payload: { reason },
})

export const withdraw = (from: string, correlationId: string): Fields => ({
  ...reject(from, correlationId, 'no longer needed'),
  kind: 'mcp.withdraw',
})

/** A decision of the gateway that refuses an envelope of this participant. */
export const refused = (participant: string, payload: Envelope['payload']): Fields => ({
  kind: 'system.decision',
  from: GATEWAY,
  to: [participant],
  payload: {
    decision: 'denied',
    reasonCode: 'capability_violation',
    message: 'no capability of agent allows this envelope',
    attemptedKind: 'mcp.request',
    count: 1,
    ...payload,
  },
})
