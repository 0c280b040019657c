import type { Mutant } from './mutant.js'

const mcpBridge = 'packages/mcp-bridge'

export const toolServers: readonly Mutant[] = [
  // An `error: null` next to a result stays, so readers take the result for an error.
  {
    package: mcpBridge,
    function: 'readResponse',
    replace: '...(!hasError && { error: undefined }),',
    by: '',
    tests: ['packages/mcp-bridge/test/read-message.test.ts'],
  },
  // A log of a server in JSON, with the id of a call, is its answer.
  {
    package: mcpBridge,
    function: 'readResponse',
    replace: "jsonrpc !== '2.0' && (hasNothing || isLogLine(value))",
    by: 'false',
    tests: ['packages/mcp-bridge/test/read-message.test.ts'],
  },
  // A request of the server that is too large fails the call of the same id.
  {
    package: mcpBridge,
    function: 'readDropped',
    replace: 'method === undefined',
    by: 'true',
    tests: ['packages/mcp-bridge/test/read-message.test.ts'],
  },
  // A server that knows its session, but not the method, loses the session.
  {
    package: mcpBridge,
    function: 'hasLostSession',
    replace: 'code === methodNotFound || isOwn',
    by: 'isOwn',
    tests: ['packages/mcp-bridge/test/http-sessions.test.ts'],
  },
  // A call that is refused for its session again is repeated again.
  {
    package: mcpBridge,
    function: 'isSessionError',
    replace: '!isRepeated && ',
    by: '',
    tests: ['packages/mcp-bridge/test/http-sessions.test.ts'],
  },
]
