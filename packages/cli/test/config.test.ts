// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how the files under test write variables
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { defaultLimits, defaultRates } from '@meup/protocol'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../src/config/config-error.js'
import { loadConfig, parseConfig } from '../src/config/load.js'
import { durationPattern, parseDuration, parseListen } from '../src/config/notation.js'

const parse = (text: string, env: NodeJS.ProcessEnv = {}) =>
  parseConfig(text, { file: '/srv/demo/space.yaml', env })
const parseParticipants = (text: string, env?: NodeJS.ProcessEnv) =>
  parse(`version: 1\nspace: demo\nparticipants:\n${text}`, env).spaces[0]

const mcpDefaults = [
  'mcp.response',
  { kind: 'mcp.request', payload: { method: ['notifications/**', 'elicitation/create'] } },
]

const full = `
version: 1
space: demo
gateway:
  listen: 0.0.0.0:9000
  origins: ["https://app.example", "http://localhost:5173"]
  hosts: [box.example]
  trustProxy: true
storage: { kind: sqlite, path: data/space.db, durability: power }
auth: { jwt: { issuer: "https://id.example", audience: meup, jwks: keys/id.json } }
retention: { days: 7 }
safety:
  onLeak: block
  maxLength: 4000
  policy: [{ name: customers, pattern: ACME, action: review }]
  rules:
    - { name: badge, pattern: "B-[0-9]{6}" }
    - { name: door, pattern: "D-[0-9]{4}", keywords: [d-], action: block }
limits:
  maxEnvelopeBytes: 65536
  sendBufferBytes: 1048576
  contextDepth: 4
  contextLength: 200
  connectionsPerParticipant: 2
  agentHops: 7
  rates:
    reasoning: { perSecond: 5, burst: 10 }
    bytes: { perSecond: 0.5, burst: 2097152 }
reasoning: { collaborative: false, abandonAfter: 5m }
mcp: { visibility: addressees }
guest: { capabilities: [chat] }
defaults: { capabilities: [chat, "reasoning.*"] }
participants:
  ana:      { kind: human, capabilities: ["*"] }
  ben:      { kind: human }
  reviewer:
    kind: agent
    capabilities: [chat, "reasoning.*", { kind: mcp.request, to: files }]
    limits: { rates: { chat: { perSecond: 1, burst: 2 } } }
  files:    { kind: mcp, command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", ./repo] }
  tools:    { kind: mcp, command: ./bin/tools, cwd: repo, env: { KEY: "\${TOOLS_KEY}" }, capabilities: [mcp.response] }
  remote:   { kind: mcp, url: "https://tools.example/mcp", headers: { authorization: "Bearer \${TOOLS_KEY}" } }
  worker:   { kind: process, command: node, args: [worker.js], cwd: /srv/elsewhere, restart: always, watch: false, transcript: full, env: { MODE: fast } }
`

test('a log on several machines', () => {
  const text =
    'version: 1\nspace: demo\nstorage: { kind: jetstream, servers: ["nats://a:4222", "tls://b"], replicas: 3, credentials: c }\n'
  expect(parse(text).storage).toEqual({
    kind: 'jetstream',
    servers: ['nats://a:4222', 'tls://b'],
    replicas: 3,
    credentials: '/srv/demo/c',
    path: '/srv/demo/.meup/replica.db',
  })
})

describe('{ tool: "me/*" }', () => {
  const own = (rest = '') =>
    parse(`
version: 1
space: demo
defaults: { capabilities: [chat, { tool: "me/*" }] }
participants:
  ana: { kind: human, capabilities: [{ tool: "me/read_*", arguments: { path: a } }, { tool: "ben/*" }, { kind: mcp.request, to: me }] }
  ben: { kind: agent }
${rest}`).spaces[0]?.config

  test('is about the tools of whoever has it', () => {
    expect(own()?.participants).toMatchObject({
      ana: {
        capabilities: [
          { tool: 'ana/read_*', arguments: { path: 'a' } },
          { tool: 'ben/*' },
          { kind: 'mcp.request', to: 'me' },
        ],
      },
      ben: { capabilities: ['chat', { tool: 'ben/*' }] },
    })
  })

  test('in defaults waits for whom they are for', () => {
    expect(own()?.defaults).toEqual({ capabilities: ['chat', { tool: 'me/*' }] })
  })

  test('is about the participant that is called so, where there is one', () => {
    expect(own('  me: { kind: human }')?.participants).toMatchObject({
      ana: { capabilities: [{ tool: 'me/read_*' }, {}, {}] },
      ben: { capabilities: ['chat', { tool: 'me/*' }] },
    })
  })
})

