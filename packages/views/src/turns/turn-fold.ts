import { type Envelope, Kind, namespaceOf } from '@meup/protocol'
import { Lifecycle, type LifecycleSnapshot } from '../contexts/lifecycle.js'
import { type Fold, Progress } from '../fold.js'
import { defaultGuard } from '../mcp/guard.js'
import type { Guard } from '../mcp/redact.js'
import { Calls, type CallsSnapshot } from './calls.js'
import { Ledger, type LedgerSnapshot, nothing, type TurnChange } from './ledger.js'
import { policy } from './policy.js'
import { close, start, thought } from './reasoning.js'
import { chat, chatCancel } from './speech.js'

export interface TurnOptions {
  /** Name of the space. */
  readonly space: string
  /** Id of the log; the `session_id` of its turns. */
  readonly epoch: string
  /** What texts of MCP payloads pass on their way into the view; default: the rules of @meup/safety. */
  readonly guard?: Guard
}

export interface TurnSnapshot {
  readonly seq: number
  readonly lifecycle: LifecycleSnapshot
  readonly ledger: LedgerSnapshot
  readonly calls: CallsSnapshot
}

export type TurnFold = Fold<TurnChange, TurnSnapshot>

/**
 * Turns, jobs and the steps of the audit. It must be told the whole log, or what follows a snapshot: turns are numbered
 * from its beginning. Turns that are over are kept only for what comes late; whoever wants them later keeps them.
 */
export const createTurnFold = (options: TurnOptions): TurnFold => new Turns(options)

class Turns implements TurnFold {
  readonly #progress = new Progress()
  readonly #lifecycle = new Lifecycle()
  readonly #ledger: Ledger
  readonly #calls: Calls
  /** What each kind does; all other kinds of reasoning are thoughts. */
  readonly #effects: ReadonlyMap<string, (envelope: Envelope) => void>

  constructor({ space, epoch, guard = defaultGuard }: TurnOptions) {
    const [ledger, lifecycle] = [new Ledger(space, epoch), this.#lifecycle]
    const calls = new Calls(ledger, guard)
    this.#ledger = ledger
    this.#calls = calls
    this.#effects = new Map([
      [Kind.chat, (envelope) => chat(ledger, envelope)],
      [Kind.chatCancel, (envelope) => chatCancel(ledger, envelope)],
      [Kind.mcpRequest, (envelope) => calls.request(envelope)],
      [Kind.mcpProposal, (envelope) => calls.proposal(envelope)],
      [Kind.mcpResponse, (envelope) => calls.response(envelope)],
      [Kind.mcpReject, (envelope) => calls.refusal(envelope)],
      [Kind.mcpWithdraw, (envelope) => calls.refusal(envelope)],
      [Kind.reasoningStart, (envelope) => start(ledger, lifecycle, envelope)],
      [Kind.reasoningConclusion, (envelope) => close(ledger, lifecycle, envelope)],
      [Kind.reasoningCancel, (envelope) => close(ledger, lifecycle, envelope)],
      [Kind.systemDecision, (envelope) => policy(ledger, envelope, guard)],
    ])
  }

  get seq(): number {
    return this.#progress.seq
  }

  apply(envelope: Envelope): TurnChange {
    if (!this.#progress.advance(envelope)) return nothing
    this.#ledger.begin(envelope)
    this.#calls.expire(Date.parse(envelope.ts))
    const effect = this.#effects.get(envelope.kind)
    if (effect !== undefined) effect(envelope)
    else if (namespaceOf(envelope.kind) === 'reasoning') thought(this.#ledger, envelope)
    return this.#ledger.end()
  }

  snapshot(): TurnSnapshot {
    return {
      seq: this.seq,
      lifecycle: this.#lifecycle.snapshot(),
      ledger: this.#ledger.snapshot(),
      calls: this.#calls.snapshot(),
    }
  }

  restore({ seq, lifecycle, ledger, calls }: TurnSnapshot): void {
    this.#progress.seq = seq
    this.#lifecycle.restore(lifecycle)
    this.#ledger.restore(ledger)
    this.#calls.restore(calls)
  }
}
