export { loadSqlite } from './log/sqlite-driver.js'
export { sqliteStore } from './storage/sqlite/store.js'
