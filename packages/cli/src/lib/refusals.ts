import type { SpaceClient } from '@meup/agent-sdk'
import { type AnyEnvelope, type DecisionPayload, Kind } from '@meup/protocol'

/** Whether this participant may grant the capability that another participant's refused call lacked. */
export const mayAllow = (
  space: Pick<SpaceClient, 'id' | 'can'>,
  { kind, to, payload }: AnyEnvelope,
): boolean => {
  const [recipient] = to ?? []
  const { missing } = payload as Partial<DecisionPayload>
  if (kind !== Kind.systemDecision || missing === undefined || recipient === undefined) return false
  return recipient !== space.id && space.can({ kind: Kind.capabilityGrant, payload: { recipient } })
}
