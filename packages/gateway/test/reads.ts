import { type EnvelopeLog, systemClock } from '@meup/gateway'
import { testSpaceConfig } from '@meup/gateway/testing'
import { type LogReader, LogReads } from '../src/core/delivery/log-reads.js'
import { Rates } from '../src/core/metering.js'

const config = testSpaceConfig({ participants: {} })

/** Reads a log of no gateway, with rates out of the way. */
export const readsOf = (log: EnvelopeLog): LogReads =>
  new LogReads({ log, clock: systemClock, rates: new Rates({ config }) })

/** Somebody who waits as long as it takes. */
export const patient: LogReader = { rateLimitKey: 'ada', isGone: () => false }
