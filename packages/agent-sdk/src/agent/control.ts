import { type AnyEnvelope, type EnvelopeOf, GATEWAY, Kind, type WelcomePayload } from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import type { ClientHandler } from '../client/handler.js'
import type { Status } from '../client/management.js'
import { retryAfterPause } from '../client/retry.js'
import { endContext } from './reasoning.js'

type Hook = (request: AnyEnvelope) => unknown

/**
 * What an agent does when it is asked to look after itself [MEUP-3.16]. A hook that throws declines: what would follow
 * does not happen, and the event `requestError` says why.
 */
export interface ControlHooks {
  /** What only the agent knows of itself, such as its tokens; it goes over what the SDK tells. */
  readonly status?: (request: AnyEnvelope) => Status | Promise<Status>
  /** Forgets what the payload says; the two agree on its form. */
  readonly forget?: Hook
  /** Makes its memory smaller; then the asker is told that it is done. */
  readonly compact?: Hook
  /** Empties its memory; then the SDK's counts begin anew. */
  readonly clear?: Hook
  /** Begins anew: after the running turns were broken off, and before the line is taken anew. */
  readonly restart?: Hook
  /** Before the running turns are broken off and the connection is closed. The process is its own business. */
  readonly shutdown?: Hook
}

/** What control requests do to the client. */
interface ClientActions {
  reconnect(): void
  leave(): Promise<void>
  onError(error: unknown, request: AnyEnvelope): void
}

/** Milliseconds that turns which are broken off have to end. */
const stopGraceMs = 2000

/** Answers `participant.*` for an agent: with what the SDK knows and does by itself, and the agent's hooks. */
export class Control implements ClientHandler {
  readonly #client: BaseClient
  readonly #workload: Workload
  readonly #actions: ClientActions
  #hooks: ControlHooks | undefined
  /** What was asked up to this seq is history, of somebody who is not here any more. */
  #head: number | undefined

  constructor(client: BaseClient, workload: Workload, actions: ClientActions) {
    this.#client = client
    this.#workload = workload
    this.#actions = actions
  }

  /** From now on this participant is an agent. */
  enable(hooks: ControlHooks = {}): void {
    this.#hooks = { ...this.#hooks, ...hooks }
  }

  onWelcome({ space, resume }: WelcomePayload): void {
    if (this.#head === undefined || resume.status === 'lost') this.#head = space.head
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (this.#hooks === undefined || (envelope.seq ?? 0) <= (this.#head ?? 0)) return
    if (!envelope.to?.includes(this.#client.id)) return
    this.#onControl(envelope, this.#hooks).catch((error: unknown) => this.#actions.onError(error, envelope))
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
      ...(latencyMs !== undefined && { latencyMs }),
      ...(await status?.(request)),
    }
    const { fields } = request.payload
    if (fields === undefined) return all
    return Object.fromEntries(Object.entries(all).filter(([field]) => fields.includes(field)))
  }

  /** Breaks off what is being worked on; of what does not end in time, the runs are ended. */
  async #stop(request: AnyEnvelope, reason: string): Promise<void> {
    this.#workload.abort(reason)
    await this.#workload.idle(stopGraceMs)
    for (const run of this.#workload.runs) {
      await endContext(this.#client, run, reason).catch((error) => this.#actions.onError(error, request))
    }
  }

  async #answer({ id, from, context }: AnyEnvelope, kind: string, payload: object): Promise<void> {
    const place = context === undefined ? {} : { context }
    const answer = { kind, to: [from], correlationId: id, ...place, payload }
    await retryAfterPause(this.#client, () => this.#client.send(answer))
  }
}

/** What a workload can break off: a turn. */
interface Abortable {
  abort(reason: string): void
}

/** Turns whose durations count. */
const recent = 20

/** What an agent is working on, and has worked on. */
export class Workload implements ClientHandler {
  readonly #client: { readonly id: string }
  /** When each turn that is being worked on was begun, in milliseconds since the epoch. */
  readonly #turns = new Map<Abortable, number>()
  /** Runs of this participant that are open. */
  readonly #runs = new Set<string>()
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

  /** What this participant says and thinks outside its turns belongs to its work, too. */
  onEnvelope(envelope: AnyEnvelope): void {
    const { kind, from, id, context } = envelope
    if (from !== this.#client.id && from !== GATEWAY) return
    if (kind === Kind.chat) this.#messages++
    else if (kind === Kind.reasoningStart && context === undefined) this.#runs.add(id)
    else if (kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel) {
      if (context !== undefined) this.#runs.delete(context)
    }
  }

  get isIdle(): boolean {
    return this.#turns.size === 0
  }

  /** Contexts of the runs that are open. */
  get runs(): string[] {
    return [...this.#runs]
  }

  /** Questions that were taken up, and what this participant has said. */
  get messages(): number {
    return this.#messages
  }

  /** Milliseconds that a turn takes on average; `undefined` before the first one has ended. */
  get latencyMs(): number | undefined {
    const { length } = this.#durations
    if (length === 0) return undefined
    return Math.round(this.#durations.reduce((sum, each) => sum + each, 0) / length)
  }

  /** Nothing more is begun. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  close(): void {
    this.#isClosed = true
  }

  abort(reason: string): void {
    for (const turn of this.#turns.keys()) turn.abort(reason)
  }

  /** Resolves when no turn is being worked on, or after so many milliseconds. */
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
