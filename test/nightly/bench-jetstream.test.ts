import { expect, onTestFinished, test } from 'vitest'
import { deliveredAlike } from '../../bench/cases/jetstream-delivery.js'
import { outagesOf } from '../../bench/cases/jetstream-outages.js'
import { readCommandLine } from '../../bench/load/options.js'
import { natsServer, startNats } from '../support/nats.js'
import { needing } from '../verifies.js'

const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)
/** Timeout in milliseconds. Each test starts several servers, on a machine that may be busy. */
const patience = 240_000

test(
  'two gateways: what each receiver gets is timed and the same, whichever of them it is sent to',
  withNats(async () => {
    const nats = await startNats()
    onTestFinished(() => nats.stop())
    const { options } = readCommandLine(['--receivers', '2', '--ms', '50', '--warm', '50', '--rounds', '1'])
    for (const sentTo of ['sequencing', 'following'] as const) {
      const { servers, at } = await deliveredAlike(nats, sentTo, options)
      expect(servers).toBe(1)
      for (const { p50, p99, p999 } of [at.sequencing, at.following]) {
        expect(p50).toBeGreaterThan(0)
        expect([p50, p99, p999]).toEqual([p50, p99, p999].toSorted((one, other) => one - other))
      }
    }
  }),
  patience,
)

test(
  'a sender goes on behind each fault, and the time without acknowledgements is told',
  withNats(async () => {
    const nats = await startNats({ nodes: 3 })
    onTestFinished(() => nats.stop())
    for (const fault of ['killed', 'stopped', 'leader'] as const) {
      const { seconds } = await outagesOf(nats, fault, 1)
      expect(seconds).toEqual([expect.any(Number)])
      expect(seconds[0]).toBeGreaterThan(0)
    }
  }),
  patience,
)
