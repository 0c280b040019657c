import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import type { Options } from '../load/options.js'
import { count, median, type Section } from '../report/section.js'
import { conversation } from '../support/conversation.js'

const batches = [1, 10, 100]
const agents = 50
const stores: readonly (readonly [string, (folder: string) => Promise<LogStore>])[] = [
  ['memory', async () => memoryStore()],
  ['sqlite, process', (folder) => sqliteStore({ path: join(folder, 'process.db') })],
  ['sqlite, power', (folder) => sqliteStore({ path: join(folder, 'power.db'), durability: 'power' })],
]

/** Measures appends per second to the log alone, with hashes and chain, one batch after the other. */
export async function append({ rounds, ms }: Options): Promise<Section[]> {
  const folder = mkdtempSync(join(tmpdir(), 'meup-bench-'))
  const figures: { store: string; batch: number; perSecond: number }[] = []
  try {
    for (const [store, open] of stores) {
      const opened = await open(folder)
      for (const batch of batches) {
        const log = await opened.open(`of-${batch}`)
        const found: number[] = []
        let seq = 1
        for (let round = 0; round < rounds; round++) {
          const drafts = Array.from({ length: 4000 / batch }, (_, i) =>
            conversation(seq + i * batch, batch, { agents }),
          )
          const begin = performance.now()
          let done = 0
          for (; done < drafts.length && performance.now() - begin < ms; done++)
            await log.append(drafts[done] ?? [])
          found.push((done * batch * 1000) / (performance.now() - begin))
          seq += done * batch
        }
        figures.push({ store, batch, perSecond: median(found) })
      }
      await opened.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const rateOf = (store: string, batch: number): number =>
    figures.find((each) => each.store === store && each.batch === batch)?.perSecond ?? Number.NaN
  return [
    {
      id: 'append',
      title: 'Append by durability',
      about: 'Envelopes of about 300 B that a log takes a second, by how many there are in a batch.',
      columns: ['', ...batches.map((batch) => `${batch} in a batch`)],
      rows: stores.map(([store]) => [store, ...batches.map((batch) => count(rateOf(store, batch)))]),
      figures,
    },
  ]
}
