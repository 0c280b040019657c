import { expect, test } from 'vitest'
import { openForWriting } from '../src/storage/sqlite/files.js'
import { temporaryFile } from './support.js'

test.for(['process', 'power'] as const)('durability %s: what a commit waits for', (durability) => {
  const db = openForWriting(temporaryFile('log.db'), durability, { create: true })
  const [synchronous, fullfsync] = ['synchronous', 'fullfsync'].map((name) =>
    db.pragma(name, { simple: true }),
  )
  db.close()
  // synchronous: 1 = NORMAL, 2 = FULL. With fullfsync, macOS also flushes the cache of the disk.
  expect([synchronous, fullfsync]).toEqual(durability === 'power' ? [2, 1] : [1, 0])
})
