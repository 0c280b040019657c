import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'

const schemaOf = (version: number): string =>
  readFileSync(new URL(`./fixtures/schema-${version}.sql`, import.meta.url), 'utf8')

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()

/** Makes a file as a released gateway wrote it, with the spaces `main` and `other` and so many rows in each. */
export function writeVersion(version: 1 | 2 | 4, path: string, rows: number): void {
  const db = new Database(path)
  db.exec(schemaOf(version))
  db.pragma('journal_mode = WAL')
  const insertSpace = db.prepare('INSERT INTO spaces (id, name, epoch) VALUES (?, ?, ?)')
  const insert = db.prepare(`INSERT INTO envelopes VALUES (${Array(14).fill('?').join(', ')})`)
  db.transaction(() => {
    for (const [space, name] of ['main', 'other'].entries()) {
      insertSpace.run(space, name, `epoch of ${name}`)
      let hash = sha256(Buffer.from(`epoch of ${name}`))
      for (let seq = 1; seq <= rows; seq++) {
        const body = Buffer.from(`"id":"e${seq}","kind":"chat","payload":{"message":"${name} ${seq}"}}`)
        const salt = randomBytes(16)
        const leaf = sha256(salt, body)
        const place = Buffer.alloc(8)
        place.writeBigUInt64BE(BigInt(seq))
        hash = sha256(hash, place, leaf)
        const answers = seq % 3 === 0 ? JSON.stringify(`e${seq - 1}`) : null
        const [to, context] = seq % 2 === 0 ? ['["ben"]', 'run'] : [null, null]
        const fields = [
          space,
          seq,
          `e${seq}`,
          '2026-01-02T03:04:05.678Z',
          'ada',
          'chat',
          to,
          context,
          answers,
        ]
        insert.run(...fields, body, salt, leaf, hash, sha256(salt, body))
      }
    }
  })()
  db.close()
}

/** The version that a gateway of today brings a file to. */
export const currentVersion = 6

/** The tables that the schema of a version has. */
export function tablesOf(version: number): string[] {
  const log = ['envelopes', 'spaces']
  const projection = [
    ...['batch_ends', 'fold_snapshot_parts', 'fold_snapshots', 'projections'],
    ...['reasoning_steps', 'step_places', 'tool_decisions', 'turns'],
  ]
  return [
    ...log,
    ...(version > 1 ? ['pruned'] : []),
    ...(version > 2 ? projection : []),
    ...(version > 4 ? ['projection_heads'] : []),
    ...(version > 5 ? ['checkpoints'] : []),
  ].sort()
}

/** Everything that a file holds of its spaces and their envelopes, and the version of its schema. */
export function contentOf(path: string) {
  const db = new Database(path, { readonly: true })
  const all = (table: string) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).raw().all()
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
  const content = {
    version: db.pragma('user_version', { simple: true }),
    tables: tables.pluck().all(),
    data: { spaces: all('spaces'), envelopes: all('envelopes') },
  }
  db.close()
  return content
}
