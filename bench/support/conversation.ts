import type { DraftEntry } from '@meup/gateway'
import { Kind, PROTOCOL } from '@meup/protocol'

/**
 * Time of the first envelope. With ten envelopes per second and at most a million of them, all are in the past, but not old
 * enough to be pruned.
 */
const beginning = Date.now() - 2 * 24 * 60 * 60 * 1000
/** Number of envelopes in one turn. */
const length = 10

export interface Conversation {
  readonly agents: number
  /** Minimum bytes of a tool result; default: the length of its text. */
  readonly resultBytes?: number
}

/** Makes envelopes of a long conversation: ana asks one agent after another; each calls two tools at once and answers. */
export function conversation(first: number, count: number, how: Conversation): DraftEntry[] {
  return Array.from({ length: count }, (_, index) => draftOf(first + index, how))
}

function draftOf(seq: number, { agents, resultBytes = 0 }: Conversation): DraftEntry {
  const turn = Math.floor((seq - 1) / length)
  const agent = `agent-${turn % agents}`
  const run = `run-${turn}`
  const question = `question-${turn}`
  const call = (which: number, name: string) => ({
    from: agent,
    kind: Kind.mcpRequest,
    to: ['files'],
    context: run,
    parallelGroup: 0,
    rationale: `the report ${which} decides`,
    payload: {
      jsonrpc: '2.0',
      id: which,
      method: 'tools/call',
      params: { name, arguments: { path: `${turn}.txt` } },
    },
  })
  const result = (which: number, result: object) => ({
    from: 'files',
    kind: Kind.mcpResponse,
    to: [agent],
    correlationId: `call-${turn}-${which}`,
    payload: { jsonrpc: '2.0', id: which, result },
  })
  const says = (kind: string, message: string, more: object = {}) => ({
    from: agent,
    kind,
    context: run,
    ...more,
    payload: { message },
  })
  const content = (text: string) => [{ type: 'text', text: text.padEnd(resultBytes, ' all is well,') }]
  const lines = [
    {
      id: question,
      from: 'ana',
      kind: Kind.chat,
      to: [agent],
      payload: { message: `Can we deploy build ${turn}?` },
    },
    {
      id: run,
      from: agent,
      kind: Kind.reasoningStart,
      correlationId: question,
      payload: { message: 'Two reports decide.' },
    },
    says(Kind.reasoningThought, 'I read both of them at once.'),
    { id: `call-${turn}-1`, ...call(1, 'read_report') },
    { id: `call-${turn}-2`, ...call(2, 'read_load') },
    result(2, { content: content('p99 412 ms') }),
    result(
      1,
      turn % 20 === 0
        ? { isError: true, content: content('no such file') }
        : { content: content('212 passed') },
    ),
    says(Kind.reasoningThought, 'All tests pass.'),
    says(Kind.reasoningConclusion, 'It can be deployed.'),
    { from: agent, kind: Kind.chat, correlationId: question, payload: { message: 'Yes, deploy it.' } },
  ]
  const { id = `e${seq}`, ...line } = lines[(seq - 1) % length] as (typeof lines)[number] & { id?: string }
  const envelope = { protocol: PROTOCOL, id, ts: new Date(beginning + seq * 100).toISOString(), ...line }
  const body = Buffer.from(JSON.stringify(envelope))
  const { payload: _, ...fields } = envelope
  return { ...fields, seq, body, content: body } as DraftEntry
}
