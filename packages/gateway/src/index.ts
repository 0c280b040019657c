export { firstOf } from './adapters/first-of.js'
export { inspectJetStream, type JetStreamReport } from './adapters/jetstream/inspect.js'
export { type JetStreamStoreOptions, jetstreamStore } from './adapters/jetstream/store.js'
export { memoryStore } from './adapters/memory-log.js'
export { type Served, type ServeOptions, serve } from './adapters/serve.js'
export { type ImportedLog, type ImportOptions, importLog } from './adapters/sqlite/import.js'
export { inspectLog, type LogReport } from './adapters/sqlite/inspect.js'
export { sqliteStore } from './adapters/sqlite/store.js'
export { type TokenAuthenticator, tokenAuthenticator } from './adapters/token-authenticator.js'
export type { Denial, Resume } from './gateway/door.js'
export {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type Knock,
  type Ticket,
} from './gateway/gateway.js'
export type { Line } from './gateway/line.js'
export { LogError } from './log/error.js'
export { type ImportedRow, readBody, readLogged } from './log/import-row.js'
export { type LogObserver, observedStore } from './log/observed-store.js'
export type { Verification } from './log/verify-log.js'
export type { Message, Parcel } from './outbox/parcel.js'
export { pipeline } from './pipeline/index.js'
export type { Authenticator, Identity, Membership } from './ports/authenticator.js'
export { type Clock, systemClock } from './ports/clock.js'
export type { Connection, Feed } from './ports/connection.js'
export type {
  Checkpoint,
  Draft,
  Entry,
  EnvelopeLog,
  Filter,
  LogStore,
  Query,
  Row,
  Snapshot,
} from './ports/envelope-log.js'
export type { Logger } from './ports/logger.js'
export type { ParticipantConfig, SpaceConfig } from './space/config.js'
export { envelopeOf } from './space/replay.js'
