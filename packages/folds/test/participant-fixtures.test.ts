import { Participants, Programs } from '@meup/folds'
import { Kind } from '@meup/protocol'
import {
  type Facts,
  type FoldFixture,
  participantFact,
  participantFields,
  testFoldFixtures,
} from '../../../test/support/fold-fixtures.js'

/** Reads a fixture. Every `each` envelopes, replaces the folds by ones restored from their snapshots. */
function read({ welcome, envelopes, now }: FoldFixture, each = Number.POSITIVE_INFINITY): Facts {
  let [participants, programs] = [new Participants(), new Programs()]
  if (welcome !== undefined) participants.onWelcome(welcome)
  for (const [index, envelope] of envelopes.entries()) {
    if ((index + 1) % each === 0) {
      const snapshot = JSON.stringify([participants.snapshot(), programs.snapshot()])
      const [then, running] = JSON.parse(snapshot)
      ;[participants, programs] = [new Participants(), new Programs()]
      participants.restore(then)
      programs.restore(running)
    }
    participants.apply(envelope)
    if (envelope.kind === Kind.systemPresence) programs.apply(envelope)
  }
  const known = participants.all(now).map((participant) => {
    const sessions = [...programs.living(participant.id)].map(({ session }) => session)
    return [participant.id, { ...participantFact(participant), sessions }] as const
  })
  return { participants: Object.fromEntries(known) }
}

const knows = { participants: [...participantFields, 'sessions'] }
testFoldFixtures('a fold', { knows, read: (fixture) => read(fixture) })
testFoldFixtures('a fold that goes on from snapshots', { knows, read: (fixture) => read(fixture, 1) })
