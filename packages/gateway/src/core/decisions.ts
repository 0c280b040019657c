import { hash } from 'node:crypto'
import { cut, type Guard, getParameters, hasUnseen, head, isToolCall, redact } from '@meup/folds'
import {
  type Capability,
  type DecisionPayload,
  type Envelope,
  type ErrorCode,
  GATEWAY,
  isEnvelopeId,
  Kind,
  parseContext,
  parseExact,
  stringifyExact,
  type WorkMeter,
} from '@meup/protocol'
import type { Clock } from '../ports/clock.js'
import type { Sender } from '../ports/connection.js'
import type { Logger } from '../ports/logger.js'
import type { SpaceConfig } from './config.js'
import type { LogUse, Rates } from './metering.js'

/** A decision of the gateway about an envelope. */
export type GuardVerdict = Pick<DecisionPayload, 'decision' | 'reasonCode' | 'message' | 'missing'>

/** The refused or reviewed envelope, as far as it could be read. */
interface Attempt {
  readonly sender: Pick<Sender, 'participant' | 'rateLimitKey'>
  /** The meter that masking the recorded texts is charged to. */
  readonly meter?: WorkMeter
  readonly envelope: Envelope
  /** The payload bytes, so that numbers in arguments keep their digits. */
  readonly payload?: Uint8Array
  /** Everyone could have read the envelope: participants that may restrict its sender read the decision as well [MEUP-8.7]. */
  readonly isPublic?: boolean
}

/** The part of a space that decisions use. */
interface DecisionSpace {
  readonly config: Pick<SpaceConfig, 'name' | 'limits'>
  readonly clock: Clock
  readonly logger: Logger
  readonly rates: Rates
  readonly logUse: Pick<LogUse, 'isUsedUp'>
  /** Why nothing is admitted at present. */
  readonly stopped: string | undefined
  /** Masks a text that a participant wrote. */
  readonly safety: { guard(text: string, meter?: WorkMeter): ReturnType<Guard> }
  emit(fields: { kind: string; payload: object; to: string[] }): number
}

/** The reason and arguments of a refused call, masked. */
type Attempted = Pick<DecisionPayload, 'attemptedRationale' | 'attemptedArguments'>

/** A pending decision, without the envelope's payload, so that it is small. */
interface Note {
  readonly to: string[]
  readonly rateLimitKey: string
  readonly record: Omit<DecisionPayload, 'attemptedTool' | keyof Attempted | 'count'>
  /** The masked name of the tool; empty if none. */
  readonly tool: string
}

/** Equal decisions in the current one-second window, after the first. */
interface Second {
  readonly rateLimitKey: string
  /** The refused call, if this window counts only that call. */
  readonly attempted: Attempted | undefined
  count: number
  last: Note
  cancel(): void
}

/** A refused `tools/call`. */
interface Call {
  readonly tool: string
  readonly parameters: unknown
  readonly rationale: string
}

/** The first decision of a window. `isAlone`: the window counts this call only. */
interface First {
  readonly key: string
  readonly note: Note
  readonly call: Call | undefined
  readonly isAlone: boolean
}

const secondMs = 1000
/** Maximum number of windows at a time; further decisions are counted in the metrics only. */
const maxWindows = 256
/** Maximum number of calls of one rateLimitKey that have windows of their own. */
const maxCalls = 16
const maxToolChars = 128
const maxMessageChars = 512
/** Maximum characters of a recorded rationale, and of recorded arguments as JSON. */
const maxTextChars = 2048
/** Maximum characters of a missing capability as JSON; a longer one is left out of the record. */
const maxMissingChars = 512

const decoder = new TextDecoder()

const denials: ReadonlySet<ErrorCode> = new Set([
  'capability_violation',
  'reserved_kind',
  'forbidden',
  'grant_exceeds_own',
  'sender_mismatch',
  'participant_paused',
])

