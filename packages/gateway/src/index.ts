export { pipeline } from './core/admission/index.js'
export type { ParticipantConfig, SpaceConfig } from './core/config.js'
export type { Verification } from './core/delivery/verify-log.js'
export type { Refusal } from './core/refusal.js'
export type { Kick } from './core/state/trust/trust.js'
export {
  combineAuthenticators,
  type TokenAuthenticator,
  tokenAuthenticator,
} from './host/auth/token-authenticator.js'
export type { Resume } from './host/connection-gate.js'
export type { ConnectionHandle } from './host/connection-handle.js'
export {
  type ConnectionGrant,
  type ConnectRequest,
  createGateway,
  type Gateway,
  type GatewayOptions,
} from './host/gateway.js'
export { genesis, hashLeaf, link, sealDraft } from './log/chain.js'
export { createRow, eraseRow, type Fields, isErased, parseEnvelope, toFields } from './log/entries.js'
export { closedError, duplicateIdError, gapError, LogError, rangeError } from './log/error.js'
export type { Authenticator, Identity, Membership } from './ports/authenticator.js'
export { type Clock, systemClock } from './ports/clock.js'
export type { Connection, Feed, Message, OutboundBatch } from './ports/connection.js'
export type {
  Checkpoint,
  DraftEntry,
  Entry,
  EnvelopeLog,
  Filter,
  Heading,
  LogListener,
  LogObserver,
  LogStore,
  Note,
  Query,
  Row,
  SharedLog,
  Snapshot,
} from './ports/envelope-log.js'
export { type Logger, silent } from './ports/logger.js'
export { logStore } from './storage/log-store.js'
export { memoryStore } from './storage/memory-log.js'
export { backUpLogs, type CopiedLog, type RestoredLog, restoreLogs } from './storage/sqlite/backup.js'
export {
  type ImportedLog,
  type ImportedRow,
  type ImportOptions,
  importLog,
  readImportedBody,
  readLogged,
} from './storage/sqlite/import.js'
export { inspectLog, type LogReport } from './storage/sqlite/inspect.js'
export { openReplicaFile, type ReplicaFile, type ReplicaSpace } from './storage/sqlite/replica-file.js'
export { sqliteStore } from './storage/sqlite/store.js'
export { type Served, type ServeOptions, serve } from './transport/serve.js'
