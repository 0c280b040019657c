import { type EnvelopeLog, systemClock } from '@meup/gateway'
import { testSpaceConfig } from '@meup/gateway/testing'
import { type LogReader, LogReads, type ReadSpace } from '../src/core/delivery/log-reads.js'
import type { Reader } from '../src/core/may-read.js'
import { Rates } from '../src/core/metering.js'

const config = testSpaceConfig({ participants: {} })

/** Reads a log of no gateway, all of which may be read, with rates out of the way. */
export const readsOf = (log: EnvelopeLog, options: Partial<ReadSpace> = {}): LogReads =>
  new LogReads({
    ...{ log, clock: systemClock, rates: new Rates({ config }) },
    ...{ audienceVersion: '', decideAudience: () => undefined },
    ...options,
  })

/** A reader without a time limit. */
export const patient: Reader & LogReader = {
  ...{ participant: 'ada', readsTargeted: false, readsRefusals: false, rateLimitKey: 'ada' },
  isGone: () => false,
}
