import { correlations, type Envelope, Kind, namespaceOf, ruleOf } from '@meup/protocol'
import type { Admission, Outcome, Passage, Refusal } from './passage.js'

/** Capabilities, and what only the owner of a context or the addressee of a request may do [MEUP-4.1]. */
export function authorize({ envelope }: Passage, space: Admission): Outcome {
  const { kind, from } = envelope
  const rule = ruleOf(kind)
  if (namespaceOf(kind) === 'system' || rule?.gateway) {
    return { code: 'reserved_kind', path: '/kind', message: `${kind} is sent by the gateway alone` }
  }
  if (!rule?.free && !space.state.participants.allows(from, envelope)) {
    return {
      code: 'capability_violation',
      message: `no capability of ${from} allows this ${kind}; propose it to one that may, or ask for a grant`,
      details: { capabilities: space.state.participants.capabilities(from) },
    }
  }
  return reasoningRights(envelope, space) ?? responseRights(envelope, space)
}

/** Only its starter closes a context; others think along where the space lets them [MEUP-2.4, MEUP-2.5]. */
function reasoningRights({ kind, from, context }: Envelope, space: Admission): Refusal | undefined {
  if (context === undefined || namespaceOf(kind) !== 'reasoning') return undefined
  const { contexts } = space.state
  const opened = contexts.get(context)
  if (kind === Kind.reasoningConclusion && opened !== undefined && opened.owner !== from) {
    return forbidden(`only ${opened.owner} concludes ${context}; send a reasoning.cancel to ask for its end`)
  }
  const owner = contexts.runOwner(context)
  const stranger = owner !== undefined && owner !== from && kind !== Kind.reasoningCancel
  if (stranger && !space.config.reasoning.collaborative) {
    return forbidden(`${context} is ${owner}'s alone: this space does not let others reason in it; use chat`)
  }
  return undefined
}

/** A response comes from an addressee of the request, once [MEUP-3.7]. */
function responseRights(envelope: Envelope, space: Admission): Refusal | undefined {
  if (envelope.kind !== Kind.mcpResponse) return undefined
  for (const id of correlations(envelope)) {
    const refused = space.state.requests.refusal(id, envelope.from)
    if (refused === 'unknown') {
      return { code: 'not_found', path: '/correlationId', message: `no request ${id} waits for an answer` }
    }
    if (refused === 'answered') return forbidden(`${envelope.from} has answered ${id} already`)
    if (refused === 'not addressed') return forbidden(`${id} was not addressed to ${envelope.from}`)
  }
  return undefined
}

const forbidden = (message: string): Refusal => ({ code: 'forbidden', message })
