import { programEnded, programEndedReason } from '@meup/folds'
import { getMember, Kind } from '@meup/protocol'
import type { Clock } from '../ports/clock.js'
import type { Entry } from '../ports/envelope-log.js'
import type { Space } from './space.js'
import type { OwnContext } from './state/contexts.js'

/** Starts delayed calls by key; at most one per key is pending. */
export class Timers {
  readonly #clock: Clock
  readonly #running = new Map<string, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `act` after `ms`, unless a call for this key is already pending. */
  start(key: string, ms: number, act: () => void): void {
    if (this.#running.has(key)) return
    const cancel = this.#clock.after(ms, () => {
      this.#running.delete(key)
      act()
    })
    this.#running.set(key, cancel)
  }

  stop(key: string): void {
    this.#running.get(key)?.()
    this.#running.delete(key)
  }

  stopAll(): void {
    for (const cancel of this.#running.values()) cancel()
    this.#running.clear()
  }
}

/** Reports whether participants and programs are connected to any gateway. */
interface Connected {
  isThere(participant: string): boolean
  isConnected(participant: string, session: string): boolean
}

/** Ends the contexts and calls that participants and their programs leave open [MEUP-2.3, 2.14, 2.15]. */
export class OpenWork {
  readonly #space: Space
  readonly #connected: Connected
  /** Timers by participant that cancel its contexts opened without a program, if it stays away for `abandonAfterMs`. */
  readonly #timers: Timers

  constructor(space: Space, connected: Connected) {
    this.#space = space
    this.#connected = connected
    this.#timers = new Timers(space.clock)
  }

  /** Ends the contexts of ended programs, and restarts the timers that cancel the other contexts of absent owners. */
  resume(): void {
    for (const owner of new Set(this.#space.state.contexts.open().map((each) => each.owner)))
      this.endOrphans(owner)
  }

  /**
   * Cancels all open contexts whose starts name no program, as in logs of an earlier version: it is unknown whether the
   * programs that opened them still run.
   */
  abandonAll(): void {
    const { contexts } = this.#space.state
    for (const { owner } of contexts.open()) {
      for (const left of contexts.of(owner)) {
        if (left.session === undefined) this.#cancel(left, 'abandoned')
      }
    }
  }

  /**
   * Ends the contexts of a program, and answers its calls if no other program of the participant can. Runs before the end of
   * the program is logged, so that a failure is retried.
   */
  endOf(participant: string, session: string): void {
    const { contexts, programs, calls } = this.#space.state
    for (const left of contexts.of(participant)) {
      if (left.session === session) this.#cancel(left, programEndedReason)
    }
    for (const other of programs.living(participant)) if (other.session !== session) return
    for (const call of calls.waitingFor(participant)) this.#answerFor(participant, call)
  }

  /**
   * Ends the contexts of ended programs of an owner, and starts the timer of an absent owner with contexts that no program
   * opened.
   */
  endOrphans(owner: string): void {
    const { contexts, programs } = this.#space.state
    let isExpected = false
    for (const left of contexts.of(owner)) {
      if (left.session === undefined) isExpected = true
      else if (!programs.isLiving(owner, left.session)) this.#cancel(left, programEndedReason)
    }
    if (isExpected && !this.#connected.isThere(owner)) this.#expect(owner)
  }

  /**
   * Handles a start or a cancel after its delivery. A context that was opened over HTTP may have an owner without a connection;
   * an owner that is not connected cannot act on a request to stop.
   */
  onContext({ kind, from, context }: Entry): void {
    if (this.#space.isFollower) return
    if (kind === Kind.reasoningStart && !this.#connected.isThere(from)) this.#expect(from)
    else if (kind === Kind.reasoningCancel && context !== undefined) this.#stop(context)
  }

  /** Stops the timer that would cancel the contexts of an owner, because the owner has reconnected. */
  onArrival(owner: string): void {
    this.#timers.stop(owner)
  }

  /** Stops the timers that would cancel contexts of absent owners; `resume` starts them again. */
  close(): void {
    this.#timers.stopAll()
  }

  /** Ends a context on request, if its program is not connected and cannot end it itself [MEUP-2.4]. */
  #stop(context: string): void {
    const opened = this.#space.state.contexts.get(context)
    if (opened === undefined) return
    const { owner, session } = opened
    const isThere =
      session === undefined ? this.#connected.isThere(owner) : this.#connected.isConnected(owner, session)
    if (!isThere) this.#cancel(opened, session === undefined ? 'abandoned' : programEndedReason)
  }

  /**
   * Abandons the contexts of an owner that stays away, and sends nothing over HTTP, for `abandonAfterMs` [MEUP-2.3]. `ms`: time
   * until the first check.
   */
  #expect(owner: string, ms = this.#space.config.reasoning.abandonAfterMs): void {
    this.#timers.start(owner, ms, () => this.#abandon(owner))
  }

  #abandon(owner: string): void {
    const { state, config, clock } = this.#space
    const { abandonAfterMs } = config.reasoning
    if (this.#connected.isThere(owner)) return
    let nextMs = Number.POSITIVE_INFINITY
    for (const left of state.contexts.of(owner)) {
      if (left.session !== undefined) continue
      const waitMs = Date.parse(left.lastAt) + abandonAfterMs - clock.now()
      if (waitMs <= 0) this.#cancel(left, 'abandoned')
      else nextMs = Math.min(nextMs, waitMs)
    }
    if (nextMs <= abandonAfterMs) this.#expect(owner, nextMs)
  }

  /** Logs the cancel for the audience of the run. It correlates to the envelope that the run is about [MEUP-2.13]. */
  #cancel({ context }: Pick<OwnContext, 'context'>, reason: string): void {
    const { state, ids } = this.#space
    if (state.contexts.get(context)?.state !== 'open') return
    const audience = state.contexts.runAudience(context)
    const { correlationId } = ids.findOrigin(context.slice(context.lastIndexOf('/') + 1)) ?? {}
    this.#space.tryEmit({
      kind: Kind.reasoningCancel,
      context,
      ...(audience && { to: [...audience] }),
      ...(correlationId !== undefined && { correlationId: copyOf(correlationId) }),
      payload: { reason },
    })
  }

  /** Responds to a call for an addressee whose program has ended [MEUP-2.15]. */
  #answerFor(participant: string, call: string): void {
    const asked = this.#space.ids.findEntry(call)
    if (asked === undefined) return
    const { from, context, body } = asked
    const id = getMember(getMember(body, 'payload') ?? new Uint8Array(), 'id')
    const error = JSON.stringify(programEnded(participant))
    this.#space.tryEmit({
      kind: Kind.mcpResponse,
      to: [from],
      correlationId: call,
      ...(context !== undefined && { context }),
      payload: `{"jsonrpc":"2.0","id":${id === undefined ? 'null' : Buffer.from(id)},"error":${error}}`,
    })
  }
}

const copyOf = (ids: string | readonly string[]): string | string[] =>
  typeof ids === 'string' ? ids : [...ids]