/** The decision that a refusal amounts to; `undefined` for a mere mistake such as invalid JSON. */
export function verdictFor(refusal: {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: { readonly missing?: unknown }
}): GuardVerdict | undefined {
  const { code: reasonCode, message, details } = refusal
  if (reasonCode === 'rate_limited') return { decision: 'limited', reasonCode, message }
  if (!denials.has(reasonCode)) return undefined
  const missing = details?.missing as Capability | undefined
  return { decision: 'denied', reasonCode, message, ...(missing !== undefined && { missing }) }
}

/**
 * Logs what was denied, blocked, limited or flagged for review. The first decision of a participant and code is logged at once,
 * the rest of that second as one record [MEUP-3.12]; up to 16 different tool calls have records of their own. Refusals
 * therefore cannot flood the log. Guests of one address count together.
 */
export class Decisions {
  readonly #space: DecisionSpace
  readonly #seconds = new Map<string, Second>()
  #uncounted = 0

  constructor(space: DecisionSpace) {
    this.#space = space
  }

  record(attempt: Attempt, verdict: GuardVerdict): void {
    const { rateLimitKey } = attempt.sender
    const { logUse, clock } = this.#space
    // The refused calls of a sender without log budget are counted together, and not recorded one by one.
    const call = logUse.isUsedUp(rateLimitKey, clock.now())
      ? undefined
      : refusedCall(attempt.envelope, verdict)
    const plain = `${verdict.reasonCode} ${attempt.isPublic ? 'public' : 'private'} ${rateLimitKey}`
    const key = (call && this.#createKey(call, plain, rateLimitKey)) ?? plain
    const second = this.#seconds.get(key)
    const note = this.#note(attempt, verdict)
    if (second === undefined) this.#begin(attempt, { key, note, call, isAlone: key !== plain })
    else {
      second.count++
      second.last = note
    }
  }

  /** Logs the pending counts. Call it once nothing is admitted any more. */
  close(): void {
    for (const second of this.#seconds.values()) {
      second.cancel()
      this.#writeRest(second)
    }
    this.#seconds.clear()
    this.#logUncounted()
  }

  /** The window of exactly this call; `undefined` = the sender already has windows for `maxCalls` other calls. */
  #createKey({ tool, parameters }: Call, plain: string, rateLimitKey: string): string | undefined {
    const key = `${plain} ${hash('sha256', JSON.stringify([tool, parameters]), 'base64url')}`
    if (this.#seconds.has(key)) return key
    const own = [...this.#seconds.values()].filter(
      (each) => each.attempted && each.rateLimitKey === rateLimitKey,
    )
    return own.length < maxCalls ? key : undefined
  }

  #begin({ sender: { rateLimitKey }, payload, meter }: Attempt, { key, note, call, isAlone }: First): void {
    if (this.#space.stopped !== undefined) return
    if (this.#seconds.size >= maxWindows) {
      this.#uncounted++
      return
    }
    const seen = call && this.#attempted(call, payload, meter)
    this.#write(note, 1, seen)
    const attempted = isAlone ? seen : undefined
    this.#seconds.set(key, { rateLimitKey, attempted, count: 0, last: note, cancel: this.#endLater(key) })
  }

  #endLater(key: string): () => void {
    return this.#space.clock.after(secondMs, () => this.#end(key))
  }

