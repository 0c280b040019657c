import { expect, test } from 'vitest'
import { describeChanges, reload, selectApplicable } from '../src/run/reload.js'
import { configIn } from './support/folder.js'

const text = `
version: 1
space: demo
participants:
  ana: { kind: human, capabilities: [chat] }
  files: { kind: mcp, command: node, args: [a] }
`
const parse = (yaml: string) => configIn('/srv', yaml).config
const base = parse(text)

test('what can change while it runs is taken over', () => {
  const next = parse(
    text
      .replace('[chat]', '["*"]')
      .replace('space: demo', 'space: demo\nmcp: { visibility: addressees }')
      .replace('space: demo', 'space: demo\nauth: { jwt: { issuer: a, audience: b, jwks: c.json } }'),
  )
  expect(selectApplicable(base, next)).toEqual({ config: next, later: [] })
})

test.for([
  ['gateway', 'space: demo\ngateway: { listen: "127.0.0.1:9090" }'],
  ['storage', 'space: demo\nstorage: { kind: memory }'],
])('%s needs a new start; the rest is taken over', ([name, line]) => {
  const next = parse(text.replace('space: demo', line ?? '').replace('[chat]', '["*"]'))
  const { config, later } = selectApplicable(base, next)
  expect(later).toEqual([name])
  expect([config.gateway, config.storage]).toEqual([base.gateway, base.storage])
  expect(config.spaces).toEqual(next.spaces)
})

test('spaces neither begin nor end while it runs', () => {
  const space = '{ participants: { ana: { kind: human } } }'
  const [ab, bc] = ['a b', 'b c'].map((names) => {
    const spaces = names.split(' ').map((name) => `  ${name}: ${space}`)
    return parse(`version: 1\nspaces:\n${spaces.join('\n')}\n`)
  })
  if (ab === undefined || bc === undefined) throw new Error('no spaces')
  const { config, later } = selectApplicable(ab, bc)
  expect(later).toEqual(['the new space c', 'the end of the space a'])
  expect(config.spaces.map((entry) => entry.config.name)).toEqual(['a', 'b'])
  expect(selectApplicable(ab, base).later).toEqual([
    'space or spaces',
    'the new space demo',
    'the end of the space a',
    'the end of the space b',
  ])
})

test('a reload reports the warnings that are new', async () => {
  const running = { config: base, tokens: {}, jwt: undefined, reload: async () => [] }
  const wrong = parse(text.replace('[chat]', '["resoning.*"]'))
  const { warnings } = await reload(running, () => wrong)
  expect(warnings).toEqual([expect.stringContaining('reasoning.*')])
  expect(await reload({ ...running, config: wrong }, () => wrong)).toMatchObject({ warnings: [] })
})

test.for([
  ['[chat]', '["*"]', ['ana has other capabilities']],
  ['[chat]', '[chat], limits: { rates: { chat: { perSecond: 1, burst: 1 } } }', ['ana has other rates']],
  ['kind: human', 'kind: agent', ['ana has another kind']],
  ['args: [a]', 'args: [b]', ['files has another program']],
  ['  ana', '  ben: { kind: agent }\n  ana', ['ben was added']],
  ['  ana: { kind: human, capabilities: [chat] }\n', '', ['ana was removed']],
  ['space: demo', 'space: demo\nlimits: { contextDepth: 3 }', ['limits changed']],
  ['space: demo', 'space: demo\ndefaults: { capabilities: [] }', ['defaults changed']],
  ['space: demo', 'space: demo\nguest: {}', ['guest changed']],
  ['space: demo', 'space: demo\nretention: { days: 1 }', ['retention changed']],
  ['space: demo', 'space: demo\nsafety: { onLeak: block }', ['safety changed']],
  ['space: demo', '# nothing\nspace: demo', []],
] as const)('tells the change from %j to %j', ([from, to, changes]) => {
  expect(text).toContain(from)
  expect(describeChanges(base, parse(text.replace(from, to)))).toEqual(changes)
})
