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

/** What the gateway decided about an envelope. */
export type Verdict = Pick<DecisionPayload, 'decision' | 'reasonCode' | 'message' | 'missing'>

/** Whose envelope it was, as far as it could be read. */
interface Attempt {
  readonly sender: Pick<Sender, 'participant' | 'rateLimitKey'>
  /** Pays for looks at what may be recorded. */
  readonly meter?: WorkMeter
  readonly envelope: Envelope
  /** The bytes of its payload: the numbers in arguments keep their digits. */
  readonly payload?: Uint8Array
  /** Everyone would have read it: then those who may restrict its sender read what was decided, too [MEUP-8.7]. */
  readonly isPublic?: boolean
}

/** What is needed of the space. */
interface DecisionSpace {
  readonly config: Pick<SpaceConfig, 'name' | 'limits'>
  readonly clock: Clock
  readonly logger: Logger
  readonly rates: Rates
  readonly logUse: Pick<LogUse, 'isUsedUp'>
  /** Why nothing is admitted at present. */
  readonly stopped: string | undefined
  /** Tells what may be seen of a text that somebody has made up. */
  readonly safety: { guard(text: string, meter?: WorkMeter): ReturnType<Guard> }
  emit(fields: { kind: string; payload: object; to: string[] }): number
}

/** What a refused call was to do, and why, as it may be shown. */
type Attempted = Pick<DecisionPayload, 'attemptedRationale' | 'attemptedArguments'>

/** A decision before it is recorded: little enough to be kept for a while, whatever the envelope held. */
interface Note {
  readonly to: string[]
  readonly rateLimitKey: string
  readonly record: Omit<DecisionPayload, 'attemptedTool' | keyof Attempted | 'count'>
  /** As it may be seen; empty where there is none. */
  readonly tool: string
}

/** What has been decided alike since the first of them was recorded. */
interface Second {
  readonly rateLimitKey: string
  /** Of the call that alone is counted here. */
  readonly attempted: Attempted | undefined
  count: number
  last: Note
  cancel(): void
}

/** What a refused `tools/call` was to do. */
interface Call {
  readonly tool: string
  readonly parameters: unknown
  readonly rationale: string
}

/** The first of a second. `isAlone`: the call is counted by itself. */
interface First {
  readonly key: string
  readonly note: Note
  readonly call: Call | undefined
  readonly isAlone: boolean
}

const secondMs = 1000
/** Seconds that are counted at once; what is decided beside them is in the metrics alone. */
const maxWindows = 256
/** Calls of one rateLimitKey that are counted each by itself. */
const mostCalls = 16
const maxToolChars = 128
const maxMessageChars = 512
/** Characters of a rationale, and of the JSON of arguments. */
const maxTextChars = 2048
/** Characters of the JSON of a missing capability: a longer one is left out. */
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

/** What a refusal says of a sender; `undefined` for mere mistakes, which are no decisions. */
export function verdictFor(refusal: {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: { readonly missing?: unknown }
}): Verdict | undefined {
  const { code: reasonCode, message, details } = refusal
  if (reasonCode === 'rate_limited') return { decision: 'limited', reasonCode, message }
  if (!denials.has(reasonCode)) return undefined
  const missing = details?.missing as Capability | undefined
  return { decision: 'denied', reasonCode, message, ...(missing !== undefined && { missing }) }
}

/**
 * Records in the log what was denied, blocked, limited or passed for review: the first of a participant and a code at
 * once, the rest of that second as one [MEUP-3.12]; up to 16 different tool calls each by itself. So nobody floods the
 * log by being refused, and guests of one address are counted together.
 */
export class Decisions {
  readonly #space: DecisionSpace
  readonly #seconds = new Map<string, Second>()
  #uncounted = 0

  constructor(space: DecisionSpace) {
    this.#space = space
  }

  record(attempt: Attempt, verdict: Verdict): void {
    const { rateLimitKey } = attempt.sender
    const { logUse, clock } = this.#space
    // Who may add nothing to the log adds little by being refused, too.
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

  /** Records what is still counted. To be called when nothing is admitted any more. */
  close(): void {
    for (const second of this.#seconds.values()) {
      second.cancel()
      this.#writeRest(second)
    }
    this.#seconds.clear()
    this.#logUncounted()
  }

  /** Of this very call; `undefined` = there are too many different ones. */
  #createKey({ tool, parameters }: Call, plain: string, rateLimitKey: string): string | undefined {
    const key = `${plain} ${hash('sha256', JSON.stringify([tool, parameters]), 'base64url')}`
    if (this.#seconds.has(key)) return key
    const own = [...this.#seconds.values()].filter(
      (each) => each.attempted && each.rateLimitKey === rateLimitKey,
    )
    return own.length < mostCalls ? key : undefined
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
    this.#logUncounted()
  }

  #note({ sender, envelope, meter, isPublic }: Attempt, verdict: Verdict): Note {
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

  /** The texts are guarded before they are cut, so that the cut leaves no half of a secret. */
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
      // What is not small, its sender pays for.
      if (attempted !== undefined)
        rates.charge(rateLimitKey, 'log', JSON.stringify(attempted).length, clock.now())
    } catch (err) {
      logger.warn({ space: config.name, to, ...payload, err }, 'a decision could not be logged')
    }
  }

  /** The sender made up the name of the tool: people grant what they see of it. */
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

/** What was not let through; a call that goes on is in the log itself. */
function refusedCall(envelope: Envelope, { decision }: Verdict): Call | undefined {
  const tool = toolIn(envelope)
  if (tool === '' || (decision !== 'denied' && decision !== 'limited')) return undefined
  const { payload, rationale } = envelope
  return { tool, parameters: getParameters(payload), rationale: rationale?.trim() ?? '' }
}

/** The name of the tool that a `tools/call` asks for; empty where there is none. */
function toolIn({ kind, payload }: Envelope): string {
  if ((kind !== Kind.mcpRequest && kind !== Kind.mcpProposal) || !isToolCall(payload)) return ''
  const { name } = (payload.params ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : ''
}

/** Nothing has looked at the arguments of a refused call yet: they may be no object. */
function shortArguments(seen: unknown): object | string {
  const json = stringifyExact(seen) ?? ''
  const isShort = typeof seen === 'object' && seen !== null && json.length <= maxTextChars
  return isShort ? seen : cut(json, maxTextChars)
}
