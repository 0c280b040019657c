import { type EnvelopeLog, systemClock } from '@meup/gateway'
import { testSpaceConfig } from '@meup/gateway/testing'
import { type LogReader, LogReads, type ReadSpace } from '../src/core/delivery/log-reads.js'
import type { Reader } from '../src/core/may-read.js'
import { Rates } from '../src/core/metering.js'

const config = testSpaceConfig({ participants: {} })

/** Reads of a log without a gateway; all envelopes are public, and rates do not limit. */
export const readsOf = (log: EnvelopeLog, options: Partial<ReadSpace> = {}): LogReads =>
  new LogReads({
    ...{ log, clock: systemClock, rates: new Rates({ config }) },
    ...{ audienceVersion: '', decideAudience: () => undefined },
    ...options,
  })

/** A reader that never disconnects. */
export const patient: Reader & LogReader = {
  ...{ participant: 'ada', readsTargeted: false, readsRefusals: false, rateLimitKey: 'ada' },
  isGone: () => false,
}
