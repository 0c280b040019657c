import {
  describeRight,
  explainCapability,
  findCapabilityWarnings,
  type RightSources,
  rightText,
} from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { readCapabilities } from './log/grants.js'
import { getFullSize } from './log/truncate.js'
import { dateText } from './text.js'

export { explainCapability }

/**
 * The capability that allowed a request, such as `by ana's grant until 2 Jan 2026, 18:00`; `undefined` if it is not in the log.
 */
export function explainRight(request: Envelope, rights: RightSources): string | undefined {
  // Ignores configurations if the arguments are truncated: they might match other capabilities than complete arguments.
  const isWhole = getFullSize(request) === undefined
  const sources = {
    find: (id: string) => rights.find(id),
    configurationAt: (seq: number) => (isWhole ? rights.configurationAt(seq) : undefined),
  }
  const right = describeRight(request, sources, dateText)
  return right && rightText(right)
}

/** Warnings about capabilities, written one per line; none while a line is incomplete. */
export function findWarnings(text: string, participants: readonly string[]): string[] {
  try {
    return findCapabilityWarnings(readCapabilities(text), participants)
  } catch {
    return []
  }
}
