export { inspectJetStream, type JetStreamReport } from './inspect.js'
export { type JetStreamStoreOptions, jetstreamStore } from './store.js'
