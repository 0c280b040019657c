import { checkMetered, contextRoot, Kind, openContexts, type VisibilityPayload } from '@meup/protocol'
import { type Exemption, forbidden, type Right } from '../context.js'

/**
 * Only the starter closes a context; other participants may send reasoning in it if the space is collaborative [MEUP-2.4,
 * MEUP-2.5].
 */
export const reasoningRights: Right = ({ envelope: { kind, from, context } }, space) => {
  if (context === undefined) return undefined
  const { contexts } = space.state
  const opened = contexts.get(context)
  if (kind === Kind.reasoningConclusion && opened !== undefined && opened.owner !== from) {
    return forbidden(`Only its owner concludes ${context}. Send a reasoning.cancel to ask for its end.`)
  }
  const owner = contexts.getRun(context)?.owner
  const stranger = owner !== undefined && owner !== from && kind !== Kind.reasoningCancel
  if (stranger && !space.config.reasoning.collaborative) {
    return forbidden(
      `Only its owner reasons in ${contextRoot(context)}: this space does not let others join in. Use chat.`,
    )
  }
  return undefined
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
  if (open.own >= own)
    return ['ownOpenContexts', `${owner} has ${own} contexts open; conclude or cancel some, then start again`]
  if (open.all >= all)
    return ['openContexts', `${all} contexts are open in this space; start again when some are closed`]
  if (open.guests >= guests) {
    const message = `${guests} contexts of guests are open in this space. Start again when some are closed.`
    return ['guestsOpenContexts', message]
  }
  return undefined
}

/** The owner of a run may hide or show it without a capability; `visibilityRights` covers the others. */
export const decidesVisibility: Exemption = ({ kind }) => kind === Kind.observeVisibility

/** Only the owner, or a holder of the capability, hides or shows a run, and only while it is open [MEUP-9.5]. */
export const visibilityRights: Right = ({ envelope, meter }, { state }) => {
  const { from, to, payload } = envelope
  if (to !== undefined) {
    return {
      code: 'invalid_envelope',
      path: '/to',
      message: 'A run is shown or hidden for all. Leave `to` out.',
    }
  }
  const { context } = payload as VisibilityPayload
  const run = state.contexts.get(context)
  if (run?.state !== 'open') {
    return { code: 'run_not_active', path: '/payload/context', message: 'run not active' }
  }
  const { participants } = state
  if (run.owner === from || checkMetered(meter, (budget) => participants.allows(from, envelope, budget)))
    return undefined
  return forbidden(`Only its owner hides or shows ${context} without the capability ${envelope.kind}`)
}
