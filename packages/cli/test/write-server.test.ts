import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ConfigError } from '../src/config/config-error.js'
import { loadConfig } from '../src/config/load.js'
import { UsageError } from '../src/lib/exit.js'
import { type ServerRequest, writeServer } from '../src/operator/write-server.js'
import { folderWith } from './support/folder.js'
import { refused } from './support/refused.js'

afterEach(() => void vi.unstubAllEnvs())

const of = (name: string): string => `\${${name}}`

const config = `# Ours.
version: 1
space: demo

participants:
  ana: { kind: human, capabilities: ["*"] } # me
  old: { kind: mcp, url: "https://old.example/mcp", capabilities: [mcp.response], limits: { callMs: 5 } }
`

interface Given {
  readonly text?: string
  readonly files?: Readonly<Record<string, string>>
}

/** Adds a server, from the space's folder. */
function add(request: Partial<ServerRequest> & Given = {}) {
  const { text = config, files = {}, ...rest } = request
  const directory = folderWith({ 'space.yaml': text, ...files })
  const path = join(directory, 'space.yaml')
  const readYaml = () => readFileSync(path, 'utf8')
  const act = () =>
    writeServer(path, { name: 'new', target: { command: ['npx', '-y', 'x'] }, ...rest }, directory)
  return { directory, path, act, readYaml }
}

const readSecret = (directory: string, name: string): string =>
  readFileSync(join(directory, '.meup/secrets', name), 'utf8')

test('a command is written as a participant behind the others', () => {
  const { act, readYaml, path } = add({ env: ['REGION=eu', 'EMPTY='] })
  expect(act()).toMatchObject({ change: 'added', isStarted: true, secrets: [], notices: [] })
  expect(readYaml()).toBe(`${config}
  new:
    kind: mcp
    command: npx
    args:
      - -y
      - x
    env:
      REGION: eu
      EMPTY: ""
`)
  expect(loadConfig(path).spaces[0]?.programs.new).toMatchObject({ command: 'npx', args: ['-y', 'x'] })
})

test('what was added is taken back with its secrets, unless the file has changed since', () => {
  const { act, readYaml, directory, path } = add({
    env: ['API_TOKEN=hush-1', 'OLD_TOKEN=hush-2'],
    files: { '.meup/secrets/OLD_TOKEN': 'hush-2\n' },
  })
  expect(act().takeBack()).toBe(true)
  expect(readYaml()).toBe(config)
  expect(readSecret(directory, 'OLD_TOKEN')).toBe('hush-2\n')
  expect(existsSync(join(directory, '.meup/secrets/API_TOKEN'))).toBe(false)
  const again = act()
  writeFileSync(path, `${readYaml()}# mine\n`)
  expect(again.takeBack()).toBe(false)
  expect(readYaml()).toContain('# mine')
})

test('an address is written with its headers', () => {
  const header = ['X-Team: blue', 'Authorization:Bearer hush-hush']
  const { act, readYaml, path, directory } = add({ target: { url: 'https://new.example/mcp' }, header })
  expect(act()).toMatchObject({ secrets: ['NEW_AUTHORIZATION'] })
  expect(readYaml()).not.toContain('hush')
  expect(readSecret(directory, 'NEW_AUTHORIZATION')).toBe('Bearer hush-hush\n')
  expect(statSync(join(directory, '.meup/secrets/NEW_AUTHORIZATION')).mode & 0o777).toBe(0o600)
  expect(loadConfig(path).spaces[0]?.programs.new).toMatchObject({
    url: 'https://new.example/mcp',
    headers: { 'X-Team': 'blue', Authorization: 'Bearer hush-hush' },
  })
})

