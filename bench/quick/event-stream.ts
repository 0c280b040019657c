import { connect } from 'node:net'
import { measure } from '../cases/measure.js'
import { Crowd } from '../load/crowd.js'
import { spaceName } from '../load/dialects.js'
import { until } from '../load/waiting.js'
import { chosen, type Running } from '../peers/contenders.js'
import { receiverName } from '../peers/space.js'
import { Cleanup } from '../support/cleanup.js'
import type { QuickOptions } from './figures.js'

const readers = 10
const window = 256
const load = { senders: 1, size: 300, texts: 'prose' } as const

/**
 * Returns for each round the server's processor time per message with 10 sockets of (e), the bare pipeline of `ws-full.ts`,
 * divided by that of the gateway with 10 event streams.
 */
export async function eventStream({ rounds, ms, warmMs, verify }: QuickOptions): Promise<number[]> {
  const [bare, gateway] = chosen(['e', 'sqlite'])
  if (bare === undefined || gateway === undefined) throw new Error('both contenders are needed')
  const seats = { receivers: readers, senders: load.senders }
  await using cleanup = new Cleanup()
  const startOf = async (contender: typeof bare): Promise<Running> => {
    const server = await contender.start(seats)
    cleanup.defer(() => server.stop())
    return server
  }
  const sockets = await Crowd.gather(await startOf(bare), { ...load, receivers: readers, verify })
  cleanup.defer(() => sockets.close())
  const server = await startOf(gateway)
  const sender = await Crowd.gather(server, { ...load, receivers: 0 })
  cleanup.defer(() => sender.close())
  const streams = Array.from({ length: readers }, (_, i) => openStream(server, receiverName(i)))
  cleanup.defer(() => {
    for (const { close } of streams) close()
  })
  await sender.within(until(() => streams.every(({ isOpen }) => isOpen())))
  const ratios: number[] = []
  const begin = sender.echoed
  for (let round = 0; round < rounds; round++) {
    const { cpuPerMessage: ofSockets } = await measure(sockets, window, ms, warmMs)
    const { cpuPerMessage: ofStreams } = await measure(sender, window, ms, warmMs)
    const sent = sender.echoed - begin
    await sender.within(until(() => streams.every(({ events }) => events() === sent)))
    ratios.push(ofSockets / ofStreams)
  }
  return ratios
}

const mark = 'event: envelope\n'

/** Opens an event stream that counts its envelopes. */
function openStream({ port, tokenOf }: Running, participant: string) {
  let [events, isOpen] = [0, false]
  let held = Buffer.alloc(0)
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `GET /spaces/${spaceName}/events HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${tokenOf(participant)}\r\n\r\n`,
  )
  socket.on('data', (chunk) => {
    isOpen ||= chunk.includes('HTTP/1.1 200')
    const bytes = Buffer.concat([held, chunk])
    let end = 0
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, end)) {
      events++
      end = at + mark.length
    }
    held = bytes.subarray(Math.max(end, bytes.length - mark.length + 1))
  })
  return { events: () => events, isOpen: () => isOpen, close: () => socket.destroy() }
}
