import type { RequirementId } from './requirements.js'

const reasons: Record<string, readonly RequirementId[]> = {}

/** Reasons why requirements have no test yet. Remove a requirement when it gets its first test. */
export const knownFailures: Partial<Record<RequirementId, string>> = Object.fromEntries(
  Object.entries(reasons).flatMap(([reason, ids]) => ids.map((id) => [id, reason])),
)
