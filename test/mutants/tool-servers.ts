import type { Mutant } from './mutant.js'

const mcpBridge = 'packages/mcp-bridge'

/** Wrong edits of the MCP bridge. The comment of each says what goes wrong. */
export const toolServers: readonly Mutant[] = [
  // An `error: null` next to a result is passed on, so that readers take the result for an error.
  {
    package: mcpBridge,
    function: 'readResponse',
    replace: '...(!hasError && { error: undefined }),',
    by: '',
    tests: ['packages/mcp-bridge/test/read-message.test.ts'],
  },
  // A JSON log line of a server with the id of a call counts as its response.
  {
    package: mcpBridge,
    function: 'readResponse',
    replace: "jsonrpc !== '2.0' && (hasNothing || isLogLine(value))",
    by: 'false',
    tests: ['packages/mcp-bridge/test/read-message.test.ts'],
  },
  // A request of the server that is too large fails the call with the same id.
  {
    package: mcpBridge,
    function: 'readDropped',
    replace: 'method === undefined',
    by: 'true',
    tests: ['packages/mcp-bridge/test/read-message.test.ts'],
  },
  // An error about an unknown method counts as a lost session.
  {
    package: mcpBridge,
    function: 'hasLostSession',
    replace: 'code === methodNotFound || isOwn',
    by: 'isOwn',
    tests: ['packages/mcp-bridge/test/http-sessions.test.ts'],
  },
  // A call that is refused a second time because of its session is repeated again.
  {
    package: mcpBridge,
    function: 'isSessionError',
    replace: '!isRepeated && ',
    by: '',
    tests: ['packages/mcp-bridge/test/http-sessions.test.ts'],
  },
]
