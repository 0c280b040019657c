import { createHash } from 'node:crypto'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { Kind, ProtocolError } from '@meup/protocol'
import type { Nats } from '../../test/support/nats.js'
import { spaceName } from '../load/dialects.js'
import { freshName } from '../load/template.js'
import { pause, until } from '../load/waiting.js'
import type { Running } from '../peers/contenders.js'
import { senderName } from '../peers/space.js'
import { withTwoGateways } from './jetstream-gateways.js'

const everyMs = 10
const againMs = 50
/** Milliseconds of load before the fault, and after the first acknowledgement that comes after the fault. */
const steadyMs = 1000

/** Faults, with descriptions for the report. */
export const faults = {
  leader: 'the leading NATS server is killed',
  killed: 'the gateway that sequences is killed',
  stopped: 'the gateway that sequences is stopped (SIGSTOP)',
} as const

export type Fault = keyof typeof faults

export interface Outage {
  readonly fault: Fault
  /** The longest time between two acknowledgements, for each round. */
  readonly seconds: readonly number[]
}

/** Measures the outage for a sender that is connected to the following gateway while a fault happens. */
export async function outagesOf(nats: Nats, fault: Fault, rounds: number): Promise<Outage> {
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    seconds.push(
      await withTwoGateways(nats, { senders: 1, receivers: 1 }, async (sequencing, following) => {
        const token = following.tokenOf(senderName(0))
        const url = `http://127.0.0.1:${following.port}`
        const space = await SpaceClient.open(dialWs, { url, space: spaceName, token })
        try {
          return await outage(space, await breaking(nats, fault, sequencing))
        } finally {
          space.close()
        }
      }),
    )
    console.error(`  ${faults[fault]}: ${seconds.at(-1)?.toFixed(2)} s`)
  }
  return { fault, seconds }
}

/** Causes a fault, and repairs it. */
interface Breaking {
  begin(): Promise<void>
  end(): Promise<void>
}

async function breaking(nats: Nats, fault: Fault, { pid }: Running): Promise<Breaking> {
  const signal = async (name: NodeJS.Signals): Promise<void> => void process.kill(pid, name)
  if (fault === 'killed') return { begin: () => signal('SIGKILL'), end: async () => {} }
  if (fault === 'stopped') return { begin: () => signal('SIGSTOP'), end: () => signal('SIGCONT') }
  const leader = await nats.leaderOf(stream)
  return {
    begin: () => leader.end('SIGKILL'),
    async end() {
      await leader.start()
      await nats.leaderOf(stream)
    },
  }
}

/** The JetStream stream that has the log of the space: one of eight, chosen by a hash of the name of the space. */
const stream = `MEUP_${createHash('sha256').update(spaceName).digest().readUInt8() % 8}`

async function outage(space: SpaceClient, broken: Breaking): Promise<number> {
  const acknowledged: number[] = []
  const name = freshName()
  let [sent, isOver, lastSent] = [0, false, 0]
  const deliver = async (): Promise<void> => {
    const begun = performance.now()
    const envelope = { id: `${name}-${sent++}`, kind: Kind.chat, payload: { message: 'still there' } }
    for (;;) {
      try {
        await space.send(envelope)
        acknowledged.push(performance.now())
        lastSent = Math.max(lastSent, begun)
        return
      } catch (error) {
        if (!(error instanceof ProtocolError) || error.code !== 'unavailable') throw error
        await pause(againMs)
      }
    }
  }
  const load = async (): Promise<void> => {
    const all: Promise<void>[] = []
    while (!isOver) {
      all.push(deliver())
      await pause(everyMs)
    }
    await Promise.all(all)
  }
  const loaded = load()
  const work = async (): Promise<void> => {
    await pause(steadyMs)
    const at = performance.now()
    await broken.begin()
    await until(() => lastSent > at, 'something sent after the fault is acknowledged')
    await pause(steadyMs)
    await broken.end()
    isOver = true
    await loaded
  }
  // If a sender fails, the measurement fails at once instead of waiting for `work`.
  await Promise.race([work(), loaded.then(() => new Promise<never>(() => {}))])
  const gaps = acknowledged.map((at, i) => at - (acknowledged[i - 1] ?? at))
  return Math.max(...gaps) / 1000
}
