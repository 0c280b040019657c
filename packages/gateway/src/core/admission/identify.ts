import { nanoid } from 'nanoid'
import type { Admission, AdmissionContext, Outcome } from './context.js'

/** `from` is the connection's identity: `sender_mismatch` [MEUP-1.1]. Adds the time, and an id where there is none. */
export function identify({ envelope, sender, now }: AdmissionContext, space: Admission): Outcome {
  if (envelope.from !== undefined && envelope.from !== sender.participant) {
    const message = `this connection is ${sender.participant}; leave from out: the gateway sets it`
    return { code: 'sender_mismatch', path: '/from', message }
  }
  envelope.from = sender.participant
  envelope.id ??= nanoid()
  envelope.ts = space.timestamp(now)
  return undefined
}
