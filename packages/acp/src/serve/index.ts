export type { ServedSpace } from './acp-server.js'
export { type Serving, serveAcp } from './serve.js'
