import { compileSafety, type Safety, type SafetySettings } from '@meup/safety'
import type { Guard } from '@meup/views'

/** Keeps what tools are asked and say fit to be shown [MEUP-6.9]. Rules are compiled when the first text comes. */
export class PayloadGuard {
  #settings: SafetySettings
  #safety: Safety | undefined

  constructor(settings: SafetySettings) {
    this.#settings = settings
  }

  /** Other rules from now on. */
  configure(settings: SafetySettings): void {
    this.#settings = settings
    this.#safety = undefined
  }

  readonly guard: Guard = (text) => {
    this.#safety ??= compileSafety(this.#settings)
    return this.#safety.guard(text)
  }
}
