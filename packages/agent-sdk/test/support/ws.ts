/** Re-exported for tests outside of this package, which do not depend on `ws`. */
export { type WebSocket, WebSocketServer } from 'ws'
