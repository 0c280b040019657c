import type Database from 'better-sqlite3'

type Cell = string | number | null
type Row = Record<string, Cell>

export const projectionTables = [
  ...['turns', 'tool_decisions', 'reasoning_steps', 'step_places'],
  ...['batch_ends', 'projection_heads', 'projections'],
] as const

/** Numbers from 0 to below 1 that look random, the same for the same seed. */
export function diceOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Lets this connection do what the triggers and the foreign keys refuse, as a damaged disk does. */
export function disarm(db: Database.Database): void {
  db.pragma('foreign_keys = OFF')
  const names = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all()
  for (const name of names) db.exec(`DROP TRIGGER ${name}`)
}

/** The columns of a table, those of its key first. */
export function columnsOf(db: Database.Database, table: string): string[] {
  const all = db
    .prepare<[string], { name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?)')
    .all(table)
  return all.sort((one, other) => (other.pk > 0 ? 1 : 0) - (one.pk > 0 ? 1 : 0)).map(({ name }) => name)
}

const keyOf = (db: Database.Database, table: string): string[] =>
  db.prepare<[string], string>('SELECT name FROM pragma_table_info(?) WHERE pk > 0').pluck().all(table)

const where = (key: readonly string[]): string => key.map((name) => `"${name}" = @${name}`).join(' AND ')

const rowsOf = (db: Database.Database, table: string): Row[] =>
  db.prepare<[], Row>(`SELECT * FROM ${table} ORDER BY ${keyOf(db, table).join(', ')}`).all()

/** Deletes one row, whichever. */
export function deleteOne(db: Database.Database, table: string, dice: () => number): void {
  const rows = rowsOf(db, table)
  const row = rows[Math.floor(dice() * rows.length)]
  db.prepare(`DELETE FROM ${table} WHERE ${where(keyOf(db, table))}`).run(row)
}

/** Adds a row that says what another one says, under another key. Whether the table would have it. */
export function addOne(db: Database.Database, table: string, dice: () => number): boolean {
  const rows = rowsOf(db, table)
  const row = rows[Math.floor(dice() * rows.length)] as Row
  const changed = keyOf(db, table).at(-1) ?? ''
  const added = {
    ...row,
    [changed]: other(
      row[changed] ?? null,
      rows.map((each) => each[changed] ?? null),
      dice,
    ),
  }
  const names = Object.keys(row)
  const sql = `INSERT INTO ${table} (${names.map((name) => `"${name}"`)}) VALUES (${names.map((name) => `@${name}`)})`
  return isDone(() => db.prepare(sql).run(added))
}

/** Gives one row another value in this column, of the same type, and JSON where it was. Whether the table would have it. */
export function changeOne(db: Database.Database, table: string, column: string, dice: () => number): boolean {
  const rows = rowsOf(db, table)
  const row = rows[Math.floor(dice() * rows.length)] as Row
  const before = row[column] ?? null
  const value = other(
    before,
    rows.map((each) => each[column] ?? null),
    dice,
  )
  if (value === before) return false
  const sql = `UPDATE ${table} SET "${column}" = @value WHERE ${where(keyOf(db, table))}`
  return isDone(() => db.prepare(sql).run({ ...row, value }))
}

function isDone(task: () => unknown): boolean {
  try {
    task()
    return true
  } catch (error) {
    if (String(error).includes('constraint failed')) return false
    throw error
  }
}

function other(value: Cell, all: readonly Cell[], dice: () => number): Cell {
  const others = all.filter((each) => each !== value && typeof each === typeof value)
  if (others.length > 0 && dice() < 0.4) return others[Math.floor(dice() * others.length)] as Cell
  if (value === null) return all.find((each) => each !== null) ?? null
  if (typeof value === 'number') return value + (dice() < 0.5 ? 1 : -1)
  return isJson(value) ? otherJson(value, dice) : otherText(value, dice)
}

function otherText(text: string, dice: () => number): string {
  const at = Math.floor(dice() * text.length)
  const letter = 'ABCDEFGHJKMNPQRSTVWXYZ'.charAt(Math.floor(dice() * 22))
  return text.slice(0, at) + letter + text.slice(at + 1)
}

/** Other JSON: one letter or digit of it is another one, in a name or a text or a number. */
function otherJson(json: string, dice: () => number): string {
  if (json.includes('"to":') && dice() < 0.3) return json.replaceAll('"to":', '"tP":')
  for (let tries = 0; tries < 100; tries++) {
    const changed = otherText(json, dice)
    if (changed !== json && isJson(changed)) return changed
  }
  return json === 'null' ? '{}' : 'null'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
