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

/** The participants of the space, by the welcome and the envelopes received since. */
export class ParticipantList implements ClientHandler {
  readonly fold = new Participants()
  readonly #time: GatewayTime
  /** The ids that each caller waits for. */
  readonly #waiting = new Map<Waiter<void>, readonly string[]>()

  constructor(time: GatewayTime) {
    this.#time = time
  }

  now(): number {
    return this.#time.now()
  }

  /** As of now, because pauses and kicks expire. */
  list(): ParticipantDetails[] {
    return this.fold.all(this.now())
  }

  /** The kind of a participant; `undefined` = not in this space. */
  getKind(id: string): string | undefined {
    return this.find(id)?.kind
  }

  /** As of now; `undefined` = not in this space. */
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

/** An open run and its visibility: the owner hides its own thoughts, others hide all [MEUP-9.6]. */
export type OpenRun = Pick<ContextInfo, 'context' | 'owner' | 'reasoningVisible' | 'hiddenBy'>

/** A run was hidden or shown. */
export interface VisibilityChange {
  /** The context of the run. */
  readonly context: string
  /** Whether no participant hides the run. */
  readonly reasoningVisible: boolean
  /** Participants that hide the run; absent = visible. */
  readonly hiddenBy?: readonly string[]
  /** Absent if the end of the run showed it, or this happened while disconnected. */
  readonly by?: string
}

/** The open runs, from the welcome and later envelopes. */
export class Runs implements ClientHandler {
  readonly #onChange: (change: VisibilityChange) => void
  readonly fold = new ContextStates({ closed: 0 })

  constructor(onChange: (change: VisibilityChange) => void) {
    this.#onChange = onChange
  }

  /** Oldest first. */
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

/** The capabilities of this participant in the last welcome. The gateway decides. */
export class OwnCapabilities {
  #list: readonly Capability[] = []
  #compiled: readonly Capabilities[] | undefined

  /** Returns whether they changed. */
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
    // Compiled one by one: configured and granted capabilities together can exceed the limit of a list.
    const compiled = this.#compiled ?? this.#list.flatMap(tryCompile)
    if (isCompilable(this.#list)) this.#compiled = compiled
    return compiled.some((each) => each.allows(envelope).allowed)
  }

  /** Whether the listed capabilities provably cover each requested one [MEUP-4.12]. */
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

/** A capability that this version cannot parse allows nothing. */
function tryCompile(capability: Capability): Capabilities[] {
  try {
    return [compileCapabilities([capability])]
  } catch (error) {
    if (error instanceof PatternError) return []
    throw error
  }
}

/** The gateway's clock, independent of the local clock. */
export class GatewayTime {
  /** How far the gateway's clock is ahead of the local one. */
  #ahead = 0

  /** `ts`: when the gateway sent the welcome, RFC 3339. */
  update(ts: string): void {
    const ahead = Date.parse(ts) - Date.now()
    if (Number.isFinite(ahead)) this.#ahead = ahead
  }

  /** Milliseconds since 1970, behind by the latency of the welcome. */
  now(): number {
    return Date.now() + this.#ahead
  }
}
