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

/** The right that let a request pass, such as `by ana's grant until 2 Jan 2026, 18:00`; `undefined` = not logged. */
export function explainRight(request: Envelope, rights: RightSources): string | undefined {
  // A truncated request may match other capabilities than the complete one.
  const isWhole = getFullSize(request) === undefined
  const sources = {
    find: (id: string) => rights.find(id),
    configurationAt: (seq: number) => (isWhole ? rights.configurationAt(seq) : undefined),
  }
  const right = describeRight(request, sources, dateText)
  return right && rightText(right)
}

/** Warnings about capabilities, one per line; none while one of them is incomplete. */
export function findWarnings(text: string, participants: readonly string[]): string[] {
  try {
    return findCapabilityWarnings(readCapabilities(text), participants)
  } catch {
    return []
  }
}
