import { Kind } from '@meup/protocol'
import type { Right } from './right.js'

/** Agents that only answer each other wait for somebody else: `rate_limited`, for chat alone [MEUP-7.4]. */
export const hopRights: Right = ({ envelope }, { state, config }) => {
  const { agentHops } = config.limits
  if (envelope.kind !== Kind.chat || state.hops.of(envelope) <= agentHops) return undefined
  return {
    code: 'rate_limited',
    message: `${agentHops} chats went from agent to agent; wait until a human speaks, or a tool answers you`,
    details: { class: 'chat', limit: 'agentHops' },
  }
}
