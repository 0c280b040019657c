import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'

/** Another program's connection to the file, for the rest of the test. */
export function connect(path: string): Database.Database {
  const db = new Database(path)
  onTestFinished(() => void db.close())
  return db
}