describe('a file that says everything', () => {
  const config = parse(full, { TOOLS_KEY: 'k1' })
  const [space] = config.spaces

  test('the gateway and its storage', () => {
    expect(config).toMatchObject({
      file: '/srv/demo/space.yaml',
      directory: '/srv/demo',
      several: false,
      storage: { kind: 'sqlite', path: '/srv/demo/data/space.db', durability: 'power' },
      auth: {
        jwt: { issuer: 'https://id.example', audience: 'meup', jwks: '/srv/demo/keys/id.json' },
      },
    })
    expect(config.gateway).toEqual({
      host: '0.0.0.0',
      port: 9000,
      origins: ['https://app.example', 'http://localhost:5173'],
      hosts: ['box.example'],
      trustProxy: true,
    })
    expect(config.spaces).toHaveLength(1)
  })

  test('the space', () => {
    expect(space?.config).toEqual({
      name: 'demo',
      defaults: { capabilities: ['chat', 'reasoning.*'] },
      guest: { capabilities: ['chat'] },
      limits: {
        maxEnvelopeBytes: 65536,
        maxResultBytes: 4194304,
        work: 20000,
        sendBufferBytes: 1048576,
        contextDepth: 4,
        contextLength: 200,
        connectionsPerParticipant: 2,
        agentHops: 7,
        rates: {
          ...defaultRates,
          reasoning: { perSecond: 5, burst: 10 },
          bytes: { perSecond: 0.5, burst: 2097152 },
        },
      },
      reasoning: { collaborative: false, abandonAfterMs: 300_000 },
      safety: {
        onLeak: 'block',
        maxLength: 4000,
        policy: [{ name: 'customers', pattern: 'ACME', action: 'review' }],
        rules: [
          { name: 'badge', pattern: 'B-[0-9]{6}', action: 'mask' },
          { name: 'door', pattern: 'D-[0-9]{4}', keywords: ['d-'], action: 'block' },
        ],
      },
      mcp: { visibility: 'addressees' },
      retention: { days: 7 },
      participants: {
        ana: { kind: 'human', capabilities: ['*'] },
        ben: { kind: 'human', capabilities: ['chat', 'reasoning.*'] },
        reviewer: {
          kind: 'agent',
          capabilities: ['chat', 'reasoning.*', { kind: 'mcp.request', to: 'files' }],
          rates: { chat: { perSecond: 1, burst: 2 } },
        },
        files: { kind: 'mcp', capabilities: mcpDefaults },
        tools: { kind: 'mcp', capabilities: ['mcp.response'] },
        remote: { kind: 'mcp', capabilities: mcpDefaults },
        worker: { kind: 'process', capabilities: ['chat', 'reasoning.*'] },
      },
    })
  })

  test('the programs', () => {
    expect(space?.programs).toEqual({
      files: {
        kind: 'mcp',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', './repo'],
        cwd: '/srv/demo',
        env: {},
        startTimeoutMs: 120_000,
      },
      tools: {
        kind: 'mcp',
        command: '/srv/demo/bin/tools',
        args: [],
        cwd: '/srv/demo/repo',
        env: { KEY: 'k1' },
        startTimeoutMs: 120_000,
      },
      remote: {
        kind: 'mcp',
        url: 'https://tools.example/mcp',
        headers: { authorization: 'Bearer k1' },
        startTimeoutMs: 120_000,
      },
      worker: {
        kind: 'process',
        command: 'node',
        args: ['worker.js'],
        cwd: '/srv/elsewhere',
        env: { MEUP_TRANSCRIPT: 'full', MODE: 'fast' },
        restart: 'always',
        watch: false,
      },
    })
  })
})

test('a file that says as little as it may', () => {
  expect(parse('version: 1\nspace: demo\n')).toEqual({
    file: '/srv/demo/space.yaml',
    directory: '/srv/demo',
    several: false,
    gateway: { host: '127.0.0.1', port: 8080, origins: [], hosts: [], trustProxy: false },
    storage: { kind: 'sqlite', path: '/srv/demo/.meup/space.db', durability: 'process' },
    auth: {},
    spaces: [
      {
        config: {
          name: 'demo',
          defaults: { capabilities: ['chat'] },
          participants: {},
          limits: defaultLimits,
          reasoning: { collaborative: true, abandonAfterMs: 60_000 },
          safety: { onLeak: 'mask', maxLength: 8192, policy: [], rules: [] },
          mcp: { visibility: 'everyone' },
          retention: { days: 30 },
        },
        programs: {},
      },
    ],
  })
})

