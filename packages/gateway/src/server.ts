export { combineAuthenticators, tokenAuthenticator } from './host/auth/token-authenticator.js'
export { createGateway } from './host/gateway.js'
export { memoryStore } from './storage/memory-log.js'
export { serve } from './transport/serve.js'
