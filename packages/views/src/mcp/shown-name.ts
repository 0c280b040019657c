import type { Envelope } from '@meup/protocol'
import { toolNameOf } from './call.js'
import { defaultGuard } from './guard.js'
import { guarded } from './redact.js'

/** The name of a tool, as it may leave the log: without what looks like a secret. */
export const shownToolName = (payload: Envelope['payload']): string =>
  guarded(toolNameOf(payload), defaultGuard)
