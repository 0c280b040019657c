import { expect, test } from 'vitest'
import { listSettings, resolveAddress } from '../src/operator/settings.js'
import { configIn, folderWith } from './support/folder.js'

const env = { PORT: '9090', KEY: 'secret-key', TOOL_TOKEN: 'secret-token' }
const text = `version: 1
space: demo
gateway: { listen: "127.0.0.1:\${PORT}", trustProxy: true }
storage: { kind: memory }
limits: { contextDepth: 3 }
defaults:
  capabilities: [chat, "reasoning.*"]
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: agent }
  files:
    kind: mcp
    command: node
    args: [server.js, --token, "\${TOOL_TOKEN}"]
    env: { API_KEY: "\${KEY}", OTHER: plain-secret }
safety: { maxLength: 100, rules: [{ name: badge, pattern: B-secret }, { name: door, pattern: D }] }
`

function settings(yaml = text) {
  const all = listSettings(configIn('/srv', yaml, env), env)
  return { all, of: (name: string) => all.find((setting) => setting.name === name) }
}

test.for([
  ['gateway.listen', '127.0.0.1:9090', 'space.yaml:3, environment PORT'],
  ['gateway.hosts', 'none', 'default'],
  ['gateway.trustProxy', 'true', 'space.yaml:3'],
  ['gateway.origins', 'none', 'default'],
  ['storage.kind', 'memory', 'space.yaml:4'],
  ['auth', 'tokens in files alone', 'default'],
  ['space', 'demo', 'space.yaml:2'],
  ['limits.contextDepth', '3', 'space.yaml:5'],
  ['limits.contextLength', '255', 'default'],
  ['limits.rates.chat', '10 per second, burst 30', 'default'],
  ['retention.days', '30', 'default'],
  ['safety.onLeak', 'mask', 'default'],
  ['safety.maxLength', '100', 'space.yaml:16'],
  ['safety.policy', 'none', 'default'],
  ['safety.rules', 'badge door', 'space.yaml:16'],
  ['guest', 'none', 'default'],
  ['participants.ana.capabilities', '*', 'space.yaml:9'],
  ['participants.ben.capabilities', 'chat reasoning.*', 'space.yaml:7'],
  ['participants.files.command', 'node', 'space.yaml:13'],
  ['participants.files.args', `server.js --token \${TOOL_TOKEN}`, 'space.yaml:14, environment TOOL_TOKEN'],
  ['participants.files.env', 'API_KEY OTHER', 'space.yaml:15, environment KEY'],
] as const)('%s is %s (%s)', ([name, value, from]) => {
  expect(settings().of(name)).toEqual({ name, value, from })
})

test('an MCP server has capabilities of its own, whatever the others have', () => {
  expect(settings().of('participants.files.capabilities')).toMatchObject({ from: 'default' })
})

test('no secret is among them', () => {
  expect(JSON.stringify(settings().all)).not.toContain('secret')
})

test('of several spaces each has its own', () => {
  const { of } = settings(`version: 1
spaces:
  a:
    guest: { capabilities: [chat] }
    participants: { ana: { kind: human, limits: { rates: { chat: { perSecond: 2, burst: 4 } } } } }
  b:
    limits: { contextDepth: 2 }
`)
  expect(of('spaces.a.guest')).toMatchObject({ value: 'chat', from: 'space.yaml:4' })
  expect(of('spaces.a.limits.contextDepth')).toMatchObject({ value: '5', from: 'default' })
  expect(of('spaces.b.limits.contextDepth')).toMatchObject({ value: '2', from: 'space.yaml:7' })
  expect(of('spaces.a.participants.ana.limits.rates.chat')).toMatchObject({
    value: '2 per second, burst 4',
    from: 'space.yaml:5',
  })
})

test('a variable that is not set is told from one that is', () => {
  const yaml = `version: 1\nspace: demo\ngateway: { listen: "127.0.0.1:\${NO_PORT:-8081}" }\n`
  expect(settings(yaml).of('gateway.listen')).toMatchObject({
    value: '127.0.0.1:8081',
    from: 'space.yaml:3, NO_PORT is not set',
  })
})

const running = { url: 'http://a', spaces: ['s', 't'], pid: 1, people: { s: ['ana', 'ben'], t: ['cem'] } }
const tokens = {
  '.meup/tokens/s/ana': 'token-of-ana\n',
  '.meup/tokens/t/cem': 'token-of-cem\n',
  '.meup/tokens/s/zoe': 'token-of-zoe\n',
  given: 'token-from-file\n',
}

test.for([
  [{}, {}, ['http://a', 's', 'ana', 'token-of-ana']],
  [{ space: 't' }, {}, ['http://a', 't', 'cem', 'token-of-cem']],
  [{}, { MEUP_SPACE: 't' }, ['http://a', 't', 'cem', 'token-of-cem']],
  [{ as: 'zoe' }, { MEUP_TOKEN: 'mine' }, ['http://a', 's', 'zoe', 'token-of-zoe']],
  [{}, { MEUP_TOKEN: 'mine' }, ['http://a', 's', undefined, 'mine']],
  [{}, { MEUP_PARTICIPANT: 'zoe' }, ['http://a', 's', 'zoe', 'token-of-zoe']],
  [{ url: 'http://b' }, { MEUP_URL: 'http://c' }, ['http://b', 's', 'ana', 'token-of-ana']],
  [{}, { MEUP_URL: 'http://c' }, ['http://c', 's', 'ana', 'token-of-ana']],
  [{ tokenFile: 'given' }, { MEUP_TOKEN: 'mine' }, ['http://a', 's', undefined, 'token-from-file']],
] as const)('commands with %j and %j go where they would', ([flags, variables, expected]) => {
  const folder = folderWith(tokens)
  const given = 'tokenFile' in flags ? { tokenFile: `${folder}/${flags.tokenFile}` } : flags
  const { url, space, participant, token } = resolveAddress(given, variables, running, folder)
  expect([url, space, participant, token].map(({ value }) => value)).toEqual(expected)
})
