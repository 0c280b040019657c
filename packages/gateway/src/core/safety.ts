import { hash } from 'node:crypto'
import {
  type Envelope,
  EnvelopeGuard,
  type GuardedParts,
  type GuardedText,
  isToolRequest,
  type Utterance,
  WorkError,
  type WorkMeter,
} from '@meup/protocol'
import {
  builtInRules,
  compileSafety,
  type Finding,
  SafetyError,
  type SafetySettings,
  tailOf,
} from '@meup/safety'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { SpaceMetrics } from './metering.js'

interface GuardPorts {
  readonly space: string
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: SpaceMetrics
  /** Whether the text is an authentication token of this gateway, and so has to be masked. */
  isToken(candidate: string): boolean
  /** Whether a participant is a person, whose calls need no reason. */
  isPerson(participant: string): boolean
}

/** JSON of the built-in rules, with patterns as text. */
const builtIn = JSON.stringify(builtInRules, (_, value) => (value instanceof RegExp ? String(value) : value))

/**
 * Names the masking rules: the SHA-256 of the settings of the space and of the built-in rules. Two views with the same digest
 * are masked alike [MEUP-6.9].
 */
export const digestRules = (settings: SafetySettings): string =>
  hash('sha256', `[${JSON.stringify(settings)},${builtIn}]`, 'hex')

/** Masks reasoning before it is logged [MEUP-6.1], and reports actions to the operator, never the text. */
export class ReasoningGuard {
  readonly #ports: GuardPorts
  readonly #logThrottle = new LogThrottle()
  readonly #guard: EnvelopeGuard<SafetySettings, Finding>
  #settings: string
  /** Digest of the current rules: see `digestRules`. */
  digest: string

  /** Throws for invalid settings. */
  constructor(settings: SafetySettings, ports: GuardPorts) {
    this.#ports = ports
    this.#settings = JSON.stringify(settings)
    this.digest = digestRules(settings)
    this.#guard = new EnvelopeGuard({ compile: (each) => compile(each, ports), tailOf }, settings)
  }

  /** Compiles other settings; calling the result applies them. Throws for invalid ones. */
  prepare(settings: SafetySettings): () => void {
    const text = JSON.stringify(settings)
    if (text === this.#settings) return () => {}
    const replace = this.#guard.prepare(settings)
    return () => {
      this.#settings = text
      this.digest = digestRules(settings)
      replace()
    }
  }

  /** Masks a single text; returns an empty one if the meter cannot pay. */
  guard(text: string, meter?: WorkMeter): GuardedText<Finding> {
    try {
      return this.#guard.guardText(text, meter)
    } catch (error) {
      if (error instanceof WorkError) return { text: '', isWithheld: true, findings: [] }
      throw error
    }
  }

  /** Masks an envelope; `payload`: the bytes of its payload. */
  rewrite(
    envelope: Utterance & Pick<Envelope, 'correlationId'>,
    payload: Uint8Array,
    meter?: WorkMeter,
  ): GuardedParts<Finding> {
    const parts = this.#guard.guard(envelope, payload, meter)
    for (const { action } of parts.findings) this.#ports.metrics.findings.add(action)
    if (parts.withheld > 0) {
      const rules = parts.findings.map(({ rule }) => rule)
      this.#warn(envelope, { rules }, 'a text was withheld')
    } else if (
      isToolRequest(envelope) &&
      !(parts.rationale ?? envelope.rationale) &&
      !isFulfilment(envelope) &&
      !this.#ports.isPerson(envelope.from)
    ) {
      this.#warn(envelope, {}, 'a tool call gives no reason')
    }
    return parts
  }

  #warn({ id, from, kind }: Utterance, more: object, message: string): void {
    const { space, clock, logger } = this.#ports
    const times = this.#logThrottle.due(`${from} ${message}`, clock.now())
    if (times !== undefined) logger.warn({ space, from, id, kind, ...more, times }, message)
  }
}

/** A call that fulfils a proposal needs no reason of its own: the proposal has one. */
const isFulfilment = ({ correlationId }: Pick<Envelope, 'correlationId'>): boolean =>
  correlationId !== undefined

function compile(settings: SafetySettings, { space, logger, isToken }: GuardPorts) {
  try {
    return compileSafety(settings, {
      isKnownSecret: isToken,
      failed: (error) => logger.warn({ space, ...withoutMessage(error) }, 'the guard failed'),
    })
  } catch (error) {
    if (!(error instanceof SafetyError)) throw error
    const message = `the safety settings of the space ${space} cannot be used: ${error.path} ${error.message}`
    throw new Error(message, { cause: error })
  }
}

/** The message of an error may quote the text, so it is dropped. */
function withoutMessage(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error }
  return { error: error.name, at: error.stack?.replace(error.message, '') }
}

const everyMs = 60_000
/** Beyond this number of messages, the least recent is forgotten, and logged again when it recurs. */
const remembered = 1000

/** Logs each recurring message at most once a minute, with its count. */
export class LogThrottle {
  readonly #lastLogged = new Map<string, { readonly at: number; untold: number }>()

  /** The count since the message was last logged, including this time; `undefined` = do not log it now. */
  due(what: string, now: number): number | undefined {
    const last = this.#lastLogged.get(what)
    if (last !== undefined && now >= last.at && now - last.at < everyMs) {
      last.untold++
      return undefined
    }
    this.#lastLogged.delete(what)
    this.#lastLogged.set(what, { at: now, untold: 0 })
    if (this.#lastLogged.size > remembered)
      this.#lastLogged.delete(this.#lastLogged.keys().next().value ?? '')
    return (last?.untold ?? 0) + 1
  }
}
