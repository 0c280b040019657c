import type { Envelope } from '@meup/protocol'
import { guardedToolName } from './call.js'
import { defaultGuard } from './guard.js'

/** The name of a tool, as it may leave the log: without what looks like a secret. */
export const shownToolName = (payload: Envelope['payload']): string => guardedToolName(payload, defaultGuard)
