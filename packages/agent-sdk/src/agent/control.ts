import { type AnyEnvelope, type EnvelopeOf, Kind, omitUndefined, type WelcomePayload } from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import type { ClientHandler } from '../client/handler.js'
import type { Status } from '../client/management.js'
import { endContext } from './reasoning.js'

type Hook = (request: AnyEnvelope) => unknown

/**
 * An agent's handlers for control requests [MEUP-3.16]. A hook that throws declines the request: nothing further happens, and
 * `requestError` reports the reason.
 */
export interface ControlHooks {
  /** Fields that only the agent knows, such as its token counts; they override those of the SDK. */
  readonly status?: (request: AnyEnvelope) => Status | Promise<Status>
  /** Forgets the memories named in the payload; the participants agree on its format. */
  readonly forget?: Hook
  /** Compacts the memory; afterwards the SDK sends `participant.compact-done` to the requester. */
  readonly compact?: Hook
  /** Clears the memory; afterwards the counts of the SDK start at 0. */
  readonly clear?: Hook
  /** Called for a restart, after the running turns were aborted and before the SDK reconnects. */
  readonly restart?: Hook
  /** Called before running turns are aborted and the connection is closed. The SDK does not end the process. */
  readonly shutdown?: Hook
}

/** Methods of the client that control requests call. */
interface ClientActions {
  reconnect(): void
  leave(): Promise<void>
  onError(error: unknown, request: AnyEnvelope): void
}

/** Milliseconds that aborted turns get to end. */
const stopGraceMs = 2000

/** Handles `participant.*` requests for an agent, using the state of the SDK and the hooks of the agent. */
export class Control implements ClientHandler {
  readonly #client: BaseClient
  readonly #workload: Workload
  readonly #actions: ClientActions
  #hooks: ControlHooks | undefined
  #defaults: ControlHooks = {}
  /** Last seq of the log when this client connected. Requests up to it are historical, and not handled. */
  #head: number | undefined

  constructor(client: BaseClient, workload: Workload, actions: ClientActions) {
    this.#client = client
    this.#workload = workload
    this.#actions = actions
  }

  /** Starts handling control requests. */
  enable(hooks: ControlHooks = {}): void {
    this.#hooks = { ...this.#hooks, ...hooks }
  }

  /** Sets the hooks that are used if the agent has none. */
  setDefaults(hooks: ControlHooks): void {
    this.#defaults = hooks
  }

  onWelcome({ space, resume }: WelcomePayload): void {
    if (this.#head === undefined || resume.status === 'lost') this.#head = space.head
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (this.#hooks === undefined || (envelope.seq ?? 0) <= (this.#head ?? 0)) return
    if (!envelope.to?.includes(this.#client.id)) return
    const hooks = { ...this.#defaults, ...this.#hooks }
    this.#onControl(envelope, hooks).catch((error: unknown) => this.#actions.onError(error, envelope))
  }

  async #onControl(request: AnyEnvelope, hooks: ControlHooks): Promise<void> {
    switch (request.kind) {
      case Kind.participantRequestStatus:
        return this.#answer(request, Kind.participantStatus, await this.#status(request, hooks))
      case Kind.participantForget:
        return void (await hooks.forget?.(request))
      case Kind.participantCompact:
        await hooks.compact?.(request)
        return this.#answer(request, Kind.participantCompactDone, {})
      case Kind.participantClear:
        await hooks.clear?.(request)
        return this.#workload.forget()
      case Kind.participantRestart:
        await this.#stop(request, `restarted by ${request.from}`)
        await hooks.restart?.(request)
        return this.#actions.reconnect()
      case Kind.participantShutdown:
        await hooks.shutdown?.(request)
        this.#workload.close()
        await this.#stop(request, `shut down by ${request.from}`)
        return this.#actions.leave()
    }
  }

  async #status(
    request: EnvelopeOf<typeof Kind.participantRequestStatus>,
    { status }: ControlHooks,
  ): Promise<Status> {
    const { latencyMs, messages, isIdle } = this.#workload
    const all: Status = {
      status: this.#client.paused ? 'paused' : isIdle ? 'idle' : 'working',
      messagesInContext: messages,
      ...omitUndefined({ latencyMs }),
      ...(await status?.(request)),
    }
    const { fields } = request.payload
    if (fields === undefined) return all
    return Object.fromEntries(Object.entries(all).filter(([field]) => fields.includes(field)))
  }

  /** Aborts the running turns. Closes the reasoning runs of turns that do not end in time. */
  async #stop(request: AnyEnvelope, reason: string): Promise<void> {
    this.#workload.abort(reason)
    await this.#workload.idle(stopGraceMs)
    for (const { context, owner } of this.#client.runs) {
      if (owner !== this.#client.id) continue
      await endContext(this.#client, context, reason).catch((error) => this.#actions.onError(error, request))
    }
  }

  async #answer({ id, from, context }: AnyEnvelope, kind: string, payload: object): Promise<void> {
    const place = context === undefined ? {} : { context }
    const answer = { kind, to: [from], correlationId: id, ...place, payload }
    await this.#client.sendWhenAllowed(answer)
  }
}

/** A running turn. */
interface Abortable {
  abort(reason: string): void
}

/** Number of recent turns in the average duration. */
const recent = 20

/** The running turns of an agent, with statistics. */
export class Workload implements ClientHandler {
  readonly #client: { readonly id: string }
  /** The start of each running turn, in milliseconds since 1970. */
  readonly #turns = new Map<Abortable, number>()
  #durations: number[] = []
  #messages = 0
  #isClosed = false
  #waiting: (() => void)[] = []

  constructor(client: { readonly id: string }) {
    this.#client = client
  }

  begin(turn: Abortable): void {
    this.#turns.set(turn, Date.now())
    this.#messages++
  }

  end(turn: Abortable): void {
    const begun = this.#turns.get(turn)
    if (begun === undefined) return
    this.#durations = [...this.#durations, Date.now() - begun].slice(-recent)
    this.#turns.delete(turn)
    if (this.#turns.size === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Counts the messages of this participant, including those sent outside of turns. */
  onEnvelope({ kind, from }: AnyEnvelope): void {
    if (kind === Kind.chat && from === this.#client.id) this.#messages++
  }

  get isIdle(): boolean {
    return this.#turns.size === 0
  }

  /** Number of turns started, plus messages sent by this participant. */
  get messages(): number {
    return this.#messages
  }

  /** Average duration of a turn; `undefined` before the first one has ended. */
  get latencyMs(): number | undefined {
    const { length } = this.#durations
    if (length === 0) return undefined
    return Math.round(this.#durations.reduce((sum, each) => sum + each, 0) / length)
  }

  /** Set when no further turns may start. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  close(): void {
    this.#isClosed = true
  }

  abort(reason: string): void {
    for (const turn of this.#turns.keys()) turn.abort(reason)
  }

  /** Resolves when no turn is running, at the latest after `withinMs`. */
  async idle(withinMs: number): Promise<void> {
    if (this.isIdle) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  forget(): void {
    this.#durations = []
    this.#messages = 0
  }
}
