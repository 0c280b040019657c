/** For tests outside this package, which have no `ws` of their own. */
export { type WebSocket, WebSocketServer } from 'ws'
