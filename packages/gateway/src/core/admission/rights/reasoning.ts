import { contextRoot, Kind, namespaceOf, openContexts } from '@meup/protocol'
import { forbidden, type Right } from './right.js'

/** Only its starter closes a context; others think along where the space lets them [MEUP-2.4, MEUP-2.5]. */
export const reasoningRights: Right = ({ envelope: { kind, from, context } }, space) => {
  if (context === undefined || namespaceOf(kind) !== 'reasoning') return undefined
  const { contexts } = space.state
  const opened = contexts.get(context)
  if (kind === Kind.reasoningConclusion && opened !== undefined && opened.owner !== from) {
    return forbidden(`only its owner concludes ${context}; send a reasoning.cancel to ask for its end`)
  }
  const owner = contexts.runOwner(context)
  const stranger = owner !== undefined && owner !== from && kind !== Kind.reasoningCancel
  if (stranger && !space.config.reasoning.collaborative) {
    return forbidden(
      `only its owner reasons in ${contextRoot(context)}: this space lets nobody think along; use chat`,
    )
  }
  return undefined
}

/** There is an end to what is open at once: `rate_limited` until something of it is closed [MEUP-2.11]. */
export const startRights: Right = ({ envelope }, { state: { contexts } }) => {
  if (envelope.kind !== Kind.reasoningStart || !contexts.opens(envelope)) return undefined
  const full = fullOf(envelope.from, contexts.openCounts(envelope.from))
  if (full === undefined) return undefined
  const [limit, message] = full
  return { code: 'rate_limited', message, details: { class: 'reasoning', limit } }
}

/** Which of the bounds is reached, and what can be done about it. */
function fullOf(
  owner: string,
  open: Readonly<Record<keyof typeof openContexts, number>>,
): readonly [limit: string, message: string] | undefined {
  const { own, guests, all } = openContexts
  if (open.own >= own)
    return ['ownOpenContexts', `${owner} has ${own} contexts open; conclude or cancel some, then start again`]
  if (open.all >= all)
    return ['openContexts', `${all} contexts are open in this space; start again when some are closed`]
  if (open.guests >= guests) {
    const message = `${guests} contexts of guests are open in this space; start again when some are closed`
    return ['guestsOpenContexts', message]
  }
  return undefined
}
