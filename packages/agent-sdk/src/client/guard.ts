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

/** Creates the detector of secrets in outgoing texts. Throws `SafetyError` for settings that cannot be used. */
export function createGuard(settings: Partial<SafetySettings>): OutboundGuard {
  const failed = (error: unknown): void =>
    console.warn(`the guard failed, and a text was withheld: ${getErrorName(error)}`)
  const compile = (each: SafetySettings) => compileSafety(each, { failed })
  return new EnvelopeGuard({ compile, tailOf }, { ...defaultSafety, ...settings })
}

/** Its message may quote the text. */
const getErrorName = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

let safety: Safety | undefined

/** What may be seen of a text that nobody meant to publish: without secrets and prompt markers [MEUP-6.1]. */
export function guardText(text: string): string {
  safety ??= compileSafety(defaultSafety)
  return safety.guard(text).text
}
