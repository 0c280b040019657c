// Which way imports run, types included. `pnpm lint` checks it with dependency-cruiser.

/** The packages of this repository that each may import; `cli` and examples may import any. */
const packages = {
  protocol: [],
  safety: ['protocol'],
  folds: ['protocol', 'safety'],
  telemetry: ['protocol', 'folds'],
  gateway: ['protocol', 'safety', 'folds'],
  jetstream: ['protocol', 'gateway'],
  'ag-ui': ['protocol', 'folds', 'gateway'],
  'agent-sdk': ['protocol', 'safety', 'folds'],
  'mcp-bridge': ['protocol', 'folds', 'agent-sdk'],
  acp: ['protocol', 'folds', 'agent-sdk', 'mcp-bridge'],
  observer: ['protocol', 'folds', 'agent-sdk'],
}

/** The folders of the gateway that each may import; `testing` and the files beside these may import any. */
const gatewayFolders = {
  ports: [],
  log: ['ports'],
  storage: ['log', 'ports'],
  core: ['log', 'ports'],
  index: ['core', 'log', 'ports'],
  host: ['index', 'core', 'log', 'ports'],
  http: ['host', 'index', 'core', 'log', 'ports'],
  transport: ['http', 'host', 'core', 'log', 'ports'],
}

/** Files without I/O, and the modules of Node.js that they may import all the same. */
const withoutInputOutput = [
  { path: '^protocol/src/' },
  { path: '^packages/(?:safety|folds|observer)/src/' },
  { path: '^packages/agent-sdk/src/', pathNot: '^packages/agent-sdk/src/(?:adapters/|testing/|index\\.ts)' },
  {
    path: '^packages/gateway/src/',
    pathNot:
      '^packages/gateway/src/(?:storage/|transport/|index/|log/sqlite-driver\\.ts|host/auth/|host/metrics\\.ts)',
    allowed: '^(?:node:)?(?:crypto|buffer|assert/strict)$',
  },
]

const folderOf = (name) => (name === 'protocol' ? name : `packages/${name}`)
const sourcesOf = (names) => `^(?:${names.map(folderOf).join('|')})/(?:src|dist)/`

export default {
  forbidden: [
    {
      name: 'no-cycle-of-files',
      from: { path: '^(?:protocol|packages|examples)/' },
      to: { circular: true },
    },
    {
      name: 'no-cycle-of-folders',
      scope: 'folder',
      from: { path: '^(?:protocol|packages)/' },
      to: { circular: true },
    },
    {
      name: 'packages-are-listed',
      from: { path: `^packages/(?!(?:cli|${Object.keys(packages).join('|')})/)` },
      to: {},
    },
    ...Object.entries(packages).map(([name, others]) => ({
      name: `direction-of-packages: ${name}`,
      // The test space of the SDK runs the real gateway: the one place where the two meet.
      from: { path: `^${folderOf(name)}/src/`, ...(name === 'agent-sdk' && { pathNot: '/src/testing/' }) },
      to: {
        path: sourcesOf([...Object.keys(packages), 'cli']),
        pathNot: sourcesOf([name, ...others]),
      },
    })),
    {
      name: 'relative-imports-stay-inside',
      from: { path: '^(protocol|(?:packages|examples)/[^/]+)/src/' },
      to: { path: '^(?:protocol|packages|examples)/', pathNot: ['^$1/src/', '/dist/'] },
    },
    {
      name: 'packages-do-not-import-themselves',
      from: { path: '^(protocol|(?:packages|examples)/[^/]+)/src/' },
      to: { path: '^$1/dist/', dependencyTypesNot: ['aliased-subpath-import'] },
    },
    ...Object.entries(gatewayFolders).map(([name, others]) => ({
      name: `direction-of-gateway-folders: ${name}`,
      from: { path: `^packages/gateway/src/${name}/` },
      to: {
        path: '^packages/gateway/src/',
        pathNot: `^packages/gateway/src/(?:${[name, ...others].join('|')})/`,
      },
    })),
    {
      name: 'gateway-folders-are-listed',
      from: { path: `^packages/gateway/src/(?!(?:testing|${Object.keys(gatewayFolders).join('|')})/).*/` },
      to: {},
    },
    {
      name: 'testing-is-for-tests',
      from: { path: '^(packages/[^/]+)/src/', pathNot: '^packages/[^/]+/src/testing/' },
      to: { path: '^$1/src/testing/' },
    },
    ...withoutInputOutput.flatMap(({ allowed, ...from }) => [
      {
        name: 'no-modules-of-node',
        from,
        to: { dependencyTypes: ['core'], ...(allowed && { pathNot: allowed }) },
      },
      {
        name: 'no-sockets-and-disks',
        from,
        to: { path: '(?:^|/)node_modules/(?:@types/)?(?:ws|better-sqlite3|@hono/node-server)/' },
      },
    ]),
    {
      name: 'protocol-has-two-dependencies',
      from: { path: '^protocol/src/' },
      to: { dependencyTypes: ['npm'], pathNot: 'node_modules/(?:@sinclair/typebox|re2js)/' },
    },
    {
      // The threads of a log load these, and nothing is served before they have: the schemas take 90 ms.
      name: 'logs-load-no-schemas',
      from: { path: '^packages/gateway/src/(?:log|storage)/', pathNot: '/sqlite/import\\.ts$' },
      to: { path: '^protocol/(?:src|dist)/index\\.', dependencyTypesNot: ['type-only', 'type-import'] },
    },
    {
      name: 'imports-are-found',
      from: {},
      to: { couldNotResolve: true },
    },
  ].map((rule) => ({ severity: 'error', ...rule })),
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
    },
  },
}
