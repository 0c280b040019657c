import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { untilIdle } from '../cases/measure.js'
import { Crowd } from '../load/crowd.js'
import { spaceName } from '../load/dialects.js'
import { until } from '../load/waiting.js'
import { chosen, startGateway, temporaryFolder } from '../peers/contenders.js'
import { collectable, memoryOf } from '../peers/heap.js'
import { type ServerProcess, startServer } from '../peers/process.js'
import { writeSpace } from '../peers/space.js'
import { Cleanup } from '../support/cleanup.js'
import { caughtUp, fill, startOn } from '../support/gateways.js'
import { ask, questions } from '../support/questions.js'
import type { QuickOptions } from './figures.js'

const loggedIn = ({ smoke }: QuickOptions): number => (smoke ? 500 : 10_000)
const sqlite = { kind: 'sqlite', durability: 'process' } as const

const startBare = (): Promise<ServerProcess> =>
  startServer({
    command: process.execPath,
    args: [fileURLToPath(new URL('../peers/http.mjs', import.meta.url))],
    portOf: (line) => (JSON.parse(line) as { port: number }).port,
  })

const asked = [
  'the latest 20 turns of a thread',
  'the latest 100 steps of the audit',
  '100 envelopes from the middle',
]
/** Number of requests for each question in a round. */
const repeatsIn = ({ smoke }: QuickOptions): number => (smoke ? 2 : 50)

/** Compares the gateway's processor time for a response with that of a trivial server for a response of the same size. */
export async function reading(options: QuickOptions): Promise<number[]> {
  const [logged, repeats] = [loggedIn(options), repeatsIn(options)]
  const { folder, remove } = temporaryFolder()
  await using cleanup = new Cleanup()
  cleanup.defer(remove)
  const path = join(folder, 'space.db')
  await fill(path, logged)
  const gateway = await startOn(path)
  cleanup.defer(() => gateway.close())
  await caughtUp(gateway)
  const bare = await startBare()
  cleanup.defer(() => bare.stop())
  const ratios: number[] = []
  // The first round warms up and is not counted.
  for (let round = -1; round < options.rounds; round++) {
    const lengths: number[] = []
    const ofGateway = await cpuOf(gateway, async () => {
      for (let i = 0; i < repeats; i++) {
        for (const each of asked) {
          const path = questions[each]?.(i, logged / 10) ?? ''
          lengths.push((await ask(gateway, path)).length)
        }
      }
    })
    const ofBare = await cpuOf(bare, async () => {
      for (const length of lengths) await (await fetch(`http://127.0.0.1:${bare.port}/${length}`)).text()
    })
    if (round >= 0) ratios.push(ofBare / ofGateway)
  }
  return ratios
}

async function cpuOf({ cpu }: Pick<ServerProcess, 'cpu'>, work: () => Promise<void>): Promise<number> {
  const begin = cpu()
  await work()
  return cpu() - begin
}

/** Measures the time from the start of a process until it listens. */
export async function start(options: QuickOptions): Promise<number[]> {
  const { folder, remove } = temporaryFolder()
  await using cleanup = new Cleanup()
  cleanup.defer(remove)
  writeSpace(folder, { storage: sqlite, senders: 1, receivers: 50 })
  const path = join(folder, '.meup/space.db')
  mkdirSync(dirname(path), { recursive: true })
  await fill(path, loggedIn(options), spaceName)
  const ratios: number[] = []
  // The first round fills the caches of the disk, indexes the log, and is not counted.
  for (let round = -1; round < options.rounds; round++) {
    const ratio = (await timeOf(startBare)) / (await timeOf(() => startGateway(folder)))
    if (round >= 0) ratios.push(ratio)
  }
  return ratios
}

async function timeOf(start: () => Promise<ServerProcess>): Promise<number> {
  const begin = performance.now()
  const server = await start()
  const took = performance.now() - begin
  await server.stop()
  return took
}

const window = 256

/** Divides the bytes of envelopes by the growth of the gateway's memory after logging them. */
export async function logInMemory({ rounds, smoke }: QuickOptions): Promise<number[]> {
  const sentPerRound = smoke ? 2000 : 20_000
  const shape = { receivers: 0, senders: 1, size: 300, texts: 'prose' } as const
  const [contender] = chosen(['memory'])
  const server = await contender?.start(shape, { nodeArgs: collectable })
  if (server === undefined) throw new Error('there is no gateway with a log in memory')
  await using cleanup = new Cleanup()
  cleanup.defer(() => server.stop())
  const crowd = await Crowd.gather(server, shape)
  cleanup.defer(() => crowd.close())
  const [sender] = crowd.senders
  if (sender === undefined) throw new Error('nobody sends')
  const ratios: number[] = []
  let held = (await memoryOf(server)).used
  for (let round = -1; round < rounds; round++) {
    const [begin, bytes] = [crowd.echoed, sender.line.reader.bytes]
    crowd.keep(window)
    await crowd.within(until(() => crowd.echoed >= begin + sentPerRound))
    await crowd.drain()
    if (!smoke) await untilIdle(server)
    const { used } = await memoryOf(server)
    if (round >= 0) ratios.push((sender.line.reader.bytes - bytes) / (used - held))
    held = used
  }
  return ratios
}
