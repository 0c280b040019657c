export { type Bridge, type BridgeOptions, bridgeMcpServer } from './bridge.js'
export { readLines, settlesWithin } from './child/lines.js'
export {
  CannotStartError,
  type SpawnChildOptions,
  type SupervisedChild,
  spawnChild,
} from './child/spawn-child.js'
export type { DroppedText } from './child/text-buffer.js'
export { markId, restoreNumbers } from './exact-numbers.js'
export { FaultLog } from './relay/fault-log.js'
export { readOuterMembers } from './relay/outer-members.js'
export type { McpRelay } from './relay/relay.js'
export { type McpServerOptions, startMcpServer } from './relay/start-mcp-server.js'
