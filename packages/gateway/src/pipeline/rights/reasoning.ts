import { contextRoot, Kind, namespaceOf } from '@meup/protocol'
import { forbidden, type Right } from './right.js'

/** Only its starter closes a context; others think along where the space lets them [MEUP-2.4, MEUP-2.5]. */
export const reasoningRights: Right = ({ envelope: { kind, from, context } }, space) => {
  if (context === undefined || namespaceOf(kind) !== 'reasoning') return undefined
  const { contexts } = space.state
  const opened = contexts.get(context)
  if (kind === Kind.reasoningConclusion && opened !== undefined && opened.owner !== from) {
    return forbidden(`only ${opened.owner} concludes ${context}; send a reasoning.cancel to ask for its end`)
  }
  const owner = contexts.runOwner(context)
  const stranger = owner !== undefined && owner !== from && kind !== Kind.reasoningCancel
  if (stranger && !space.config.reasoning.collaborative) {
    // The rest of the path has not been checked yet, and may be any text.
    const run = contextRoot(context)
    return forbidden(`${run} is ${owner}'s alone: this space does not let others reason in it; use chat`)
  }
  return undefined
}
