import { getErrorMessage, guardedPart, normalise, type Utterance } from '@meup/protocol'
import type { SafetySettings } from '@meup/safety'
import { getGuards, loadGuards } from '#guard'
import { unguardedError } from './errors.js'
import type { Frame } from './frames.js'
import type { OutboundGuard } from './guard.js'

const decoder = new TextDecoder()

/** An envelope whose text has to be masked. */
interface Guarded {
  /** All fields of the envelope except the payload. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly utterance: Utterance
  readonly payload: Uint8Array
}

/**
 * Masks secrets in thoughts and rationales before they leave this process. The gateway applies the rules of its space again
 * [MEUP-6.1].
 */
export class OutboundSafety {
  readonly #settings: Partial<SafetySettings>
  /** Compiled on first use, because the default rules take long and clients that only read need none. */
  #guard: OutboundGuard | undefined
  #loading: Promise<void> | undefined
  #waiting = 0
  #failure: unknown

  private constructor(settings: Partial<SafetySettings>) {
    this.#settings = settings
  }

  /** Creates the masking of a client. Rejects with `SafetyError` for invalid settings. */
  static async open(settings: Partial<SafetySettings> | undefined): Promise<OutboundSafety> {
    const safety = new OutboundSafety(settings ?? {})
    if (settings !== undefined) safety.#guard = (await loadGuards()).createGuard(settings)
    return safety
  }

  /**
   * Masks the text of a frame. Returns a promise while the masking module is loading; later frames wait for it too. Throws or
   * rejects with `ConnectionError` if it cannot be loaded.
   */
  filter(frame: Frame): string | Promise<string> {
    const guarded = readGuarded(frame)
    const isReady = this.#guard !== undefined || getGuards() !== undefined
    if (this.#waiting === 0 && guarded === undefined) return frame.text
    return this.#waiting === 0 && isReady
      ? this.#clean(frame, guarded)
      : this.#load().then(() => this.#clean(frame, guarded))
  }

  #clean({ text }: Frame, guarded: Guarded | undefined): string {
    if (guarded === undefined) return text
    const { fields, utterance, payload } = guarded
    this.#guard ??= getGuards()?.createGuard(this.#settings)
    if (this.#guard === undefined) throw unguardedError(getErrorMessage(this.#failure))
    const seen = this.#guard.guard(utterance, payload)
    if (seen.rationale === undefined && seen.payload === undefined) return text
    const rationale = (seen.rationale ?? utterance.rationale) || undefined
    const head = JSON.stringify({ ...fields, rationale })
    return `${head.slice(0, -1)},"payload":${seen.payload ?? decoder.decode(payload)}}`
  }

  /** Loads the masking module. All frames wait for the same promise, so that their order is kept. */
  async #load(): Promise<void> {
    this.#waiting++
    this.#loading ??= loadGuards().then(
      () => {},
      (error: unknown) => {
        this.#failure = error
        this.#loading = undefined
      },
    )
    await this.#loading
    this.#waiting--
  }
}

/** Reads the text to mask; `undefined`: the frame is sent unchanged, since it has none or the gateway will refuse it. */
function readGuarded({ bytes, object }: Frame): Guarded | undefined {
  const normalised = normalise(object, bytes)
  if ('path' in normalised) return undefined
  const { payload, ...fields } = normalised.value
  const utterance = { ...fields, from: '', payload: payload ?? {} }
  if (!isUtterance(utterance)) return undefined
  if (utterance.rationale === undefined && guardedPart(utterance) === undefined) return undefined
  return { fields, utterance, payload: normalised.payload }
}

/** Whether the fields have the valid types; the gateway refuses other envelopes. */
const isUtterance = (fields: Partial<Record<keyof Utterance, unknown>>): fields is Utterance =>
  typeof fields.kind === 'string' &&
  typeof fields.payload === 'object' &&
  [fields.context, fields.rationale].every((text) => text === undefined || typeof text === 'string')
