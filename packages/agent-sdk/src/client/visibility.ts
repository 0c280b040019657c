import { type AnyEnvelope, contextRoot, Kind } from '@meup/protocol'
import type { Seat } from './types.js'

/** Of the whole run, whichever of its contexts is named. */
export const setVisibility = (
  seat: Pick<Seat, 'send'>,
  context: string,
  reasoningVisible: boolean,
): Promise<AnyEnvelope> =>
  seat.send({
    kind: Kind.observeVisibility,
    payload: { context: contextRoot(context), reasoningVisible },
  })
