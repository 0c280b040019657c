export type { EditorSpace } from './acp-server.js'
export { type EditorServing, serveAcp } from './serve.js'
