import {
  type DecisionPayload,
  type Envelope,
  type ErrorCode,
  isEnvelopeId,
  Kind,
  parseContext,
} from '@meup/protocol'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { SpaceConfig } from './config.js'
import type { Sender } from './sender.js'

/** What the gateway decided about an envelope. */
export type Verdict = Pick<DecisionPayload, 'decision' | 'reasonCode' | 'message'>

/** Whose envelope it was, as far as it could be read. */
interface Attempt {
  readonly sender: Pick<Sender, 'participant' | 'payer'>
  readonly envelope: Envelope
}

/** What is needed of the space. */
interface Scribe {
  readonly config: Pick<SpaceConfig, 'name' | 'limits'>
  readonly clock: Clock
  readonly logger: Logger
  /** Why nothing is admitted at present. */
  readonly stopped: string | undefined
  /** Tells what may be seen of a text that somebody has made up. */
  readonly safety: { guard(text: string): { readonly text: string } }
  emit(fields: { kind: string; payload: object; to: string[] }): number
}

/** A decision before it is recorded: little enough to be kept for a while, whatever the envelope held. */
interface Note {
  readonly to: string
  readonly record: Omit<DecisionPayload, 'attemptedTool' | 'count'>
  /** As the sender calls it; empty where there is none. */
  readonly tool: string
}

/** What has been decided alike since the first of them was recorded. */
interface Second {
  count: number
  last: Note
  cancel(): void
}

const secondMs = 1000
/** Seconds that are counted at once; what is decided beside them is in the metrics alone. */
const mostSeconds = 64
const longestTool = 128
const longestMessage = 512

const denials: ReadonlySet<ErrorCode> = new Set([
  'capability_violation',
  'reserved_kind',
  'forbidden',
  'grant_exceeds_own',
  'sender_mismatch',
  'participant_paused',
])

/** What a refusal says of a sender; `undefined` for mere mistakes, which are no decisions. */
export function verdictOn(refusal: {
  readonly code: ErrorCode
  readonly message: string
}): Verdict | undefined {
  const { code: reasonCode, message } = refusal
  if (reasonCode === 'rate_limited') return { decision: 'limited', reasonCode, message }
  return denials.has(reasonCode) ? { decision: 'denied', reasonCode, message } : undefined
}

/**
 * Records in the log what was denied, blocked, limited or passed for review: the first of a participant and a code at
 * once, the rest of that second as one [MEUP-3.12]. So nobody floods the log by being refused, and guests of one
 * address are counted together.
 */
export class Decisions {
  readonly #space: Scribe
  readonly #seconds = new Map<string, Second>()
  #uncounted = 0

  constructor(space: Scribe) {
    this.#space = space
  }

  record(attempt: Attempt, verdict: Verdict): void {
    const note = this.#note(attempt, verdict)
    const key = `${verdict.reasonCode} ${attempt.sender.payer}`
    const second = this.#seconds.get(key)
    if (second === undefined) this.#begin(key, note)
    else {
      second.count++
      second.last = note
    }
  }

  /** Records what is still counted. To be called when nothing is admitted any more. */
  close(): void {
    for (const second of this.#seconds.values()) {
      second.cancel()
      this.#writeRest(second)
    }
    this.#seconds.clear()
    this.#tellUncounted()
  }

  #begin(key: string, note: Note): void {
    if (this.#space.stopped !== undefined) return
    if (this.#seconds.size >= mostSeconds) {
      this.#uncounted++
      return
    }
    this.#write(note, 1)
    this.#seconds.set(key, { count: 0, last: note, cancel: this.#endLater(key) })
  }

  #endLater(key: string): () => void {
    return this.#space.clock.after(secondMs, () => this.#end(key))
  }

  /** What cannot be written at present waits for another second. */
  #end(key: string): void {
    const second = this.#seconds.get(key)
    if (second === undefined) return
    if (second.count > 0 && this.#space.stopped !== undefined) {
      second.cancel = this.#endLater(key)
      return
    }
    this.#seconds.delete(key)
    this.#writeRest(second)
    this.#tellUncounted()
  }

  #note({ sender, envelope }: Attempt, verdict: Verdict): Note {
    const { id, kind, context } = envelope
    const isLegal = context !== undefined && parseContext(context, this.#space.config.limits) !== undefined
    const record = {
      ...verdict,
      ...(kind && { attemptedKind: kind }),
      ...(isEnvelopeId(id) && { attemptedId: id }),
      ...(isLegal && { context }),
    }
    return { to: sender.participant, record, tool: toolOf(envelope) }
  }

  #writeRest({ count, last }: Second): void {
    if (count > 0) this.#write(last, count)
  }

  #write({ to, record, tool }: Note, count: number): void {
    const { config, logger, safety } = this.#space
    const attemptedTool = tool && cut(safety.guard(tool).text, longestTool)
    const payload: DecisionPayload = {
      ...record,
      message: cut(safety.guard(record.message).text, longestMessage),
      ...(attemptedTool && { attemptedTool }),
      count,
    }
    try {
      this.#space.emit({ kind: Kind.systemDecision, to: [to], payload })
    } catch (err) {
      logger.warn({ space: config.name, to, ...payload, err }, 'a decision could not be logged')
    }
  }

  #tellUncounted(): void {
    const { config, logger } = this.#space
    const decisions = this.#uncounted
    if (decisions > 0) logger.warn({ space: config.name, decisions }, 'too many were refused to record each')
    this.#uncounted = 0
  }
}

/** The name of the tool that a `tools/call` asks for; empty where there is none. */
function toolOf({ kind, payload }: Envelope): string {
  if ((kind !== Kind.mcpRequest && kind !== Kind.mcpProposal) || payload.method !== 'tools/call') return ''
  const { name } = (payload.params ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : ''
}

/** At most so many characters; a pair of surrogates is not parted. */
function cut(text: string, length: number): string {
  const end = text.slice(0, length)
  return end.isWellFormed() ? end : end.slice(0, -1)
}
