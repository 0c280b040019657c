import { type Capability, compileCapabilities, PatternError } from '@meup/protocol'
import type { ProblemInside } from './problem-inside.js'

/** An interface so that what is inferred from the schemas can name it. */
export interface CapabilityList extends ReadonlyArray<Capability> {}

/** What is wrong with a list of capabilities: the first mistake of each, or else of them together. */
export function capabilityProblems(value: unknown): ProblemInside[] {
  if (!Array.isArray(value)) return [{ pointer: '', message: 'must be a list' }]
  const each = value.flatMap((capability: Capability, i) =>
    compile([capability]).map(({ pointer, message }) => ({
      pointer: pointer.replace('/0', `/${i}`),
      message,
    })),
  )
  return each.length > 0 ? each : compile(value)
}

function compile(list: readonly Capability[]): ProblemInside[] {
  try {
    compileCapabilities(list)
    return []
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    return [{ pointer: error.path, message: error.problem }]
  }
}
