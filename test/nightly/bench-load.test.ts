import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { Crowd } from '../../bench/load/crowd.js'
import { pace } from '../../bench/load/pace.js'
import { until } from '../../bench/load/waiting.js'
import { chosen } from '../../bench/peers/contenders.js'

const hasNats = spawnSync('nats-server', ['--version']).status === 0
const everybody = chosen().filter(({ key }) => key !== 'd' || hasNats)

/** `drain` fails unless every receiver has read all messages, in order. */
test.for(everybody)('$name gives everybody everything, in order', { timeout: 120_000 }, async (contender) => {
  const shape = { receivers: 3, senders: 2, size: 300, verify: true }
  const server = await contender.start(shape)
  try {
    const crowd = await Crowd.gather(server, shape)
    for (const window of [256, 1]) {
      const before = crowd.echoed
      crowd.keep(window)
      await crowd.within(until(() => crowd.echoed > before + 500))
      await crowd.drain()
    }
    const [first] = crowd.senders
    if (first !== undefined) await pace(first, { perSecond: 1000, ms: 50 })
    await crowd.drain()
    const sent = crowd.senders.reduce((sum, sender) => sum + sender.sent - 1, 0)
    expect(sent).toBeGreaterThan(1050)
    expect(crowd.receivers.map(({ reader }) => reader.frames)).toEqual([sent, sent, sent])
    expect(crowd.senders.map(({ underway }) => underway)).toEqual([0, 0])
    await crowd.close()
  } finally {
    await server.stop()
  }
})

test('with nobody to hear, senders get their acknowledgements', { timeout: 120_000 }, async () => {
  const [contender] = chosen(['sqlite'])
  const server = await contender?.start({ receivers: 0, senders: 1, senderKind: 'agent' })
  if (server === undefined) throw new Error('there is no gateway')
  try {
    const crowd = await Crowd.gather(server, { receivers: 0, senders: 1, size: 300, thoughts: true })
    crowd.keep(16)
    await crowd.within(until(() => crowd.echoed > 100))
    await crowd.drain()
    await crowd.close()
    expect(crowd.echoed).toBe(crowd.senders[0]?.sent)
  } finally {
    await server.stop()
  }
})
