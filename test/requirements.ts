import { auditRequirements } from './requirements/audit.js'
import { modelRequirements } from './requirements/models.js'
import { protocolRequirements } from './requirements/protocol.js'
import type { Requirement } from './requirements/requirement.js'
import { summaryRequirements } from './requirements/summary.js'
import { visibilityRequirements } from './requirements/visibility.js'

const rows = {
  ...protocolRequirements,
  ...summaryRequirements,
  ...visibilityRequirements,
  ...auditRequirements,
  ...modelRequirements,
}

export type RequirementId = keyof typeof rows

/**
 * Requirements of the five documents that this project implements. Ids are stable, because tests name them. A name that belongs
 * to the application which a document was written for (a method, an event, a table number) means its counterpart in the
 * protocol.
 */
export const requirements: Record<RequirementId, Requirement> = rows

export const isRequirementId = (id: string): id is RequirementId => Object.hasOwn(rows, id)
