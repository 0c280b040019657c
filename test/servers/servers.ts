/** A public MCP server from npm, with its expected behaviour in a space. */
export interface PublicServer {
  readonly package: string
  readonly version: string
  /** Name of the MCP library that the server uses. */
  readonly builtWith: string
  readonly program: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Files of the folder that the server is started in, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** A call that works without network, and a part of the expected answer or error. */
  readonly call: ToolCall & ({ readonly answer: string } | { readonly error: string })
  /** A call with invalid arguments, and a part of the error that explains them. */
  readonly wrong: ToolCall & { readonly error: string }
}

interface ToolCall {
  readonly tool: string
  readonly arguments: object
}

const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }]
const kubeconfig = `{ apiVersion: v1, kind: Config, current-context: here,
  clusters: [{ name: here, cluster: { server: "http://127.0.0.1:1" } }], users: [{ name: ada, user: {} }],
  contexts: [{ name: here, context: { cluster: here, user: ada } }] }`

/**
 * Servers by the name of their participant. `$FOLDER` is the folder in which the server is started, `$CHROMIUM` the path of a
 * browser. Servers that need a service get an address without a listener, so they answer that they cannot connect.
 */
export const publicServers = {
  everything: {
    package: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    builtWith: 'TypeScript SDK 1',
    program: 'mcp-server-everything',
    call: { tool: 'get-sum', arguments: { a: 2, b: 3 }, answer: 'The sum of 2 and 3 is 5' },
    wrong: { tool: 'get-sum', arguments: { a: 'two', b: 3 }, error: 'expected number, received string' },
  },
  filesystem: {
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    builtWith: 'TypeScript SDK 1',
    program: 'mcp-server-filesystem',
    args: ['$FOLDER'],
    files: { 'note.txt': 'milk and honey' },
    call: { tool: 'read_text_file', arguments: { path: '$FOLDER/note.txt' }, answer: 'milk and honey' },
    wrong: { tool: 'read_text_file', arguments: { path: '/etc/passwd' }, error: 'Access denied' },
  },
  memory: {
    package: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    builtWith: 'TypeScript SDK 1',
    program: 'mcp-server-memory',
    env: { MEMORY_FILE_PATH: '$FOLDER/memory.jsonl' },
    files: { 'memory.jsonl': JSON.stringify({ type: 'entity', ...entities[0] }) },
    call: { tool: 'search_nodes', arguments: { query: 'Ada' }, answer: 'likes tea' },
    wrong: { tool: 'create_entities', arguments: { entities: 7 }, error: 'expected array, received number' },
  },
  thinking: {
    package: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    builtWith: 'TypeScript SDK 1',
    program: 'mcp-server-sequential-thinking',
    call: {
      tool: 'sequentialthinking',
      arguments: { thought: 'tea', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true },
      answer: '"totalThoughts": 2',
    },
    wrong: {
      tool: 'sequentialthinking',
      arguments: { thought: 1 },
      error: 'expected string, received number',
    },
  },
  postgres: {
    package: '@modelcontextprotocol/server-postgres',
    version: '0.6.2',
    builtWith: 'TypeScript SDK 1.0',
    program: 'mcp-server-postgres',
    args: ['postgres://127.0.0.1:1/demo'],
    call: { tool: 'query', arguments: { sql: 'select 1' }, error: 'ECONNREFUSED' },
    wrong: { tool: 'drop', arguments: {}, error: 'Unknown tool: drop' },
  },
  drawio: {
    package: 'drawio-mcp',
    version: '1.6.0',
    builtWith: 'TypeScript SDK 0.5',
    program: 'drawio-mcp',
    call: {
      tool: 'new_diagram',
      arguments: { file_path: '$FOLDER/plan.drawio.svg' },
      answer: 'Created new diagram',
    },
    wrong: { tool: 'new_diagram', arguments: {}, error: 'file_path is required' },
  },
  calc: {
    package: '@coo-quack/calc-mcp',
    version: '2.1.1',
    builtWith: 'TypeScript SDK 1',
    program: 'calc-mcp',
    call: {
      tool: 'hash',
      arguments: { input: 'hello', algorithm: 'sha256' },
      answer: '2cf24dba5fb0a30e26e83b2',
    },
    wrong: { tool: 'hash', arguments: { input: 'hello' }, error: 'expected one of "md5"' },
  },
  budget: {
    package: '@modelcontextprotocol/server-budget-allocator',
    version: '2.0.3',
    builtWith: 'TypeScript SDK 2',
    program: 'mcp-budget-allocator-server',
    args: ['--stdio'],
    call: { tool: 'get-budget-data', arguments: {}, answer: 'Default Budget: $100,000' },
    wrong: { tool: 'get-budget', arguments: {}, error: 'get-budget not found' },
  },
  pdf: {
    package: '@modelcontextprotocol/server-pdf',
    version: '2.0.4',
    builtWith: 'TypeScript SDK 2',
    program: 'mcp-pdf-server',
    args: ['--stdio'],
    call: { tool: 'list_pdfs', arguments: {}, answer: 'accessible via HTTPS' },
    wrong: { tool: 'display_pdf', arguments: { url: 3 }, error: 'expected string, received number' },
  },
  firecrawl: {
    package: 'firecrawl-mcp',
    version: '3.26.0',
    builtWith: 'FastMCP 4',
    program: 'firecrawl-mcp',
    env: { FIRECRAWL_API_URL: 'http://127.0.0.1:1' },
    call: { tool: 'firecrawl_map', arguments: { url: 'https://example.com' }, error: 'ECONNREFUSED' },
    wrong: { tool: 'firecrawl_map', arguments: { url: 3 }, error: 'expected string, received number' },
  },
  libsql: {
    package: 'mcp-memory-libsql',
    version: '0.0.17',
    builtWith: 'tmcp 1',
    program: 'mcp-memory-libsql',
    env: { LIBSQL_URL: 'file:$FOLDER/memory.db' },
    call: { tool: 'create_entities', arguments: { entities }, answer: 'Successfully processed 1 entities' },
    wrong: { tool: 'create_entities', arguments: { entities: 7 }, error: 'Expected Array but received 7' },
  },
  reader: {
    package: '@sylphx/pdf-reader-mcp',
    version: '2.4.0',
    builtWith: '@sylphx/mcp-server-sdk',
    program: 'pdf-reader-mcp',
    call: { tool: 'read_pdf', arguments: { sources: [{ path: 'none.pdf' }] }, error: 'File not found' },
    wrong: { tool: 'read_pdf', arguments: { sources: 3 }, error: 'sources: Expected array' },
  },
  git: {
    package: '@cyanheads/git-mcp-server',
    version: '2.15.3',
    builtWith: 'TypeScript SDK 1, bundled',
    program: 'git-mcp-server',
    call: { tool: 'git_init', arguments: { path: '$FOLDER/repository' }, answer: '"success": true' },
    wrong: { tool: 'git_log', arguments: { path: 7 }, error: 'expected string, received number' },
  },
  kubernetes: {
    package: 'kubernetes-mcp-server',
    version: '0.0.67',
    builtWith: 'Go SDK',
    program: 'kubernetes-mcp-server',
    args: ['--kubeconfig', '$FOLDER/kubeconfig'],
    files: { kubeconfig },
    call: { tool: 'configuration_view', arguments: {}, answer: 'current-context: here' },
    wrong: { tool: 'pods_get', arguments: {}, error: 'name parameter required' },
  },
  commander: {
    package: '@wonderwhy-er/desktop-commander',
    version: '0.2.52',
    builtWith: 'TypeScript SDK 1, stdio of its own',
    program: 'desktop-commander',
    files: { '.claude-server-commander/config.json': '{"telemetryEnabled":false}', 'note.txt': 'milk' },
    call: { tool: 'read_file', arguments: { path: '$FOLDER/note.txt' }, answer: 'milk' },
    wrong: { tool: 'read_file', arguments: {}, error: 'Required' },
  },
  playwright: {
    package: '@playwright/mcp',
    version: '0.0.83',
    builtWith: 'TypeScript SDK, bundled',
    program: 'playwright-mcp',
    args: ['--headless', '--no-sandbox', '--isolated', '--executable-path', '$CHROMIUM'],
    call: {
      tool: 'browser_navigate',
      arguments: { url: 'data:text/html,<h1>Hi' },
      answer: 'Page URL: data:',
    },
    wrong: { tool: 'browser_navigate', arguments: {}, error: 'expected string, received undefined' },
  },
  devtools: {
    package: 'chrome-devtools-mcp',
    version: '1.11.0',
    builtWith: 'TypeScript SDK 2, bundled',
    program: 'chrome-devtools-mcp',
    args: [
      '--headless',
      '--isolated',
      '--no-usage-statistics',
      '--chromeArg=--no-sandbox',
      '--executablePath',
      '$CHROMIUM',
    ],
    call: { tool: 'new_page', arguments: { url: 'data:text/html,<h1>Hi' }, answer: 'data:text/html,<h1>Hi' },
    wrong: { tool: 'navigate_page', arguments: { type: 7 }, error: 'expected number, received undefined' },
  },
} as const satisfies Readonly<Record<string, PublicServer>>

export type ServerName = keyof typeof publicServers