test('participants that list no capabilities may chat', () => {
  const space = parseParticipants('  a: { kind: human }\n  b: { kind: process, command: b }')
  expect(space?.config.participants).toEqual({
    a: { kind: 'human', capabilities: ['chat'] },
    b: { kind: 'process', capabilities: ['chat'] },
  })
  expect(space?.programs).toEqual({
    b: {
      kind: 'process',
      command: 'b',
      args: [],
      cwd: '/srv/demo',
      env: {},
      restart: 'on-failure',
      watch: true,
    },
  })
})

test('guests may do nothing unless it is said', () => {
  expect(parse('version: 1\nspace: demo\nguest: {}').spaces[0]?.config.guest).toEqual({ capabilities: [] })
})

test('memory storage', () => {
  expect(parse('version: 1\nspace: demo\nstorage: { kind: memory }').storage).toEqual({ kind: 'memory' })
})

test('several spaces, each with its own keys', () => {
  const config = parse(`
version: 1
gateway: { listen: "[::1]:0" }
spaces:
  a: { participants: { ana: { kind: human } }, retention: { days: 0 } }
  b:
    defaults: { capabilities: [] }
    participants: { ana: { kind: agent }, w: { kind: process, command: ../w } }
`)
  expect(config.several).toBe(true)
  expect(config.gateway).toMatchObject({ host: '::1', port: 0 })
  expect(
    config.spaces.map(({ config: { name, participants, retention }, programs }) => [
      name,
      participants,
      Object.keys(programs),
      retention.days,
    ]),
  ).toEqual([
    ['a', { ana: { kind: 'human', capabilities: ['chat'] } }, [], 0],
    ['b', { ana: { kind: 'agent', capabilities: [] }, w: { kind: 'process', capabilities: [] } }, ['w'], 30],
  ])
  expect(config.spaces[1]?.programs.w).toMatchObject({ command: '/srv/w' })
})

test('a list may be shared by an anchor', () => {
  const space = parseParticipants(
    '  a: { kind: human, capabilities: &all ["*"] }\n  b: { kind: human, capabilities: *all }',
  )
  expect(space?.config.participants.b?.capabilities).toEqual(['*'])
})

test.for([
  ['localhost:80', { host: 'localhost', port: 80 }],
  ['[::1]:65535', { host: '::1', port: 65535 }],
  ['10.0.0.1:0', { host: '10.0.0.1', port: 0 }],
] as const)('%s is listened on', ([text, expected]) => {
  expect(parseListen(text)).toEqual(expected)
})

test.for(['8080', ':8080', 'localhost', 'localhost:65536', '::1:80', 'a:b', ''])(
  '%s is no address',
  (text) => {
    expect(() => parseListen(text)).toThrow(RangeError)
  },
)

test.for([
  ['0s', 0],
  ['500ms', 500],
  ['60s', 60_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['60', 60_000],
] as const)('%s is %i ms', ([text, expected]) => {
  expect(parseDuration(text)).toBe(expected)
})

test.for(['-1s', '1234567h', 's', ''])('%s is no duration', (text) => {
  expect(() => parseDuration(text)).toThrow(RangeError)
})

test.for(['1d', '600h', '60'])('%s is no setting: a timer could not wait for it', (text) => {
  expect(text).not.toMatch(new RegExp(durationPattern))
})

describe('loadConfig', () => {
  const directory = mkdtempSync(join(tmpdir(), 'meup-config-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  test('reads the file, a byte order mark and CRLF included', () => {
    const file = join(directory, 'space.yaml')
    writeFileSync(file, '\uFEFFversion: 1\r\nspace: "${NAME}"\r\n')
    const config = loadConfig(file, { NAME: 'demo' })
    expect([config.file, config.directory, config.spaces[0]?.config.name]).toEqual([file, directory, 'demo'])
  })

  test('makes the path of the file absolute', () => {
    expect(parseConfig('version: 1\nspace: a', { file: 'x/space.yaml', env: {} }).directory).toBe(
      resolve('x'),
    )
  })

  test('says when there is no file', () => {
    expect(() => loadConfig(join(directory, 'none.yaml'))).toThrow(ConfigError)
    expect(() => loadConfig(join(directory, 'none.yaml'))).toThrow(/none\.yaml: there is no such file/)
  })

  test('says when it is no text', () => {
    const file = join(directory, 'latin1.yaml')
    writeFileSync(file, Buffer.from([0x61, 0xe9, 0x0a]))
    expect(() => loadConfig(file)).toThrow(/not UTF-8/)
  })
})
