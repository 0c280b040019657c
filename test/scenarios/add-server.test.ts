import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { demoInMemory, initSpace, meup, readError, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'

vi.setConfig({ testTimeout: 120_000 })

const everything = join(repositoryRoot, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const raw = join(repositoryRoot, 'packages/mcp-bridge/test/fixtures/raw-server.mjs')
const config = `${demoInMemory}
participants:
  ana: { kind: human, capabilities: ["*"] } # me
`

test('a server is added to a space that runs, and called', async () => {
  const cwd = await initSpace('hello')
  await startMeup('up', cwd)
  const before = readFileSync(join(cwd, 'space.yaml'), 'utf8')
  const added = await meup(['add', 'everything', '--', 'node', everything, 'stdio'], { cwd })
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(?:npx )?meup join\n$/) })
  expect(added.stderr).toContain(`✓ everything is added to space.yaml: node ${everything} stdio`)
  expect(added.stderr).toContain('everything is started and in the space')
  expect(added.stderr).toContain('ana may use it; { tool: "everything/*" } in capabilities')
  expect(readFileSync(join(cwd, 'space.yaml'), 'utf8').startsWith(before)).toBe(true)
  const called = await meup(['call', 'everything/echo', '{"message":"hello"}'], { cwd })
  expect(called).toEqual({ code: 0, stdout: 'Echo: hello\n', stderr: '' })
})

test('a server of a space that runs is replaced, and its secrets stay out of space.yaml', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await startMeup('up', cwd)
  expect(await meup(['add', 'raw', '--', 'node', everything, 'stdio'], { cwd })).toMatchObject({ code: 0 })
  const options = ['--replace', '--json', '--env', 'API_TOKEN=hush-1', '--env', 'REGION']
  const args = ['add', 'raw', ...options, '--', 'node', raw]
  const replaced = await meup(args, { cwd, env: { REGION: 'eu' } })
  expect(replaced).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(replaced.stdout)).toMatchObject({
    participant: 'raw',
    space: 'demo',
    change: 'replaced',
    server: { kind: 'mcp', command: 'node', args: [raw] },
    secrets: expect.arrayContaining(['API_TOKEN']),
    gateway: 'applied',
    program: { state: 'running' },
  })
  expect(readFileSync(join(cwd, 'space.yaml'), 'utf8')).not.toContain('hush')
  const ana = await connect({ as: 'ana', directory: cwd })
  onTestFinished(() => ana.close())
  const { env } = await ana.request('raw', 'tools/call', { name: 'env' })
  expect(env).toMatchObject({ API_TOKEN: 'hush-1', REGION: 'eu' })

  const same = await meup(args, { cwd, env: { REGION: 'eu' } })
  expect([same.code, JSON.parse(same.stdout)]).toEqual([0, expect.objectContaining({ change: 'none' })])
})

test('a server that does not start is not added, and the reason is what it printed', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await startMeup('up', cwd)
  const crash = ['node', '-e', 'console.error("there is no folder docs"); process.exit(3)']
  const add = (...args: string[]) => meup(['add', 'bad', ...args], { cwd })
  const refused = await add('--env', 'API_TOKEN=hush-1', '--', ...crash)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(
    /^✗ bad is not added: .* code 3\. .*there is no folder docs.*[Cc]orrect that.*\n$/,
  )
  expect(readFileSync(join(cwd, 'space.yaml'), 'utf8')).toBe(config)
  for (const file of ['.meup/tokens/bad', '.meup/secrets/API_TOKEN'])
    expect(existsSync(join(cwd, file)), file).toBe(false)

  expect((await add('--', 'node', raw)).code).toBe(0)
  const replaced = await add('--replace', '--', ...crash)
  expect(replaced).toMatchObject({ code: 1, stdout: '' })
  expect(replaced.stderr).toMatch(/✗ bad does not start: .*[Cc]orrect it with meup add bad --replace/)
  expect(replaced.stderr).not.toContain('may use it')
})

test('without a running meup up, it is added for the next start', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const args = ['add', 'tools', 'https://tools.example/mcp', '--header', 'X-Team: blue']
  const added = await meup(['-C', cwd, ...args], { cwd: dirname(cwd) })
  expect([added.code, added.stdout]).toEqual([0, `meup -C ${cwd} up\n`])
  expect(added.stderr).toContain('✓ tools is added to space.yaml: https://tools.example/mcp')
  expect(added.stderr).toContain('no gateway runs here; it counts from the next start')

  await startMeup('gateway', cwd)
  const other = await meup(['add', 'others', 'https://others.example/mcp'], { cwd })
  expect([other.code, other.stderr]).toEqual([
    0,
    expect.stringContaining('the running gateway has taken it over'),
  ])
})

test.for<[args: string[], code: string, details: object]>([
  [['x'], 'missing_server', { name: 'x' }],
  [['x', '--'], 'missing_server', { name: 'x' }],
  [['x', 'tools.example/mcp'], 'not_an_address', { value: 'tools.example/mcp' }],
  [['x', 'ws://tools.example'], 'not_an_address', { value: 'ws://tools.example' }],
  [['x', 'https://'], 'not_an_address', { value: 'https://' }],
  [['x', 'npx', 'a b'], 'not_an_address', { command: `meup add x -- npx 'a b'` }],
  [['x', 'https://a.example', 'b'], 'not_an_address', { value: 'https://a.example b' }],
  [['ana', 'https://a.example'], 'taken_name', { name: 'ana', kind: 'human' }],
  [['a b', 'https://a.example'], 'invalid_name', { name: 'a b' }],
])('meup add %j is refused', async ([args, code, details]) => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const refused = await meup(['add', '--json', ...args], { cwd })
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  expect(readError(refused)).toMatchObject({ code, details })
  expect(readFileSync(join(cwd, 'space.yaml'), 'utf8')).toBe(config)
})

test('a folder without a space has what to do', async () => {
  const { code, stderr } = await meup(['add', 'x', 'https://a.example'], { cwd: temporaryFolder() })
  expect([code, stderr]).toEqual([2, expect.stringContaining('meup init makes a space')])
})
