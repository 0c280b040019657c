import type { Configuration } from '@meup/folds'
import { GrantIndex, SpaceModel } from '@meup/observer/model'
import { type Capability, type Envelope, GATEWAY, type ParticipantInfo } from '@meup/protocol'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

const isGiven = ({ kind }: Envelope): boolean => kind === 'capability.grant' || kind === 'space.invite'

/**
 * Lists the capabilities of each participant as the gateway does: the configured ones, then those of grants and invitations.
 */
function listHolders(envelopes: readonly Envelope[]): ParticipantInfo[] {
  const configured = envelopes.findLast(({ from, kind }) => from === GATEWAY && kind === 'system.space')
  const { participants = {} } = (configured?.payload ?? {}) as Partial<Configuration>
  const held = new Map(Object.entries(participants).map(([id, { capabilities }]) => [id, [...capabilities]]))
  for (const { payload } of envelopes.filter(isGiven)) {
    const id = String(payload.recipient ?? payload.participantId)
    held.set(id, [...(held.get(id) ?? []), ...(payload.capabilities as Capability[])])
  }
  return [...held].map(([id, capabilities]) => ({ id, capabilities, status: 'away' }))
}

testFoldFixtures('the page', {
  knows: { grants: ['grantor', 'recipient', 'capabilities'] },
  read: ({ envelopes, now }) => {
    const late = new SpaceModel()
    late.append(envelopes.slice(2), 0)
    const grants = new GrantIndex(late.log)
    grants.setEarlier(envelopes.slice(0, 2))
    const people = listHolders(envelopes)
    const given = people.flatMap(({ id }) => grants.getCapabilities(id, people, now)?.grants ?? [])
    return { grants: Object.fromEntries(given.map((grant) => [grant.id, grant])) }
  },
})
