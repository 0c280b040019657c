import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { sqliteStore } from '@meup/gateway'
import { createTestDraft, FakeClock } from '@meup/gateway/testing'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { range } from './client.js'
import {
  building,
  built,
  copied,
  everythingOfTurns,
  type Fields,
  fieldsOf,
  gatewayOn,
  indexPathOf,
  inMemory,
  logged,
  randomFields,
  rowsOf,
  withoutNames,
} from './indexed.js'
import { story } from './reasoning-story.js'
import { temporaryFile } from './support.js'
import { chat, twoCalls } from './turns.js'

/** These tests expect equal indexes of the same log, however and in however many steps each index was built [MEUP-10.5]. */

const length = 300
const stories: Record<string, readonly Fields[]> = {
  'the story of all ends': fieldsOf(story),
  'turns one after another': fieldsOf(range(1, 30).flatMap((n) => twoCalls(`t${n}`))),
  'nothing that is a turn': fieldsOf(range(1, 40).map((n) => ['ana', chat(`c${n}`, 'hm')])),
}
const logs: readonly (readonly [string, readonly Fields[]])[] = [
  ...range(1, times(2, 200)).map((seed) => [`random log ${seed}`, randomFields(seed, length)] as const),
  ...Object.entries(stories),
]

const dicing = (seed: number) => {
  let state = seed
  return (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** Builds the index of the log at `path` in portions of random size, and reopens it in between. */
async function builtInParts(path: string, seed: number): Promise<void> {
  const dice = dicing(seed)
  const store = await sqliteStore({ path })
  const log = await store.open('test')
  let seq = 0
  while (seq < log.head) {
    const { through, end } = building(log, indexPathOf(path), 1 + dice(20))
    for (let goes = 1 + dice(4); goes > 0 && seq < log.head; goes--) {
      seq = Math.min(log.head, seq + 1 + dice(40))
      await through(seq)
    }
    end(dice(2) === 0 ? 'saved' : 'lost')
  }
  await store.close()
}

/** A log and its index as files, with the rows of the index and all output about turns. */
async function makeSound() {
  const path = await logged(randomFields(11, times(100, length)))
  await built(path)
  const files = { log: readFileSync(path), index: readFileSync(indexPathOf(path)) }
  return {
    ...files,
    rows: rowsOf(indexPathOf(path)),
    received: await everythingOfTurns(await gatewayOn(path)),
  }
}

describe('an index', () => {
  test.for(logs)('of %s is equal, built at once or in parts with restarts', async ([, log]) => {
    const path = await logged(log)
    await built(path)
    const rows = rowsOf(indexPathOf(path))
    const received = await everythingOfTurns(await gatewayOn(copied(path)))
    for (const seed of range(1, times(1, 3))) {
      const other = copied(path)
      await builtInParts(other, seed)
      expect(rowsOf(indexPathOf(other))).toEqual(rows)
      expect(await everythingOfTurns(await gatewayOn(other))).toEqual(received)
    }
  })

  const damages: Record<string, (index: string) => void> = {
    deleted: (index) => rmSync(index),
    'cut to half': (index) => truncateSync(index, Math.floor(readFileSync(index).length / 2)),
    'cut to nothing': (index) => truncateSync(index, 0),
    garbage: (index) => writeFileSync(index, 'this is no database '.repeat(1000)),
    'a foreign database': (index) => {
      rmSync(index)
      new Database(index).exec('CREATE TABLE turns (name TEXT); INSERT INTO turns VALUES (1)').close()
    },
    'a foreign database that claims to be one': (index) => {
      rmSync(index)
      new Database(index).exec('CREATE TABLE turns (name TEXT); PRAGMA user_version = 1').close()
    },
    'of another format': (index) => new Database(index).exec('PRAGMA user_version = 1000').close(),
    'of another log': (index) => new Database(index).exec("UPDATE spaces SET epoch = 'another'").close(),
    'without its memory': (index) => new Database(index).exec("UPDATE memories SET memory = '{'").close(),
    'without a table': (index) => new Database(index).exec('DROP TABLE marks').close(),
    'without the turns': (index) => new Database(index).exec('DELETE FROM turns').close(),
    'damaged inside': (index) => {
      const bytes = readFileSync(index)
      for (let page = 1; page < bytes.length / 4096; page++) bytes.fill(0x55, page * 4096, page * 4096 + 512)
      writeFileSync(index, bytes)
    },
  }
  let sound: ReturnType<typeof makeSound> | undefined
  test.for(Object.keys(damages))('that is %s is built again, equal', async (damage) => {
    sound ??= makeSound()
    const { rows, received, ...files } = await sound
    const other = temporaryFile('log.db')
    writeFileSync(other, files.log)
    writeFileSync(indexPathOf(other), files.index)
    damages[damage]?.(indexPathOf(other))
    const clock = new FakeClock(Date.UTC(2026, 5, 1))
    const stand = await gatewayOn(other, { clock })
    // The first request may get 503, until the index is rebuilt.
    const asked = async (): Promise<number> => {
      clock.advance(1000)
      return (await stand.get('dora', '/audit?limit=1000')).status
    }
    await expect.poll(asked).toBe(200)
    expect(await everythingOfTurns(stand)).toEqual(received)
    await stand.gateway.close()
    const again = rowsOf(indexPathOf(other))
    expect(again.turns).toEqual(rows.turns)
    expect(again.marks?.slice(0, rows.marks?.length)).toEqual(rows.marks)
  })

  test.for(['saved', 'lost'] as const)(
    'of a log that was restored from an older copy and went on differently is built again, when %s',
    async (how) => {
      const first = randomFields(21, 200)
      const path = await logged(first)
      const older = copied(path)
      const add = async (file: string, seed: number): Promise<void> => {
        const store = await sqliteStore({ path: file })
        const log = await store.open('test')
        const more = randomFields(seed, 300).slice(200)
        const [head, ids] = [log.head, `s${seed}`]
        const on = more.map((fields, at) => {
          const id = `${ids}-${at}`
          return createTestDraft(head + at + 1, {
            ...fields,
            id,
            ts: new Date(Date.UTC(2026, 2, 1) + at * 1000).toISOString(),
          })
        })
        await log.append(on)
        await store.close()
      }
      await add(path, 22)
      const indexing = async (file: string, index: string): Promise<void> => {
        const store = await sqliteStore({ path: file })
        const log = await store.open('test')
        const { through, end } = building(log, index)
        await through(log.head)
        end(how)
        await store.close()
      }
      for (const seed of [23, 24]) {
        const restored = copied(older)
        await add(restored, seed)
        const fresh = temporaryFile('index.db')
        await indexing(restored, fresh)
        const stale = indexPathOf(restored)
        await indexing(path, stale)
        await indexing(restored, stale)
        expect(rowsOf(stale)).toEqual(rowsOf(fresh))
      }
      expect(existsSync(indexPathOf(older))).toBe(false)
    },
  )
})

describe('each kind of log', () => {
  const log = randomFields(31, length)

  test('in memory or in SQLite, gives the same', async () => {
    const path = await logged(log)
    await built(path)
    const store = await sqliteStore({ path })
    const { epoch } = await store.open('test')
    await store.close()
    const rows = rowsOf(indexPathOf(path))
    const received = await everythingOfTurns(await gatewayOn(path))
    expect({ rows: withoutNames(rows, epoch), received: withoutNames(received, epoch) }).toEqual(
      await inMemory(log),
    )
  })
})
