import type { Draft } from '@meup/agent-sdk/watch'
import { type Envelope, Kind } from '@meup/protocol'

/** What takes a message back. */
export const toCancel = ({ id, to }: Envelope): Draft => ({
  ...{ kind: Kind.chatCancel, correlationId: id, payload: {} },
  ...(to && { to }),
})
