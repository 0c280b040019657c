import type { Envelope } from '@meup/protocol'
import type { ResultSize } from '../mcp/result.js'
import type { Source } from '../source.js'
import type { Outcome, ToolDecision } from './record.js'

/** Limits per turn: kept calls, and batches of parallel calls that later calls may join. */
const max = { decisions: 1000, batches: 32 }

export interface Dispatch {
  readonly id: string
  /** The envelope that makes the call. */
  readonly source: Source
  readonly toolName: string
  /** Reason of the call, never blank; `null` = none. */
  readonly rationale: string | null
  /** Arguments as logged, not masked. */
  readonly parameters: unknown
  /** The request, if the log says which right let the call pass. */
  readonly request?: Envelope | undefined
  /** The agent's `parallelGroup`, by which calls form a batch. */
  readonly label?: number | undefined
}

/** The outcome of a call, with the size of its result or the reason of its cancellation. */
export interface CallEnd {
  readonly outcome: Outcome
  readonly size?: ResultSize | null
  /** The reason of the cancellation, possibly empty. */
  readonly cancelled?: string | null
  /** Whether the tool itself answered. A later answer replaces any other end. */
  readonly isAnswer: boolean
}

/** The tool calls of a turn, in the order of dispatch. */
export class TurnDecisions {
  /** The latest 1,000 calls, including those that a retry replaced (`isCurrent` is `false`). */
  readonly list: ToolDecision[] = []
  readonly #latest = new Map<string, ToolDecision>()
  readonly #batches = new Map<number, ToolDecision[]>()
  /** Batches that later calls with the same label (`parallelGroup`) may join. */
  #open: { readonly label: number; readonly batch: number }[] = []
  #dispatched = 0
  #begun = 0
  #groups = 0
  #pending = 0

  get arePending(): boolean {
    return this.#pending > 0
  }

  /** Whether a call with this id was made and not refused. */
  has(id: string, isRefused: (source: Source) => boolean): boolean {
    const decision = this.#latest.get(id)
    return decision !== undefined && !isRefused(decision.source)
  }

  /** Adds a call. A retry with the id of a refused call replaces it. */
  dispatch({ label, id, source, toolName, rationale, parameters, request }: Dispatch): void {
    const replaced = this.#latest.get(id)
    if (replaced !== undefined) replaced.isCurrent = false
    const batch = this.#batchFor(label)
    const members = this.#getMembers(batch)
    const parallelGroup = this.#groupIn(members)
    const decision: ToolDecision = {
      number: this.#dispatched++,
      id,
      source,
      toolName,
      rationale,
      parameters,
      request: request ?? null,
      outcome: null,
      size: null,
      cancelled: null,
      parallelGroup,
      batch,
      isAnswered: false,
      isReported: false,
      isCurrent: true,
    }
    this.list.push(decision)
    members.push(decision)
    this.#latest.set(id, decision)
    this.#pending++
    if (this.list.length <= max.decisions) return
    const over = this.list.findIndex((each) => !isPending(each))
    this.#drop(Math.max(over, 0))
  }

  /** Records the request that fulfils a proposal. */
  accept(id: string, request: Envelope): void {
    const decision = this.#latest.get(id)
    if (decision !== undefined) decision.request ??= request
  }

  /** Ends a call. Returns whether it was the last one open in its batch of parallel calls. */
  settle(id: string, { outcome, size = null, cancelled = null, isAnswer }: CallEnd): boolean {
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

  /**
   * Closes ended batches of parallel calls to later calls, because the agent does something else. `label`: that of the call it
   * makes; its batch stays open.
   */
  moveOn(label?: number): void {
    if (this.#open.length === 0) return
    this.#open = this.#open.filter(
      (each) => each.label === label || this.#getMembers(each.batch).some(isPending),
    )
  }

  /**
   * Calls with the same label form a batch until the agent does something else, or a batch of several calls has ended. Agents
   * may reuse labels.
   */
  #batchFor(label: number | undefined): number {
    const open = this.#open.find((each) => each.label === label)
    if (open !== undefined) return open.batch
    const batch = this.#begun++
    if (label !== undefined) this.#open = [...this.#open, { label, batch }].slice(-max.batches)
    return batch
  }

  /** The parallel group of a batch. A batch becomes one with its second call; `null` for a single call. */
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
