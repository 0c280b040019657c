export { sqliteStore } from './storage/sqlite/store.js'
