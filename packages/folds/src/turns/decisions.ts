import type { ResultSize } from '../mcp/result.js'
import type { Source } from '../source.js'
import type { Outcome, ToolDecision } from './record.js'

/** Decisions that are kept of one turn, and batches that may be under way in it. */
const max = { decisions: 1000, batches: 32 }

export interface Dispatch {
  readonly id: string
  /** Of the envelope that dispatches it. */
  readonly source: Source
  readonly toolName: string
  /** Not blank; `null` = none was given. */
  readonly rationale: string | null
  /** As they are in the log. */
  readonly parameters: unknown
  /** The `parallelGroup` that the agent gave. */
  readonly label?: number | undefined
}

/** How a call ended. */
export interface End {
  readonly outcome: Outcome
  readonly size?: ResultSize | null
  /** Why it was cancelled, may be empty. */
  readonly cancelled?: string | null
  /** Whether the tool answered; what else ends a call gives way to an answer that comes later. */
  readonly isAnswer: boolean
}

const fresh = {
  ...{ outcome: null, size: null, cancelled: null },
  ...{ isAnswered: false, isReported: false, isCurrent: true },
}

/** The tools that were chosen in a turn, in the order in which they were dispatched. */
export class Decisions {
  /** The latest 1,000. Those that were replaced count no more. */
  readonly list: ToolDecision[] = []
  readonly #latest = new Map<string, ToolDecision>()
  readonly #batches = new Map<number, ToolDecision[]>()
  /** Batches that calls with the same label may still join. */
  #open: { readonly label: number; readonly batch: number }[] = []
  #dispatched = 0
  #begun = 0
  #groups = 0
  #pending = 0

  get arePending(): boolean {
    return this.#pending > 0
  }

  /** Whether a call of this id was made, and not refused. */
  has(id: string, isRefused: (source: Source) => boolean): boolean {
    const decision = this.#latest.get(id)
    return decision !== undefined && !isRefused(decision.source)
  }

  /** Adds a call. A refused one that is tried again under the same id takes its own place. */
  dispatch({ label, ...call }: Dispatch): void {
    const replaced = this.#latest.get(call.id)
    if (replaced !== undefined) replaced.isCurrent = false
    const batch = this.#batchFor(label)
    const members = this.#getMembers(batch)
    const parallelGroup = this.#groupIn(members)
    const decision = { number: this.#dispatched++, ...call, ...fresh, batch, parallelGroup }
    this.list.push(decision)
    members.push(decision)
    this.#latest.set(call.id, decision)
    this.#pending++
    if (this.list.length <= max.decisions) return
    const over = this.list.findIndex((each) => !isPending(each))
    this.#drop(Math.max(over, 0))
  }

  /** Ends a call. Whether that was the last of its batch. */
  settle(id: string, { outcome, size = null, cancelled = null, isAnswer }: End): boolean {
    const decision = this.#latest.get(id)
    if (decision === undefined || decision.isAnswered || (decision.outcome !== null && !isAnswer))
      return false
    if (isPending(decision)) this.#pending--
    Object.assign(decision, { outcome, size, cancelled, isAnswered: isAnswer })
    const members = this.#getMembers(decision.batch)
    if (decision.isReported || members.some(isPending)) return false
    for (const each of members) each.isReported = true
    if (members.length > 1) this.#open = this.#open.filter((each) => each.batch !== decision.batch)
    return true
  }

  /** The agent does something else than to call `label`: batches that have ended are not joined any more. */
  moveOn(label?: number): void {
    if (this.#open.length === 0) return
    this.#open = this.#open.filter(
      (each) => each.label === label || this.#getMembers(each.batch).some(isPending),
    )
  }

  /**
   * A label stands for the same batch until the agent moves on, or until the batch, if it has more than one call, has
   * ended: agents number their batches as they like.
   */
  #batchFor(label: number | undefined): number {
    const open = this.#open.find((each) => each.label === label)
    if (open !== undefined) return open.batch
    const batch = this.#begun++
    if (label !== undefined) this.#open = [...this.#open, { label, batch }].slice(-max.batches)
    return batch
  }

  /** The second call makes a group of a batch. */
  #groupIn(members: readonly ToolDecision[]): number | null {
    if (members.length === 0) return null
    const parallelGroup = members[0]?.parallelGroup ?? this.#groups++
    for (const each of members) each.parallelGroup = parallelGroup
    return parallelGroup
  }

  #getMembers(batch: number): ToolDecision[] {
    const members = this.#batches.get(batch) ?? []
    this.#batches.set(batch, members)
    return members
  }

  #drop(at: number): void {
    const [dropped] = this.list.splice(at, 1)
    if (dropped === undefined) return
    if (isPending(dropped)) this.#pending--
    if (this.#latest.get(dropped.id) === dropped) this.#latest.delete(dropped.id)
    const others = this.#getMembers(dropped.batch).filter((each) => each !== dropped)
    if (others.length > 0) this.#batches.set(dropped.batch, others)
    else this.#batches.delete(dropped.batch)
  }
}

const isPending = ({ outcome }: ToolDecision): boolean => outcome === null
