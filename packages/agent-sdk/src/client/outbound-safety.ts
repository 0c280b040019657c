import { EnvelopeGuard, isGuarded, normalise, type Utterance } from '@meup/protocol'
import { compileSafety, defaultSafety, type Finding, type SafetySettings, tailOf } from '@meup/safety'
import type { Frame } from './frames.js'

const decoder = new TextDecoder()

/**
 * Removes secrets from thoughts and rationales before they leave this process. The gateway applies the rules of its space
 * again [MEUP-6.1].
 */
export class OutboundSafety {
  /** Compiled with the first text to send: the default rules take a while, and clients that only listen need none. */
  #guard: EnvelopeGuard<SafetySettings, Finding> | undefined

  /** Throws `SafetyError` for settings that cannot be used. */
  constructor(settings?: Partial<SafetySettings>) {
    if (settings !== undefined) this.#guard = createGuard(settings)
  }

  /** The text to send for a frame, with secrets removed. */
  filter({ text, bytes, object }: Frame): string {
    const normalised = normalise(object, bytes)
    if ('path' in normalised) return text // The gateway refuses it.
    const { payload, ...fields } = normalised.value
    const utterance = { ...fields, from: '', payload: payload ?? {} }
    if (!isUtterance(utterance) || !isGuarded(utterance)) return text
    this.#guard ??= createGuard({})
    const seen = this.#guard.guard(utterance, normalised.payload)
    if (seen.rationale === undefined && seen.payload === undefined) return text
    const rationale = (seen.rationale ?? fields.rationale) || undefined
    const head = JSON.stringify({ ...fields, rationale })
    return `${head.slice(0, -1)},"payload":${seen.payload ?? decoder.decode(normalised.payload)}}`
  }
}

function createGuard(settings: Partial<SafetySettings>): EnvelopeGuard<SafetySettings, Finding> {
  const failed = (error: unknown): void =>
    console.warn(`the guard failed, and a text was withheld: ${getErrorName(error)}`)
  const compile = (each: SafetySettings) => compileSafety(each, { failed })
  return new EnvelopeGuard({ compile, tailOf }, { ...defaultSafety, ...settings })
}

/** The gateway refuses all others. */
const isUtterance = (fields: Partial<Record<keyof Utterance, unknown>>): fields is Utterance =>
  typeof fields.kind === 'string' &&
  typeof fields.payload === 'object' &&
  [fields.context, fields.rationale].every((text) => text === undefined || typeof text === 'string')

/** Its message may quote the text. */
const getErrorName = (error: unknown): string => (error instanceof Error ? error.name : typeof error)
