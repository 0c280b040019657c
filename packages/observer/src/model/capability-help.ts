import { explainCapability, findCapabilityWarnings } from '@meup/folds'
import { readCapabilities } from './log/grants.js'

export { explainCapability }

/** Warnings about capabilities, one a line; none while one of them is no capability yet. */
export function findWarnings(text: string, participants: readonly string[]): string[] {
  try {
    return findCapabilityWarnings(readCapabilities(text), participants)
  } catch {
    return []
  }
}
