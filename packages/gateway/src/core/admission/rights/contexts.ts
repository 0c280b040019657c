import { checkMetered, contextRoot, Kind, openContexts, type VisibilityPayload } from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import { forbidden, refuse } from '../../refusal.js'
import { texts } from '../../refusal-texts.js'
import type { Exemption, Right } from '../admission-context.js'

/**
 * Only the starter closes a context; other participants may send reasoning in it if the space is collaborative [MEUP-2.4,
 * MEUP-2.5].
 */
export const reasoningRights: Right = ({ envelope: { kind, from, context } }, space) => {
  if (context === undefined) return undefined
  const { contexts } = space.state
  const opened = contexts.get(context)
  if (kind === Kind.reasoningConclusion && opened !== undefined && opened.owner !== from)
    return forbidden(texts.othersContext, { context })
  const owner = contexts.getRun(context)?.owner
  const stranger = owner !== undefined && owner !== from && kind !== Kind.reasoningCancel
  return stranger && !space.config.reasoning.collaborative
    ? forbidden(texts.closedRun, { context: contextRoot(context) })
    : undefined
}

/** Bounds the open contexts: `rate_limited` until one is closed [MEUP-2.11]. */
export const startRights: Right = ({ envelope }, { state: { contexts } }) => {
  if (!contexts.opens(envelope)) return undefined
  const full = findReachedLimit(envelope.from, contexts.openCounts(envelope.from))
  if (full === undefined) return undefined
  const [limit, message] = full
  return { code: 'rate_limited', message, details: { class: 'reasoning', limit } }
}

function findReachedLimit(
  owner: string,
  open: Readonly<Record<keyof typeof openContexts, number>>,
): readonly [limit: string, message: string] | undefined {
  const { own, guests, all } = openContexts
  if (open.own >= own) return ['ownOpenContexts', fillIn(texts.ownContexts, { owner, contexts: own })]
  if (open.all >= all) return ['openContexts', fillIn(texts.openContexts, { contexts: all })]
  return open.guests >= guests
    ? ['guestsOpenContexts', fillIn(texts.guestsContexts, { contexts: guests })]
    : undefined
}

/** The owner of a run may hide or show it without a capability; `visibilityRights` covers the others. */
export const decidesVisibility: Exemption = ({ kind }) => kind === Kind.observeVisibility

/** Only the owner, or a holder of the capability, hides or shows a run, and only while it is open [MEUP-9.5]. */
export const visibilityRights: Right = ({ envelope, meter }, { state }) => {
  const { from, to, payload } = envelope
  if (to !== undefined) return refuse('invalid_envelope', texts.addressedVisibility, {}, { path: '/to' })
  const { context } = payload as VisibilityPayload
  const run = state.contexts.get(context)
  if (run?.state !== 'open')
    return refuse('run_not_active', texts.inactiveRun, { context }, { path: '/payload/context' })
  const { participants } = state
  if (run.owner === from || checkMetered(meter, (budget) => participants.allows(from, envelope, budget)))
    return undefined
  return forbidden(texts.othersRun, { context, kind: envelope.kind })
}
