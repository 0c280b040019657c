import type { Clock } from '../ports/clock.js'
import type { EnvelopeLog } from '../ports/envelope-log.js'
import type { Logger } from '../ports/logger.js'

/** What a space needs of the world. */
export interface SpacePorts {
  readonly log: EnvelopeLog
  readonly clock: Clock
  readonly logger: Logger
  /** Whether this opens anything in this gateway. */
  isToken(candidate: string): boolean
}
