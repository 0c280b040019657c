import { EnvelopeGuard } from '@meup/protocol'
import {
  compileSafety,
  defaultSafety,
  type Finding,
  type Safety,
  type SafetySettings,
  tailOf,
} from '@meup/safety'

export type OutboundGuard = EnvelopeGuard<SafetySettings, Finding>

/** Creates the guard for outgoing texts. Throws `SafetyError` for invalid settings. */
export function createGuard(settings: Partial<SafetySettings>): OutboundGuard {
  const failed = (error: unknown): void =>
    console.warn(`the guard failed, and a text was withheld: ${getErrorName(error)}`)
  const compile = (each: SafetySettings) => compileSafety(each, { failed })
  return new EnvelopeGuard({ compile, tailOf }, { ...defaultSafety, ...settings })
}

/** Returns only the name of an error, because its message may quote the text. */
const getErrorName = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

let safety: Safety | undefined

/** Masks secrets and prompt markers in a text that was not written for publication [MEUP-6.1]. */
export function guardText(text: string): string {
  safety ??= compileSafety(defaultSafety)
  return safety.guard(text).text
}
