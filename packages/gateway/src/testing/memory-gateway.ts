import {
  BYE,
  type Capability,
  defaultLimits,
  type Limits,
  omitUndefined,
  ProtocolError,
  rateClasses,
  resolveSelf,
} from '@meup/protocol'
import { defaultSafety } from '@meup/safety'
import type { SpaceConfig } from '../core/config.js'
import { isRefusal } from '../core/refusal.js'
import { tokenAuthenticator } from '../host/auth/token-authenticator.js'
import { checkResume, type Resume } from '../host/connection-gate.js'
import { type ConnectRequest, createGateway, type Gateway, type GatewayOptions } from '../host/gateway.js'
import type { Clock } from '../ports/clock.js'
import type { Connection, OutboundBatch } from '../ports/connection.js'
import { silent } from '../ports/logger.js'
import { memoryStore } from '../storage/memory-log.js'

export interface TestParticipant {
  /** Kind of the participant, for example `mcp`. */
  readonly kind: string
  readonly capabilities: readonly Capability[]
  readonly programs?: 'one' | 'many'
  readonly description?: string
}

export interface TestSpaceOptions {
  /** Participants with their capabilities and kind; default kind: `agent`. */
  readonly participants: Readonly<Record<string, readonly Capability[] | TestParticipant>>
  readonly name?: string
  /** Rates that are not given do not limit the test. */
  readonly limits?: Partial<Omit<Limits, 'rates'>> & { readonly rates?: Partial<Limits['rates']> }
  readonly frontDesk?: string
  readonly guest?: SpaceConfig['guest']
  readonly reasoning?: Partial<SpaceConfig['reasoning']>
  readonly safety?: Partial<SpaceConfig['safety']>
  readonly mcp?: SpaceConfig['mcp']
  /** Absent = the log is never pruned. */
  readonly retention?: SpaceConfig['retention']
}

/** A space for tests. Rates do not limit unless given. */
export function testSpaceConfig(options: TestSpaceOptions): SpaceConfig {
  const { name = 'test', participants, limits, frontDesk, guest, reasoning, safety, mcp, retention } = options
  const plenty = { perSecond: 1e9, burst: 1e9 }
  const rates = Object.fromEntries(rateClasses.map((each) => [each, plenty])) as Limits['rates']
  return {
    name,
    participants: Object.fromEntries(
      Object.entries(participants).map(([id, each]) => {
        const participant = 'capabilities' in each ? each : { kind: 'agent', capabilities: each }
        return [id, { ...participant, capabilities: resolveSelf(participant.capabilities, id, participants) }]
      }),
    ),
    defaults: { capabilities: [] },
    ...omitUndefined({ frontDesk }),
    ...(guest && { guest }),
    limits: { ...defaultLimits, ...limits, rates: { ...rates, ...limits?.rates } },
    reasoning: { collaborative: true, abandonAfterMs: 60_000, ...reasoning },
    safety: { ...defaultSafety, ...safety },
    mcp: mcp ?? { visibility: 'everyone' },
    retention: retention ?? { days: 0 },
  }
}

/** The token of every participant of a test space is `token-of-<participant>`. */
export const testToken = (participant: string): string => `token-of-${participant}`

/** A real gateway with one space on the memory log. */
export async function createTestGateway(
  options: TestSpaceOptions & Partial<Pick<GatewayOptions, 'store' | 'clock' | 'logger' | 'observe'>>,
): Promise<Gateway> {
  const config = testSpaceConfig(options)
  const tokens = Object.fromEntries(Object.keys(config.participants).map((id) => [id, testToken(id)]))
  return createGateway({
    spaces: [config],
    store: options.store ?? memoryStore(),
    authenticator: tokenAuthenticator({ [config.name]: tokens }),
    ...(options.clock && { clock: options.clock }),
    ...(options.logger && { logger: options.logger }),
    observe: options.observe,
  })
}

/** The events of a client's connection. */
export interface LineEvents {
  message(text: string): void
  close(code: number, reason: string): void
}

/** The client's end of a connection in memory. */
export interface MemoryLine {
  send(text: string): void
  close(code: number, reason: string): void
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** The gateway's end of the connection. Frames arrive in later turns of the event loop, like those of a socket. */
class MemoryConnection implements Connection {
  readonly remote = 'memory'
  readonly pending = 0
  readonly #events: LineEvents
  #ended: ((reason: string) => void) | undefined

  constructor(events: LineEvents, ended: (reason: string) => void) {
    this.#events = events
    this.#ended = ended
  }

  get isGone(): boolean {
    return this.#ended === undefined
  }

  send({ messages }: OutboundBatch): void {
    for (const { text } of messages) setImmediate(() => this.#events.message(decoder.decode(text)))
  }

  drained(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  close(code: number, reason: string): void {
    const ended = this.#ended
    this.#ended = undefined
    if (ended === undefined) return
    setImmediate(() => {
      ended(reason)
      this.#events.close(code, reason)
    })
  }
}

/** Connects to a gateway in the same process, without a socket. Throws `ProtocolError` if the connection is refused. */
export async function dialInMemory(
  gateway: Gateway,
  request: Omit<ConnectRequest, 'remote'> & Resume,
  events: LineEvents,
): Promise<MemoryLine> {
  const misplaced = checkResume(request)
  if (misplaced !== undefined) throw new ProtocolError(misplaced.code, misplaced.message)
  const grant = await gateway.admit({ ...request, remote: 'memory' })
  if (isRefusal(grant)) throw new ProtocolError(grant.code, grant.message)
  let leave = (_reason: string): void => {}
  const connection = new MemoryConnection(events, (reason) => leave(reason))
  const line = await grant.open(connection, request)
  leave = (reason) => line.closed(reason === BYE)
  return {
    send: (text) => setImmediate(() => line.receive(encoder.encode(text))),
    close: (code, reason) => connection.close(code, reason),
  }
}

/** A `fetch` for a gateway in the same process, without a socket. */
export function fetchInMemory(gateway: Gateway): (url: URL, init: RequestInit) => Promise<Response> {
  const over = new WeakMap<Request, () => void>()
  const nothing = (): void => {}
  const load = async () => {
    const { createHttpApp } = await import('../http/app.js')
    return createHttpApp({
      gateway,
      logger: silent,
      origins: [],
      eventHeartbeatMs: 15_000,
      metrics: async () => ({ text: '', type: 'text/plain' }),
      getRemoteAddress: () => 'memory',
      over: ({ req }, then) => over.set(req.raw, then),
      standing: nothing,
      onAuthenticated: nothing,
      hangUp: nothing,
    })
  }
  let app: ReturnType<typeof load> | undefined
  return async (url, init) => {
    app ??= load() // Loading the schemas takes a while, and few tests use HTTP.
    const request = new Request(url, init)
    const answer = await (await app).fetch(request)
    const body = await answer.arrayBuffer()
    over.get(request)?.()
    return new Response(answer.status === 204 ? null : body, answer)
  }
}

/** A clock that advances only on demand. */
export class FakeClock implements Clock {
  #now: number
  readonly #timers = new Set<{ at: number; task: () => void }>()

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#now + ms, task }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Runs every due task, in order. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#now = next.at
      next.task()
    }
    this.#now = end
  }
}
