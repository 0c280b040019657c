export { sqliteStore } from './adapters/sqlite/store.js'
