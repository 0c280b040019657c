export { type Bridge, type BridgeOptions, bridgeMcpServer } from './bridge.js'
export {
  CannotStartError,
  type SpawnChildOptions,
  type SupervisedChild,
  spawnChild,
} from './child/spawn-child.js'
export { linesOf } from './lines.js'
export type { McpRelay } from './relay/relay.js'
export { type McpServerOptions, startMcpServer } from './start-mcp-server.js'
