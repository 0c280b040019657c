import type { Dial, DialRequest, TransportEvents } from '@meup/agent-sdk/internal'
import { defaultLimits, type Envelope, PROTOCOL, type WelcomePayload } from '@meup/protocol'

/** An envelope as the client sends it. */
type Sent = Omit<Envelope, 'protocol' | 'ts' | 'from' | 'seq'>

/** A connection; the test acts as the gateway. */
export interface ScriptedLine {
  readonly request: DialRequest
  readonly sent: Sent[]
  /** The close code that the client sent. */
  readonly closed: number | undefined
  /** Sends a welcome. `answers`: the subscription change that it answers. */
  welcome(change?: Partial<WelcomePayload>, answers?: Sent): void
  /** Delivers envelopes in one tick, like a socket that received them in one packet. */
  deliver(...envelopes: object[]): void
  /** Echoes a sent envelope, as if the gateway had accepted it. */
  accept(sent: Sent, seq: number): void
  close(code: number, reason?: string): void
}

/** A `dial` function whose connections the test controls. `refuse`: lets further attempts fail. */
export function scriptedDial(me = 'me') {
  const lines: ScriptedLine[] = []
  const [ready, awaited]: [ScriptedLine[], ((line: ScriptedLine) => void)[]] = [[], []]
  let error: Error | undefined
  const hand = (): void => {
    const [line, take] = [ready[0], awaited[0]]
    if (line === undefined || take === undefined) return
    ready.shift()
    awaited.shift()
    take(line)
  }
  const dial: Dial = async (request, events) => {
    if (error !== undefined) throw error
    const { script, transport } = openLine(me, request, events)
    lines.push(script)
    setImmediate(() => {
      ready.push(script)
      hand()
    })
    return transport
  }
  return {
    dial,
    lines,
    /** Resolves with the next connection, when frames may be sent on it. */
    next: (): Promise<ScriptedLine> =>
      new Promise((resolve) => {
        awaited.push(resolve)
        hand()
      }),
    refuse: (cause: Error | undefined) => {
      error = cause
    },
  }
}

function openLine(me: string, request: DialRequest, events: TransportEvents) {
  const state = { sent: [] as Sent[], closed: undefined as number | undefined }
  const deliver = (...envelopes: object[]): void => {
    for (const envelope of envelopes) events.message(JSON.stringify(envelope))
  }
  const script: ScriptedLine = {
    request,
    sent: state.sent,
    get closed() {
      return state.closed
    },
    welcome: (change = {}, answers = undefined) => {
      const more = answers === undefined ? {} : { correlationId: answers.id }
      deliver(fromGateway('system.welcome', { ...makeWelcome(me), ...change }, more))
    },
    deliver,
    accept: (sent, seq) => deliver(accepted(me, sent, seq)),
    close: (code, reason = '') => events.close(code, reason),
  }
  const transport = {
    send: (text: string) => state.sent.push(JSON.parse(text) as Sent),
    close: (code: number) => {
      state.closed = code
    },
  }
  return { script, transport }
}

const ts = '2026-01-01T00:00:00.000Z'

export const accepted = (from: string, sent: object, seq: number): object => ({
  payload: {},
  ...sent,
  seq,
  ts,
  from,
  protocol: PROTOCOL,
})

let frames = 0
export const fromGateway = (kind: string, payload: object, more: object = {}): object => ({
  protocol: PROTOCOL,
  id: `frame-${frames++}`,
  ts,
  from: 'system:gateway',
  kind,
  payload,
  ...more,
})

export const makeWelcome = (me: string): WelcomePayload => ({
  you: { id: me, capabilities: ['chat'] },
  participants: [{ id: me, kind: 'agent', capabilities: ['chat'], status: 'present' }],
  space: { id: 'test', epoch: 'epoch-1', head: 0 },
  resume: { status: 'live', from: 1, to: 0 },
  contexts: [],
  subscription: { suppressed: { envelopes: 0, bytes: 0 } },
  limits: defaultLimits,
  mcp: { visibility: 'everyone' },
  proposals: [],
})
