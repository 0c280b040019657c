import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Kind } from '@meup/protocol'
import { Crowd } from '../load/crowd.js'
import { spaceName } from '../load/dialects.js'
import { letSay } from '../load/let-say.js'
import type { Options } from '../load/options.js'
import { chosen, type Running, type Seats, type StartOptions } from '../peers/contenders.js'
import { receiverName } from '../peers/space.js'
import { decimals, median, type Section } from '../report/section.js'
import { fill } from '../support/gateways.js'
import { measure, untilIdle } from './measure.js'

const size = 300
const window = 256

/** A quantity that may grow, such as the number of participants, and on which the cost of a message should not depend. */
interface Dimension {
  readonly name: string
  readonly sizes: readonly number[]
  /** Options for starting the gateway with this size. */
  readonly start?: (size: number) => Partial<Seats> & Pick<StartOptions, 'prepare'>
  /** Prepares the gateway before the measurement. */
  readonly before?: (server: Running, size: number) => Promise<void>
  readonly thoughts?: boolean
}

/** Three sizes, from one to a thousand. For the log, each size is a number of hundreds of envelopes. */
const thousandfold = [1, 30, 1000]
/** Maximum grants that one participant gets; more grants go to further participants. */
const maxGranted = 200
const given = { kind: Kind.mcpRequest, to: 'server-1' }

const dimensions: readonly Dimension[] = [
  {
    name: 'envelopes in the log',
    sizes: thousandfold.map((each) => each * 100),
    start: (length) => ({
      prepare: async (folder) => {
        mkdirSync(join(folder, '.meup'), { recursive: true })
        await fill(join(folder, '.meup', 'space.db'), length, spaceName)
      },
    }),
  },
  { name: 'spaces', sizes: thousandfold, start: (spaces) => ({ otherSpaces: spaces - 1 }) },
  {
    name: 'open contexts of the sender',
    sizes: [1, 30, 240],
    thoughts: true,
    before: (server, contexts) =>
      letSay(server, contexts, () => ({ kind: Kind.reasoningStart, payload: { message: 'Looking.' } })),
  },
  { name: 'participants, 20 capabilities each', sizes: thousandfold, start: (receivers) => ({ receivers }) },
  {
    name: 'capabilities of the sender',
    sizes: [1, 30, 230],
    start: (count) => ({ capabilities: Array.from({ length: count }, (_, i) => `lab.tool-${i}`) }),
  },
  {
    name: 'standing grants',
    sizes: thousandfold,
    start: (grants) => ({
      receivers: Math.ceil(grants / maxGranted) + 1,
      capabilities: [Kind.capabilityGrant, Kind.mcpRequest],
    }),
    before: (server, grants) =>
      letSay(server, grants, (i) => ({
        kind: Kind.capabilityGrant,
        payload: { recipient: receiverName(Math.floor(i / maxGranted)), capabilities: [given] },
      })),
  },
]

/** Measures whether the cost of a message depends on size: alternates between gateways of all sizes. */
export async function slopes(options: Options): Promise<Section[]> {
  const figures = []
  for (const dimension of dimensions) {
    const begin = performance.now()
    const found = await measureDimension(dimension, options)
    const seconds = Math.round((performance.now() - begin) / 1000)
    figures.push({ name: dimension.name, found })
    const line = found.map(({ size: each, microseconds }) => `${each}: ${decimals(microseconds, 1)} µs`)
    console.error(`${dimension.name}  ${line.join('  ')}  (${seconds} s)`)
  }
  return [
    {
      id: 'slopes',
      title: 'What does not grow',
      about:
        'Processor time of the gateway for one message to one receiver, in µs, by how much there is of something; sqlite.',
      columns: ['', 'how many', 'µs a message', 'last / first'],
      rows: figures.map(({ name, found }) => [
        name,
        found.map((each) => each.size).join(' · '),
        found.map(({ microseconds }) => decimals(microseconds, 1)).join(' · '),
        decimals((found.at(-1)?.microseconds ?? Number.NaN) / (found[0]?.microseconds ?? Number.NaN)),
      ]),
      figures,
    },
  ]
}

async function measureDimension({ sizes, start, before, thoughts = false }: Dimension, options: Options) {
  const [contender] = chosen(options.only ?? ['sqlite'])
  if (contender === undefined) throw new Error('nobody is to be measured')
  const crowds: { size: number; crowd: Crowd; found: number[] }[] = []
  try {
    for (const many of sizes) {
      const { prepare, ...seats } = start?.(many) ?? {}
      const senderKind = thoughts ? 'agent' : 'human'
      const server = await contender.start(
        { senders: 1, receivers: 1, senderKind, ...seats },
        { ...(prepare && { prepare }) },
      )
      try {
        await before?.(server, many)
        const { verify } = options
        const crowd = await Crowd.gather(server, { senders: 1, receivers: 1, size, thoughts, verify })
        crowds.push({ size: many, crowd, found: [] })
      } catch (error) {
        await server.stop()
        throw error
      }
    }
    for (let round = 0; round < options.rounds; round++) {
      for (const { crowd, found } of crowds) {
        await untilIdle(crowd.server)
        const { cpuPerMessage } = await measure(crowd, window, options.ms, options.warmMs)
        found.push(cpuPerMessage)
      }
    }
  } finally {
    for (const { crowd } of crowds) {
      await crowd.close()
      await crowd.server.stop()
    }
  }
  return crowds.map(({ size: many, found }) => ({ size: many, microseconds: median(found) }))
}