  /** A window that cannot be logged at present lasts another second. */
  #end(key: string): void {
    const second = this.#seconds.get(key)
    if (second === undefined) return
    if (second.count > 0 && this.#space.stopped !== undefined) {
      second.cancel = this.#endLater(key)
      return
    }
    this.#seconds.delete(key)
    this.#writeRest(second)
    this.#logUncounted()
  }

  #note({ sender, envelope, meter, isPublic }: Attempt, verdict: GuardVerdict): Note {
    const { id, kind, context, correlationId } = envelope
    const isLegal = context !== undefined && parseContext(context, this.#space.config.limits) !== undefined
    const record = {
      ...verdict,
      ...(kind && { attemptedKind: kind }),
      ...(isEnvelopeId(id) && { attemptedId: id }),
      ...(correlationId !== undefined && { attemptedCorrelation: correlationId }),
      ...(isLegal && { context }),
    }
    const tool = toolIn(envelope)
    const seen = tool && head(this.#space.safety.guard(tool, meter).text, maxToolChars)
    const to = [sender.participant, ...(isPublic ? [GATEWAY] : [])]
    return { to, rateLimitKey: sender.rateLimitKey, record, tool: seen }
  }

  /** Masks the texts before it cuts them, so that no half of a secret remains. */
  #attempted(
    { parameters, rationale }: Call,
    payload: Uint8Array | undefined,
    meter: WorkMeter | undefined,
  ): Attempted {
    const exact = payload
      ? getParameters(parseExact(decoder.decode(payload)) as Record<string, unknown>)
      : parameters
    const guard: Guard = (text) => this.#space.safety.guard(text, meter)
    const attemptedRationale = head(guard(rationale).text, maxTextChars)
    const attemptedArguments = shortArguments(redact(exact, guard).value)
    return { ...(attemptedRationale && { attemptedRationale }), attemptedArguments }
  }

  #writeRest({ count, last, attempted }: Second): void {
    if (count > 0) this.#write(last, count, attempted)
  }

  #write({ to, rateLimitKey, record, tool }: Note, count: number, attempted?: Attempted): void {
    const { config, clock, logger, rates, safety } = this.#space
    const { missing, ...decided } = record
    const payload: DecisionPayload = {
      ...decided,
      message: head(safety.guard(record.message).text, maxMessageChars),
      ...(tool && { attemptedTool: tool }),
      ...attempted,
      ...(missing !== undefined && this.#mayShow(missing) && { missing }),
      count,
    }
    try {
      this.#space.emit({ kind: Kind.systemDecision, to, payload })
      // The recorded texts of a call may be long, so they are charged to the log budget of its sender.
      if (attempted !== undefined)
        rates.charge(rateLimitKey, 'log', JSON.stringify(attempted).length, clock.now())
    } catch (err) {
      logger.warn({ space: config.name, to, ...payload, err }, 'a decision could not be logged')
    }
  }

  /**
   * Returns `true` if a missing capability may be recorded: it contains the name of a tool that the sender chose, and a person
   * may grant it as displayed. Long, masked or invisible text is therefore left out.
   */
  #mayShow(missing: Capability): boolean {
    const json = JSON.stringify(missing)
    if (hasUnseen(missing)) return false
    return json.length <= maxMissingChars && this.#space.safety.guard(json).text === json
  }

  #logUncounted(): void {
    const { config, logger } = this.#space
    const decisions = this.#uncounted
    if (decisions > 0) logger.warn({ space: config.name, decisions }, 'too many were refused to record each')
    this.#uncounted = 0
  }
}

/** The refused call. A call that was admitted is in the log itself. */
function refusedCall(envelope: Envelope, { decision }: GuardVerdict): Call | undefined {
  const tool = toolIn(envelope)
  if (tool === '' || (decision !== 'denied' && decision !== 'limited')) return undefined
  const { payload, rationale } = envelope
  return { tool, parameters: getParameters(payload), rationale: rationale?.trim() ?? '' }
}

/** The name of the tool in a `tools/call`; empty if none. */
function toolIn({ kind, payload }: Envelope): string {
  if ((kind !== Kind.mcpRequest && kind !== Kind.mcpProposal) || !isToolCall(payload)) return ''
  const { name } = (payload.params ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : ''
}

/** The arguments of a refused call were not validated, so they may be of any type. */
function shortArguments(seen: unknown): object | string {
  const json = stringifyExact(seen) ?? ''
  const isShort = typeof seen === 'object' && seen !== null && json.length <= maxTextChars
  return isShort ? seen : cut(json, maxTextChars)
}
