import type { Options } from '../load/options.js'
import { openSeats } from '../load/seats.js'
import { type Contender, chosen } from '../peers/contenders.js'
import { collectable, type Memory, memoryOf } from '../peers/heap.js'
import { receiverName } from '../peers/space.js'
import { decimals, median, type Section } from '../report/section.js'

const participants = 50
const usualCount = 2000

/** Measures the memory per idle connection. */
export async function idle(options: Options): Promise<Section[]> {
  const count = options.receivers?.[0] ?? usualCount
  const found = chosen(options.only ?? ['a', 'c', 'sqlite']).map((contender) => ({
    contender,
    memories: [] as Memory[],
  }))
  for (let round = 0; round < options.rounds; round++) {
    for (const { contender, memories } of found) memories.push(await measure(contender, count))
  }
  const figures = found.map(({ contender: { key, name }, memories }) => ({
    ...{ key, name },
    resident: median(memories.map(({ resident }) => resident)),
    used: median(memories.map(({ used }) => used)),
  }))
  const unit = figures.find(({ key }) => key === 'a')
  const kilobytes = (bytes: number): string => decimals(bytes / 1024, 1)
  return [
    {
      id: 'idle',
      title: 'Idle connections',
      about: `KB of memory for each of ${count} connections above the started server, its garbage collected.`,
      columns: ['', 'resident', 'above (a)', 'on the heap and in buffers', 'above (a)'],
      rows: figures.map(({ key, name, resident, used }) => [
        key.length === 1 ? `(${key}) ${name}` : name,
        ...[kilobytes(resident), unit === undefined ? '' : kilobytes(resident - unit.resident)],
        ...[kilobytes(used), unit === undefined ? '' : kilobytes(used - unit.used)],
      ]),
      figures,
    },
  ]
}

async function measure(contender: Contender, count: number): Promise<Memory> {
  const server = await contender.start({ senders: 0, receivers: participants }, { nodeArgs: collectable })
  try {
    const before = await memoryOf(server)
    const names = Array.from({ length: count }, (_, i) => receiverName(i % participants))
    const lines = await openSeats(server, names)
    const after = await memoryOf(server)
    await Promise.all(lines.map((line) => line.close()))
    return {
      used: (after.used - before.used) / count,
      resident: (after.resident - before.resident) / count,
    }
  } finally {
    await server.stop()
  }
}
