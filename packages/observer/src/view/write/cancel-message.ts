import type { Draft } from '@meup/agent-sdk/watch'
import { type Envelope, Kind } from '@meup/protocol'

/** The envelope that retracts a message. */
export const toCancel = ({ id, to }: Envelope): Draft => ({
  ...{ kind: Kind.chatCancel, correlationId: id, payload: {} },
  ...(to && { to }),
})
