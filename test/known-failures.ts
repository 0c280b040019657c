import type { RequirementId } from './requirements.js'

const reasons: Record<string, readonly RequirementId[]> = {}

/** Why a requirement has no test yet, in plain words. It leaves this list with its first test. */
export const knownFailures: Partial<Record<RequirementId, string>> = Object.fromEntries(
  Object.entries(reasons).flatMap(([reason, ids]) => ids.map((id) => [id, reason])),
)
