import { Kind } from '@meup/protocol'
import { forbidden, type Right } from './right.js'

/** Whoever is paused cannot let itself go on: so nobody pauses itself without an end [MEUP-3.13]. */
export const pauseRights: Right = ({ envelope: { kind, from, to, payload } }) => {
  if (kind !== Kind.participantPause || payload.timeoutSeconds !== undefined) return undefined
  const own = to?.indexOf(from) ?? -1
  if (own === -1) return undefined
  return forbidden(`${from} could not go on by itself; leave it out, or give timeoutSeconds`, `/to/${own}`)
}
