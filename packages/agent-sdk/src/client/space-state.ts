import { type ContextStateChange, ContextStates, Participants, toVisibility } from '@meup/folds'
import {
  type AnyEnvelope,
  type Capabilities,
  type Capability,
  type ContextInfo,
  Coverage,
  compileCapabilities,
  contextParent,
  getKindRule,
  isCompilable,
  Kind,
  namespaceOf,
  type ParticipantDetails,
  PatternError,
  type Subject,
  type WelcomePayload,
} from '@meup/protocol'
import type { ClientHandler, KnownChanges, KnownWelcome } from './handler.js'
import { type Waiter, type WaitOptions, wait } from './wait.js'

/** The participants of the space, from the welcome and the envelopes received since. */
export class ParticipantList implements ClientHandler {
  readonly fold = new Participants()
  readonly #time: GatewayTime
  /** The ids that each caller of `whenPresent` waits for. */
  readonly #waiting = new Map<Waiter<void>, readonly string[]>()

  constructor(time: GatewayTime) {
    this.#time = time
  }

  now(): number {
    return this.#time.now()
  }

  /** All participants. Expired pauses and kicks are removed at each call. */
  list(): ParticipantDetails[] {
    return this.fold.all(this.now())
  }

  /** The kind of a participant; `undefined` = not in this space. */
  getKind(id: string): string | undefined {
    return this.find(id)?.kind
  }

  /** A participant. An expired pause or kick is removed at each call; `undefined` = not in this space. */
  find(id: string): ParticipantDetails | undefined {
    return this.fold.get(id, this.now())
  }

  whenPresent(ids: readonly string[], options: WaitOptions): Promise<void> {
    return wait<void>(
      `sign of ${ids.join(', ')}`,
      options,
      (waiter) => {
        this.#waiting.set(waiter, ids)
        this.#resolveWaiting()
      },
      (waiter) => this.#waiting.delete(waiter),
    )
  }

  onWelcome(): void {
    this.#resolveWaiting()
  }

  onEnvelope(_: AnyEnvelope, { participants }: KnownChanges): void {
    if (participants) this.#resolveWaiting()
  }

  onClose(reason: Error): void {
    for (const { reject } of [...this.#waiting.keys()]) reject(reason)
  }

  #resolveWaiting(): void {
    for (const [{ resolve }, ids] of [...this.#waiting]) {
      if (ids.every((id) => this.find(id)?.status === 'present')) resolve()
    }
  }
}

/** An open run and its visibility: its owner can hide its own thoughts, other participants can hide all thoughts [MEUP-9.6]. */
export type OpenRun = Pick<ContextInfo, 'context' | 'owner' | 'reasoningVisible' | 'hiddenBy'>

/** Emitted when a run was hidden or shown. */
export interface VisibilityChange {
  /** Path of the run's context. */
  readonly context: string
  /** False if any participant hides the run. */
  readonly reasoningVisible: boolean
  /** Participants that hide the run; absent = visible. */
  readonly hiddenBy?: readonly string[]
  /** The participant that hid or showed the run; absent if its end showed it, or if this happened during a disconnection. */
  readonly by?: string
}

/** The open runs, by the welcome and later envelopes. */
export class Runs implements ClientHandler {
  readonly #onChange: (change: VisibilityChange) => void
  readonly fold = new ContextStates({ closed: 0 })

  constructor(onChange: (change: VisibilityChange) => void) {
    this.#onChange = onChange
  }

  /** The open runs, oldest first. */
  list(): OpenRun[] {
    return [...this.fold.open()]
      .filter(({ context }) => contextParent(context) === undefined)
      .map(({ context, owner, hiddenBy }) => ({ context, owner, ...toVisibility(hiddenBy) }))
  }

  /** The visibility of the run that a context belongs to. */
  getVisibility(context: string): Pick<OpenRun, 'reasoningVisible' | 'hiddenBy'> {
    return toVisibility(this.fold.getRun(context)?.hiddenBy)
  }

  onWelcome(_: WelcomePayload, { contexts }: KnownWelcome): void {
    for (const change of contexts) this.#onVisibility(change)
  }

  onEnvelope({ from }: AnyEnvelope, { contexts = [] }: KnownChanges): void {
    for (const change of contexts) this.#onVisibility(change, from)
  }

  #onVisibility({ what, opened }: ContextStateChange, by?: string): void {
    if (what !== 'visibility') return
    const { context, state, hiddenBy } = opened
    this.#onChange({
      context,
      ...toVisibility(hiddenBy),
      ...(by !== undefined && state === 'open' && { by }),
    })
  }
}

/** The capabilities of this participant by the last welcome. The gateway has the final decision. */
export class OwnCapabilities {
  #list: readonly Capability[] = []
  #compiled: readonly Capabilities[] | undefined

  /** Replaces the capabilities. Returns whether they have changed. */
  update(list: readonly Capability[]): boolean {
    const changed = JSON.stringify(list) !== JSON.stringify(this.#list)
    if (changed) {
      this.#list = list
      this.#compiled = undefined
    }
    return changed
  }

  allow(envelope: Subject): boolean {
    const rule = getKindRule(envelope.kind)
    if (rule?.gateway || namespaceOf(envelope.kind) === namespaceOf(Kind.systemError)) return false
    if (rule?.free) return true
    // Compiled separately, because configured and granted capabilities together may exceed the limit of one list.
    const compiled = this.#compiled ?? this.#list.flatMap(tryCompile)
    if (isCompilable(this.#list)) this.#compiled = compiled
    return compiled.some((each) => each.allows(envelope).allowed)
  }

  /** Whether these capabilities provably cover every requested one [MEUP-4.12]. */
  cover(asked: readonly Capability[]): boolean {
    try {
      const held = this.#list.map((each) => [each])
      return new Coverage().firstGap(held, asked) === -1
    } catch (error) {
      if (error instanceof PatternError) return false
      throw error
    }
  }
}

/** Compiles a capability; empty if this version cannot parse it, so that it allows nothing. */
function tryCompile(capability: Capability): Capabilities[] {
  try {
    return [compileCapabilities([capability])]
  } catch (error) {
    if (error instanceof PatternError) return []
    throw error
  }
}

/** Estimates the time of the gateway's clock, from the time of the last welcome. */
export class GatewayTime {
  /** Milliseconds by which the gateway's clock is ahead of the local clock. */
  #ahead = 0

  /** `ts`: when the gateway sent the welcome, RFC 3339. */
  update(ts: string): void {
    const ahead = Date.parse(ts) - Date.now()
    if (Number.isFinite(ahead)) this.#ahead = ahead
  }

  /** Milliseconds since 1970 at the gateway, too low by the latency of the last welcome. */
  now(): number {
    return Date.now() + this.#ahead
  }
}
