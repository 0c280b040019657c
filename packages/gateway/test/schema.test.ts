import { readFileSync } from 'node:fs'
import { sqliteStore } from '@meup/gateway'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { contentOf, currentVersion, tablesOf, writeVersion } from './old-versions.js'
import { temporaryFile } from './support.js'

const current = { version: currentVersion, tables: tablesOf(currentVersion) }

async function migrated(rows: number) {
  const path = temporaryFile('log.db')
  writeVersion(1, path, rows)
  const before = contentOf(path)
  const store = await sqliteStore({ path })
  return { path, before, store }
}

const draft = (seq: number) => {
  const body = Buffer.from(`"id":"e${seq}"}`)
  return {
    seq,
    id: `e${seq}`,
    ts: '2026-05-04T03:02:01.000Z',
    from: 'ada',
    kind: 'chat',
    body,
    content: body,
  }
}

describe('a file of schema version 1', () => {
  test('is brought to the current one, and not a byte of its data changes', async () => {
    const { path, before, store } = await migrated(500)
    expect(before).toMatchObject({ version: 1, tables: ['envelopes', 'spaces'] })
    await store.close()
    expect(contentOf(path)).toEqual({ ...current, data: before.data })
  })

  test('gives its rows as ever, goes on, and can be pruned', async () => {
    const { store } = await migrated(500)
    const log = await store.open('main')
    expect(log).toMatchObject({ epoch: 'epoch of main', head: 500, oldest: 1, snapshot: undefined })
    const rows = await log.read({ limit: 1000 })
    expect(rows).toHaveLength(500)
    expect(rows[5]).toMatchObject({ seq: 6, to: ['ben'], context: 'run', correlationId: 'e5' })
    expect(rows[6]).not.toHaveProperty('to')
    await log.append([draft(501)])
    await log.prune(300, Buffer.from('state'))
    expect(await log.read({ limit: 1 })).toEqual([rows[300]])
    await expect(log.append([draft(502), draft(500)])).rejects.toMatchObject({ code: 'gap' })
    await store.close()
  })

  test('is migrated once: opening it again changes nothing in it', async () => {
    const { path, store } = await migrated(10)
    await store.close()
    const bytes = readFileSync(path)
    await (await sqliteStore({ path })).close()
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  test('that cannot be migrated stays what it is', async () => {
    const path = temporaryFile('log.db')
    writeVersion(1, path, 10)
    const db = new Database(path)
    db.exec('CREATE TABLE pruned (something TEXT)')
    const before = contentOf(path)
    await expect(sqliteStore({ path })).rejects.toMatchObject({ name: 'LogError', code: 'io' })
    expect(contentOf(path)).toEqual(before)
    db.exec('DROP TABLE pruned')
    db.close()
    const store = await sqliteStore({ path })
    expect((await store.open('main')).head).toBe(10)
    await store.close()
    expect(contentOf(path)).toEqual({ ...current, data: before.data })
  })
})

/** Everything that the schema of a file says, however it is laid out. */
function schemaOf(path: string): unknown[] {
  const db = new Database(path, { readonly: true })
  const parts = db.prepare<[], (string | null)[]>(
    'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2',
  )
  const schema = parts.raw().all()
  db.close()
  return schema.map((part) => part.map((text) => text?.replaceAll(/\s+/g, ' ')))
}

verifies(
  'A23',
  'a file of the version before gets the audit by one migration, which may run twice',
  async () => {
    const path = temporaryFile('log.db')
    writeVersion(2, path, 300)
    const before = contentOf(path)
    expect(before).toMatchObject({ version: 2, tables: tablesOf(2) })
    await (await sqliteStore({ path })).close()
    const after = { ...current, data: before.data }
    expect(contentOf(path)).toEqual(after)
    const schema = schemaOf(path)

    const db = new Database(path)
    db.pragma('user_version = 2')
    db.close()
    await (await sqliteStore({ path })).close()
    expect(contentOf(path)).toEqual(after)
    expect(schemaOf(path)).toEqual(schema)

    const fresh = temporaryFile('log.db')
    await (await sqliteStore({ path: fresh })).close()
    expect(schemaOf(fresh)).toEqual(schema)
  },
)

test('a file of schema version 4 has its turns and steps made again, from the log or the snapshot that stands for it', async () => {
  const path = temporaryFile('log.db')
  writeVersion(4, path, 200)
  const before = contentOf(path)
  expect(before).toMatchObject({ version: 4, tables: tablesOf(4) })
  const db = new Database(path)
  db.exec(`
    INSERT INTO projections VALUES (0, 'epoch of main', 200, '', 0), (1, 'epoch of other', 200, '2026-01-01T00:00:00.000Z', 0);
    INSERT INTO turns VALUES ('t', 'epoch of main', 'main/ada', 1, '', 'running', 'chat', '', '{}');
    INSERT INTO reasoning_steps VALUES ('s', 't', 0, 'plan', '', NULL, NULL, NULL, '');
    INSERT INTO step_places VALUES (0, 'plan', 's', 'main/ada', 7);
    INSERT INTO tool_decisions VALUES ('t', 0, '{}');
    INSERT INTO batch_ends VALUES (0, 7, 0, 't', 'null', '');
    INSERT INTO fold_snapshots VALUES (0, 150, 0, x''), (1, 90, 1, x''), (1, 120, 1, x''), (1, 150, 0, x'');
    INSERT INTO pruned SELECT 1, 100, hash, x'', '' FROM envelopes WHERE space = 1 AND seq = 100;
  `)
  await (await sqliteStore({ path })).close()
  const rows = (sql: string) => db.prepare(sql).raw().all()
  expect(rows('SELECT space, session_id, seq, kept, clearing FROM projections')).toEqual([
    [0, 'epoch of main', 0, '', 0],
    [1, 'epoch of other', 120, '2026-01-01T00:00:00.000Z', 0],
  ])
  expect(rows('SELECT seq FROM fold_snapshots')).toEqual([[90], [120]])
  for (const table of ['turns', 'reasoning_steps', 'step_places', 'tool_decisions', 'batch_ends'])
    expect(rows(`SELECT * FROM ${table}`)).toEqual([])
  db.close()
})

test('a new file has the current schema', async () => {
  const path = temporaryFile('log.db')
  await (await sqliteStore({ path })).close()
  expect(contentOf(path)).toEqual({ ...current, data: { spaces: [], envelopes: [] } })
})
