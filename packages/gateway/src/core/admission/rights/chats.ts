import { refuse } from '../../refusal.js'
import { texts } from '../../refusal-texts.js'
import type { Right } from '../admission-context.js'

/** Refuses further chats between agents that only answer each other: `rate_limited` [MEUP-7.4]. */
export const hopRights: Right = ({ envelope }, { state, config }) => {
  const { agentHops } = config.limits
  if (state.hops.of(envelope) <= agentHops) return undefined
  const details = { class: 'chat', limit: 'agentHops' }
  return refuse('rate_limited', texts.hops, { chats: agentHops }, { details })
}
