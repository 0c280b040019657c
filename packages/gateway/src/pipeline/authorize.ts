import { namespaceOf, ruleOf } from '@meup/protocol'
import type { Admission, Outcome, Passage } from './passage.js'
import { reasoningRights } from './rights/reasoning.js'
import { responseRights } from './rights/responses.js'
import type { Right } from './rights/right.js'

/** What the state of the space decides beside capabilities: who owns, who was asked. */
const rights: readonly Right[] = [reasoningRights, responseRights]

/** Capabilities, and what only the owner of a context or the addressee of a request may do [MEUP-4.1]. */
export function authorize(passage: Passage, space: Admission): Outcome {
  const { kind, from } = passage.envelope
  const rule = ruleOf(kind)
  if (namespaceOf(kind) === 'system' || rule?.gateway) {
    return { code: 'reserved_kind', path: '/kind', message: `${kind} is sent by the gateway alone` }
  }
  if (!rule?.free && !space.state.participants.allows(from, passage.envelope)) {
    return {
      code: 'capability_violation',
      message: `no capability of ${from} allows this ${kind}; propose it to one that may, or ask for a grant`,
      details: { capabilities: space.state.participants.capabilities(from) },
    }
  }
  for (const right of rights) {
    const refusal = right(passage, space)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
