import type { GuardedParts, Utterance } from '@meup/protocol'
import type { Finding, Guarded, SafetyOptions, SafetySettings } from '@meup/safety'

interface OldSafety {
  guard(text: string, before?: string): Guarded
}

/** The gate as it was before texts of prose took a way of their own: what it finds, the gate still has to find. */
export declare function compileSafety(settings: SafetySettings, options?: SafetyOptions): OldSafety
export declare function tailOf(before: string, text: string): string

export declare class EnvelopeGuard {
  constructor(
    maker: { compile(settings: SafetySettings): OldSafety; tailOf(before: string, text: string): string },
    settings: SafetySettings,
  )
  guard(envelope: Utterance, payload: Uint8Array): GuardedParts<Finding>
}
