import { nanoid } from 'nanoid'
import type { Admission, Outcome, Passage } from './passage.js'

/** `from` is the connection's identity: `sender_mismatch` [MEUP-1.1]. An id where there is none, and the time of acceptance. */
export function identify({ envelope, sender, now }: Passage, space: Admission): Outcome {
  if (envelope.from !== undefined && envelope.from !== sender.participant) {
    return {
      code: 'sender_mismatch',
      path: '/from',
      message: `this connection is ${sender.participant}; leave from out: the gateway sets it`,
    }
  }
  envelope.from = sender.participant
  envelope.id ??= nanoid()
  envelope.ts = space.timestamp(now)
  return undefined
}