describe('secrets', () => {
  test('stay out of the file, and never change those of other servers', () => {
    const { act, readYaml, directory } = add({
      env: ['API_TOKEN=hush-2'],
      text: config.replace('url: "https://old.example/mcp"', `command: o, env: { A: "${of('API_TOKEN')}" }`),
      files: { '.meup/secrets/API_TOKEN': 'hush-1\n' },
    })
    expect(act().secrets).toEqual(['NEW_API_TOKEN'])
    expect(readYaml()).toContain(`API_TOKEN: ${of('NEW_API_TOKEN')}`)
    expect([readSecret(directory, 'API_TOKEN'), readSecret(directory, 'NEW_API_TOKEN')]).toEqual([
      'hush-1\n',
      'hush-2\n',
    ])
  })

  test('of a replaced server are replaced', () => {
    const { act, directory } = add({
      name: 'old',
      replace: true,
      env: ['API_TOKEN=hush-2'],
      text: config.replace('url: "https://old.example/mcp"', `command: o, env: { A: "${of('API_TOKEN')}" }`),
      files: { '.meup/secrets/API_TOKEN': 'hush-1\n' },
    })
    expect(act()).toMatchObject({ change: 'replaced', secrets: ['API_TOKEN'] })
    expect(readSecret(directory, 'API_TOKEN')).toBe('hush-2\n')
  })

  test('do not take a variable that the environment has otherwise, which would win', () => {
    vi.stubEnv('SOME_TOKEN', 'hush-0')
    expect(add({ env: ['SOME_TOKEN=hush-1'] }).act().secrets).toEqual(['NEW_SOME_TOKEN'])
    expect(add({ env: ['SOME_TOKEN=hush-0'] }).act().secrets).toEqual(['SOME_TOKEN'])
  })
})

describe('--env NAME', () => {
  test('takes the value from the environment, whatever it holds, and keeps it for the next start', () => {
    vi.stubEnv('MY_SETTING', `a ${of('B')} $C`)
    const { act, readYaml, directory, path } = add({ env: ['MY_SETTING'] })
    expect(act().secrets).toEqual(['MY_SETTING'])
    expect(readYaml()).toContain(`MY_SETTING: ${of('MY_SETTING')}`)
    expect(readSecret(directory, 'MY_SETTING')).toBe(`a ${of('B')} $C\n`)
    expect(loadConfig(path, {}).spaces[0]?.programs.new).toMatchObject({
      env: { MY_SETTING: `a ${of('B')} $C` },
    })
  })

  test('is refused if it is not set', () => {
    expect(add({ env: ['NOT_SET_HERE'] }).act).toThrow(refused('unset_here', { variable: 'NOT_SET_HERE' }))
  })
})

describe('--replace', () => {
  const replaced = { name: 'old', replace: true }

  test('keeps what is not about the command or the address', () => {
    const { act, readYaml } = add(replaced)
    expect(act()).toMatchObject({ change: 'replaced', isStarted: true })
    expect(readYaml()).toContain(`  old:
    kind: mcp
    command: npx
    args:
      - -y
      - x
    capabilities:
      - mcp.response
    limits:
      callMs: 5
`)
    expect(readYaml()).not.toContain('old.example')
  })

  test('writes nothing when nothing changes', () => {
    const first = add(replaced)
    first.act()
    const text = first.readYaml()
    expect(first.act()).toMatchObject({ change: 'none', isStarted: false })
    expect(first.readYaml()).toBe(text)
  })

  test('adds a server that is not there yet', () => {
    expect(add({ replace: true }).act()).toMatchObject({ change: 'added' })
  })
})

test('in a file with several spaces, the space is named', () => {
  const text =
    'version: 1\nspaces:\n  a:\n    participants:\n      ana: { kind: human }\n  b:\n    participants:\n      ben: { kind: human }\n'
  expect(add({ text }).act).toThrow(refused('ambiguous_space', { spaces: ['a', 'b'] }))
  expect(add({ text, space: 'c' }).act).toThrow(refused('unknown_name', { what: 'space', name: 'c' }))
  const { act, path } = add({ text, space: 'b' })
  act()
  expect(loadConfig(path).spaces.map(({ programs }) => Object.keys(programs))).toEqual([[], ['new']])
})

test('a command line in quotes is split, and relative paths are those of the folder where it is typed', () => {
  const split = add({ target: { command: ['npx -y x'] } }).act()
  expect(split).toMatchObject({ participant: { command: 'npx', args: ['-y', 'x'] } })
  expect(split.notices).toEqual(['its command is split into words: npx -y x'])
  const here = add({ target: { command: ['./serve', '../docs'] } })
  expect(here.act().participant).toEqual({ kind: 'mcp', command: './serve', args: ['../docs'] })
  const elsewhere = folderWith()
  const request = { name: 'new', target: { command: ['./serve', 'x'] } }
  expect(writeServer(add().path, request, elsewhere).participant).toEqual({
    kind: 'mcp',
    command: join(elsewhere, 'serve'),
    args: ['x'],
    cwd: elsewhere,
  })
})

