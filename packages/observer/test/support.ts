import { type LogRow, SpaceModel } from '@meup/observer/model'
import { defaultLimits, type Envelope, type WelcomePayload } from '@meup/protocol'

type Fields = Partial<Envelope> & Pick<Envelope, 'from' | 'kind'>

/** Builds the log of a space, with one envelope per second. */
export class Script {
  readonly envelopes: Envelope[] = []

  say(fields: Fields): Envelope {
    const seq = this.envelopes.length + 1
    const ts = new Date(Date.UTC(2026, 0, 1, 12) + seq * 1000).toISOString()
    const envelope: Envelope = { protocol: 'meup/v0.3', id: `e${seq}`, seq, ts, payload: {}, ...fields }
    this.envelopes.push(envelope)
    return envelope
  }

  chat(from: string, message: string, more: Partial<Envelope> = {}): Envelope {
    return this.say({ from, kind: 'chat', payload: { message }, ...more })
  }

  start(from: string, message: string, more: Partial<Envelope> = {}): Envelope {
    return this.say({ from, kind: 'reasoning.start', payload: { message }, ...more })
  }

  thought(from: string, context: string, message: string, payload: object = {}): Envelope {
    return this.say({ from, kind: 'reasoning.thought', context, payload: { message, ...payload } })
  }

  conclude(from: string, context: string, message: string): Envelope {
    return this.say({ from, kind: 'reasoning.conclusion', context, payload: { message } })
  }

  call(from: string, context: string, name: string, more: Partial<Envelope> = {}): Envelope {
    const payload = { jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: { path: 'a.ts' } } }
    return this.say({ from, to: ['tools'], kind: 'mcp.request', context, payload, ...more })
  }

  answer(request: Envelope, text: string, isError = false): Envelope {
    const payload = { result: { content: [{ type: 'text', text }], isError } }
    const { id: correlationId, context, from } = request
    return this.say({
      from: 'tools',
      to: [from],
      kind: 'mcp.response',
      correlationId,
      payload,
      ...(context !== undefined && { context }),
    })
  }

  propose(from: string, context: string, name: string, more: object = {}): Envelope {
    const payload = { method: 'tools/call', params: { name, arguments: {} }, ...more }
    return this.say({ from, to: ['tools'], kind: 'mcp.proposal', context, rationale: 'it is time', payload })
  }

  presence(event: string, id: string): Envelope {
    return this.say({
      from: 'system:gateway',
      kind: 'system.presence',
      payload: { event, participant: { id, capabilities: [] } },
    })
  }

  /** A model of the whole log. */
  read(): SpaceModel {
    const model = new SpaceModel()
    model.append(this.envelopes, 0)
    return model
  }
}

export const welcome = (ids: readonly string[], head = 0): WelcomePayload => ({
  you: { id: 'ana', capabilities: [] },
  participants: ids.map((id) => ({ id, kind: 'agent', capabilities: [], status: 'present' })),
  space: { id: 'demo', epoch: 'one', head },
  resume: { status: 'replaying', from: 1, to: head },
  contexts: [],
  subscription: { suppressed: { envelopes: 0, bytes: 0 } },
  limits: defaultLimits,
  mcp: { visibility: 'everyone' },
  proposals: [],
})

/** A row as one line of text. */
export function gist(row: LogRow): string {
  const indent = '  '.repeat(row.depth)
  switch (row.type) {
    case 'message':
      return `${indent}${row.envelope.from}: ${row.text}`
    case 'heading':
      return `${indent}${row.owner} ${row.isLive ? 'thinks' : row.state} [${row.level}] ${row.ending ?? row.opening ?? ''}`
    case 'said':
      return `${indent}${row.tone} ${row.name && `${row.name}: `}${row.text}`
    case 'call':
      return `${indent}${row.tool} ${row.result?.outcome ?? 'pending'}`
    case 'batch':
      return `${indent}${row.calls.map(({ tool }) => tool).join(' ∥ ')}`
    case 'proposal':
      return `${indent}${row.proposal.tool} ${row.proposal.state}`
    case 'end':
      return `${indent}${row.isCancelled ? 'stopped' : 'concluded'} ${row.text}`
    case 'more':
      return `${indent}${row.count} more`
  }
}

export const gists = (model: SpaceModel): string[] => model.lists.stream.rows.map(gist)
