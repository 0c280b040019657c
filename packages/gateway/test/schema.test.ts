import { readFileSync } from 'node:fs'
import { sqliteStore } from '@meup/gateway'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { temporaryFile } from './support.js'

const format = 8

/** Writes a log file with one space and one envelope, and closes it. */
async function logFile(): Promise<string> {
  const path = temporaryFile('log.db')
  const store = await sqliteStore({ path })
  const body = Buffer.from('"id":"e1"}')
  const fields = { id: 'e1', ts: '2026-05-04T03:02:01.000Z', from: 'ada', kind: 'chat' }
  await (await store.open('main')).append([{ seq: 1, ...fields, body, content: body }])
  await store.close()
  return path
}

const versionOf = (path: string): unknown => {
  const db = new Database(path, { readonly: true })
  const version = db.pragma('user_version', { simple: true })
  db.close()
  return version
}

const change = (path: string, sql: string): void => void new Database(path).exec(sql).close()

describe('a log file', () => {
  test('has one format, and the tables of a log alone', async () => {
    const path = await logFile()
    expect(versionOf(path)).toBe(format)
    const db = new Database(path, { readonly: true })
    const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    expect(tables.pluck().all()).toEqual(['checkpoints', 'envelopes', 'pruned', 'spaces'])
    db.close()
  })

  test('is not changed by being opened', async () => {
    const path = await logFile()
    const bytes = readFileSync(path)
    await (await sqliteStore({ path })).close()
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  test.for([1, format - 1, format + 1, 99])(
    'of format %i is refused, and stays what it is',
    async (other) => {
      const path = await logFile()
      change(path, `PRAGMA user_version = ${other}`)
      const bytes = readFileSync(path)
      await expect(sqliteStore({ path })).rejects.toMatchObject({
        name: 'LogError',
        code: 'format',
        details: { path, format: other, known: format },
      })
      expect(readFileSync(path).equals(bytes)).toBe(true)
    },
  )

  test('that is a database of another program is refused', async () => {
    const path = temporaryFile('other.db')
    change(path, 'CREATE TABLE notes (note TEXT)')
    await expect(sqliteStore({ path })).rejects.toMatchObject({
      code: 'corrupt',
      details: { path },
    })
  })
})