test('the file keeps its mode, and a link stays one', () => {
  const { act, path, directory } = add()
  chmodSync(path, 0o640)
  const link = join(directory, 'link.yaml')
  symlinkSync('space.yaml', link)
  writeServer(link, { name: 'other', target: { url: 'https://o.example/mcp' } }, directory)
  act()
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(statSync(path).mode & 0o777).toBe(0o640)
  expect(Object.keys(loadConfig(path).spaces[0]?.programs ?? {})).toEqual(['old', 'other', 'new'])
})

test('a variable that the gateway alone has does not keep a server out', () => {
  const text = config.replace('https://old.example/mcp', of('URL_OF_OLD'))
  expect(add({ text }).act()).toMatchObject({ change: 'added' })
})

describe('what cannot be added leaves the file as it was', () => {
  const url = { url: 'https://new.example/mcp' }
  test.for<[request: Partial<ServerRequest> & Given, reason: RegExp | ReturnType<typeof refused>]>([
    [{ name: 'old' }, refused('server_exists', { name: 'old' })],
    [{ name: 'ana', replace: true }, refused('taken_name', { name: 'ana', kind: 'human' })],
    [{ name: 'a b' }, refused('invalid_name', { name: 'a b' })],
    [{ name: '' }, refused('invalid_name')],
    [{ name: 'x'.repeat(65) }, refused('invalid_name')],
    [{ name: '__proto__' }, refused('invalid_name')],
    [{ name: 'Ana' }, refused('imitated_name', { name: 'Ana', other: 'ana' })],
    [{ name: 'gateway' }, refused('imitated_name', { other: 'system:gateway' })],
    [{ target: { url: 'https://u:p@new.example' } }, /new cannot be added: url must be an address/],
    [
      { target: { url: 'https://new.example/sse' } },
      /it speaks HTTP with SSE, and only .* then: meup add <name> <url>\.$/,
    ],
    [{ target: { command: ['x | y'] } }, /needs a shell/],
    [{ target: url, env: ['A=b'] }, refused('misplaced_secret', { option: '--env' })],
    [{ header: ['A: b'] }, refused('misplaced_secret', { option: '--header' })],
    [{ target: url, header: ['hush'] }, refused('invalid_form', { option: '--header' })],
    [{ target: url, header: ['A: b\nc'] }, /headers\.A must be one line/],
    [{ env: ['MY-VAR=hush'] }, refused('invalid_form', { option: '--env' })],
    [{ env: [`A=${of('NOT_SET_HERE')}`] }, refused('unset_in_file', { variable: 'NOT_SET_HERE' })],
    [{ env: [`A=${of('input:key')}`] }, refused('unset_in_file', { variable: 'KEY' })],
    [{ env: [`A=${of('config:key')}`] }, /it uses \$\{config:key\}/],
    [
      {
        text: config.replace('participants:', 'x: &all\n  kim: { kind: human }\nparticipants: *all\nlimits:'),
      },
      /x: is not known here/,
    ],
  ])('%j', ([request, reason]) => {
    const { act, readYaml, directory } = add(request)
    const before = readYaml()
    expect(act).toThrow(reason)
    expect(act).toThrow(request.text === undefined ? UsageError : ConfigError)
    expect(act).not.toThrow(/hush/)
    expect(readYaml()).toBe(before)
    expect(existsSync(join(directory, '.meup'))).toBe(false)
  })

  test('a folder without space.yaml', () => {
    const request = { name: 'new', target: url }
    expect(() => writeServer(join(folderWith(), 'space.yaml'), request)).toThrow(
      /there is no such file, the folder is empty; meup init makes a space/,
    )
  })

  test('an alias of participants', () => {
    const several = 'version: 1\nspaces:\n  a: &a\n    participants:\n      ana: { kind: human }\n  b: *a\n'
    const { act } = add({ text: several, space: 'b' })
    expect(act).toThrow(
      refused('aliased_participants', { block: expect.stringMatching(/^new:\n {2}kind: mcp/) }),
    )
  })
})
