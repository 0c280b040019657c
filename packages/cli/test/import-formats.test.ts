import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { UsageCode } from '../src/failure/usage.js'
import { importServers } from '../src/operator/import/import-servers.js'
import { folderWith } from './support/folder.js'
import { refused } from './support/refused.js'

const of = (name: string): string => `\${${name}}`

function read(files: Record<string, string | Buffer>, directory = '/srv') {
  const folder = folderWith(files)
  const paths = Object.keys(files).map((name) => join(folder, name))
  const { participants, ...rest } = importServers(paths, { taken: ['ana'], directory })
  return { folder, participants, ...rest }
}

/** The files are examples from each program's documentation. */
describe('files of other programs are read by their content', () => {
  test('VS Code: mcp.json with inputs and comments', () => {
    const { participants, inputs, variables, uses } = read({
      '.vscode/mcp.json': `{
  // 💡 Inputs are prompted on first server start, then stored securely by VS Code.
  "inputs": [
    {
      "type": "promptString",
      "id": "perplexity-key",
      "description": "Perplexity API Key",
      "password": true
    }
  ],
  "servers": {
    // https://github.com/ppl-ai/modelcontextprotocol/
    "Perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask"],
      "env": {
        "PERPLEXITY_API_KEY": "\${input:perplexity-key}"
      }
    },
    "fetch": { "command": "uvx", "args": ["mcp-server-fetch"] },
  },
}`,
    })
    expect(participants).toEqual({
      Perplexity: {
        kind: 'mcp',
        command: 'npx',
        args: ['-y', 'server-perplexity-ask'],
        env: { PERPLEXITY_API_KEY: of('PERPLEXITY_KEY') },
      },
      fetch: { kind: 'mcp', command: 'uvx', args: ['mcp-server-fetch'] },
    })
    expect(inputs).toEqual({ PERPLEXITY_KEY: { description: 'Perplexity API Key', isPassword: true } })
    expect(variables).toEqual([])
    expect(uses[0]).toMatchObject({ variables: ['PERPLEXITY_KEY'] })
  })

  test('VS Code: settings.json, with the folder of the workspace', () => {
    const { participants, folder } = read({
      '.vscode/settings.json': `{"editor.tabSize": 2, "mcp": {"servers": {
        "fs": {"command": "npx", "args": ["-y", "server-fs", "\${workspaceFolder}/docs"], "cwd": "\${workspaceFolder}"},
        "home": {"command": "node", "args": ["~/serve.js", "\${userHome}\${/}x"]}}}}`,
    })
    expect(participants).toMatchObject({
      fs: { args: ['-y', 'server-fs', join(folder, 'docs')], cwd: folder },
      home: { args: [join(homedir(), 'serve.js'), join(homedir(), 'x')] },
    })
  })

  test('~/.claude.json: servers of the user, and of this project', () => {
    const file = JSON.stringify({
      numStartups: 3,
      mcpServers: { airtable: { type: 'stdio', command: 'npx', args: ['-y', 'airtable-mcp-server'] } },
      projects: {
        '/home/ana/a': {
          allowedTools: [],
          mcpServers: { stripe: { type: 'http', url: 'https://mcp.stripe.com' } },
        },
        '/home/ana/b': { mcpServers: { other: { command: 'other' } } },
        '/home/ana/c': { mcpServers: {} },
      },
    })
    expect(read({ '.claude.json': file }, '/home/ana/a').participants).toEqual({
      airtable: { kind: 'mcp', command: 'npx', args: ['-y', 'airtable-mcp-server'] },
      stripe: { kind: 'mcp', url: 'https://mcp.stripe.com' },
    })
    const elsewhere = read({ '.claude.json': file }, '/home/ana/c')
    expect(Object.keys(elsewhere.participants)).toEqual(['airtable', 'stripe', 'other'])
    expect(elsewhere.notices).toEqual([
      'the servers of all projects in it are added, since none of them is /home/ana/c: /home/ana/a, /home/ana/b',
    ])
  })

  test('opencode', () => {
    const { participants, variables, notices } = read({
      'opencode.jsonc': `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "my-local-mcp-server": {
      "type": "local",
      // Or ["bun", "x", "my-mcp-command"]
      "command": ["npx", "-y", "my-mcp-command"],
      "enabled": true,
      "environment": { "MY_ENV_VAR": "my_env_var_value" },
    },
    "my-remote-mcp": {
      "type": "remote",
      "url": "https://my-mcp-server.com",
      "enabled": true,
      "headers": { "Authorization": "Bearer {env:MY_API_KEY}" }
    },
    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false },
    "note": { "type": "remote", "url": "https://n.example/mcp", "headers": { "x": "{file:~/.note}" } }
  }
}`,
    })
    expect(participants).toEqual({
      'my-local-mcp-server': {
        kind: 'mcp',
        command: 'npx',
        args: ['-y', 'my-mcp-command'],
        env: { MY_ENV_VAR: 'my_env_var_value' },
      },
      'my-remote-mcp': {
        kind: 'mcp',
        url: 'https://my-mcp-server.com',
        headers: { Authorization: `Bearer ${of('MY_API_KEY')}` },
      },
    })
    expect(variables).toEqual(['MY_API_KEY'])
    expect(notices).toEqual([
      expect.stringMatching(/opencode\.jsonc:17:72 jira is left out: it is disabled there$/),
      expect.stringMatching(/opencode\.jsonc:18:78 note is left out: it uses \{file:~\/\.note\}/),
    ])
  })

  test('Zed', () => {
    const { participants, notices } = read({
      'settings.json': `{
  "theme": "One Dark",
  "context_servers": {
    "local-mcp-server": { "command": "some-command", "args": ["arg-1", "arg-2"], "env": {} },
    "older": { "command": { "path": "old-command", "args": ["x"], "env": { "A": "b" } }, "settings": {} },
    "remote-mcp-server": { "url": "https://mcp.example/mcp", "headers": { "Authorization": "Bearer <token>" } },
    "of-extension": { "source": "extension", "enabled": true, "settings": {} }
  }
}`,
    })
    expect(participants).toEqual({
      'local-mcp-server': { kind: 'mcp', command: 'some-command', args: ['arg-1', 'arg-2'] },
      older: { kind: 'mcp', command: 'old-command', args: ['x'], env: { A: 'b' } },
      'remote-mcp-server': {
        kind: 'mcp',
        url: 'https://mcp.example/mcp',
        headers: { Authorization: of('REMOTE_MCP_SERVER_AUTHORIZATION') },
      },
    })
    expect(notices).toContainEqual(expect.stringContaining('of-extension is left out: it has neither'))
  })

  test('Codex: config.toml', () => {
    const { participants, variables, notices } = read({
      'config.toml': `model = "gpt-5-codex"

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["LOCAL_TOKEN"]
startup_timeout_sec = 20

[mcp_servers.context7.env]
MY_ENV_VAR = "MY_ENV_VALUE"

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_OAUTH_TOKEN"
http_headers = { "X-Figma-Region" = "us-east-1" }
env_http_headers = { "X-Team" = "TEAM" }

[mcp_servers.off]
command = "off"
enabled = false
`,
    })
    expect(participants).toEqual({
      context7: {
        kind: 'mcp',
        command: 'npx',
        args: ['-y', '@upstash/context7-mcp'],
        env: { LOCAL_TOKEN: of('LOCAL_TOKEN'), MY_ENV_VAR: 'MY_ENV_VALUE' },
      },
      figma: {
        kind: 'mcp',
        url: 'https://mcp.figma.com/mcp',
        headers: {
          'X-Figma-Region': 'us-east-1',
          'X-Team': of('TEAM'),
          Authorization: `Bearer ${of('FIGMA_OAUTH_TOKEN')}`,
        },
      },
    })
    expect(variables).toEqual(['LOCAL_TOKEN', 'TEAM', 'FIGMA_OAUTH_TOKEN'])
    expect(notices).toEqual([
      expect.stringMatching(/config\.toml:18:1 off is left out: it is disabled there$/),
      'these settings are not used: startup_timeout_sec',
    ])
  })

  test('Cursor, Windsurf and Gemini CLI', () => {
    const { participants, notices } = read({
      'settings.json': JSON.stringify({
        mcp: { allowed: ['a'] },
        mcpServers: {
          a: {
            command: 'python',
            args: ['-m', 'my'],
            env: { DATABASE_URL: '$DB_URL' },
            timeout: 15_000,
            trust: true,
          },
          b: { httpUrl: 'https://b.example/mcp', headers: { Authorization: `Bearer ${of('env:B_TOKEN')}` } },
          c: { serverUrl: 'https://c.example/mcp', alwaysAllow: [], autoApprove: [] },
        },
      }),
    })
    expect(participants).toEqual({
      a: { kind: 'mcp', command: 'python', args: ['-m', 'my'], env: { DATABASE_URL: of('DB_URL') } },
      b: { kind: 'mcp', url: 'https://b.example/mcp', headers: { Authorization: `Bearer ${of('B_TOKEN')}` } },
      c: { kind: 'mcp', url: 'https://c.example/mcp' },
    })
    expect(notices).toEqual(['these settings are not used: alwaysAllow, autoApprove, timeout, trust'])
  })
})

const one = `{"mcpServers":{"a":{"command":"x","env":{"K":"v"}}}}`

test.for<[encoding: string, bytes: Buffer]>([
  ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${one}`)],
  ['UTF-16LE', Buffer.from(`\uFEFF${one}`, 'utf16le')],
  ['UTF-16BE', Buffer.from(`\uFEFF${one}`, 'utf16le').swap16()],
])('%s is read', ([, bytes]) => {
  expect(read({ 'mcp.json': bytes }).participants).toEqual({
    a: { kind: 'mcp', command: 'x', env: { K: 'v' } },
  })
})

describe('several files', () => {
  test('two servers of one name get different ids, and the same server is added once', () => {
    const { participants } = read({
      'a.json': one,
      'b.json': `{"servers":{"a":{"command":"y"}}}`,
      'c.json': one,
    })
    expect(participants).toMatchObject({ a: { command: 'x' }, 'a-2': { command: 'y' } })
    expect(Object.keys(participants)).toHaveLength(2)
  })
})

describe('two servers of one name in a file', () => {
  test('the last one counts, as in the program of the file, and that is said', () => {
    const { participants, notices } = read({
      'mcp.json': `{"mcpServers":{\n"a":{"command":"x"},\n"b":{"command":"y"},\n"a":{"command":"z"}}}`,
    })
    expect(participants).toEqual({ a: { kind: 'mcp', command: 'z' }, b: { kind: 'mcp', command: 'y' } })
    expect(notices).toEqual([expect.stringMatching(/mcp\.json:4:1 a is there twice; the last one is taken$/)])
  })

  test('a mistake in it has the place of the last one', () => {
    const file = `{"mcpServers":{\n"a":{"command":"x"},\n"a":{"command":7},\n"b":{"command":"y"}}}`
    expect(read({ 'mcp.json': file }).notices).toContainEqual(
      expect.stringMatching(/mcp\.json:3:6 a is left out: command must be text$/),
    )
  })

  test('TOML does not allow it', () => {
    const table = '[mcp_servers.a]\ncommand = "x"\n'
    expect(() => read({ 'config.toml': table + table })).toThrow(
      refused('unknown_format', { place: expect.stringMatching(/config\.toml:3:\d+$/) }),
    )
  })
})

describe('what other programs write otherwise', () => {
  const usual = (server: object) => read({ 'mcp.json': JSON.stringify({ mcpServers: { a: server } }) })

  test.for<[command: string, args: string[], words: string[]]>([
    ['npx -y x', ['--port', '1'], ['npx', '-y', 'x', '--port', '1']],
    [`uvx --from 'a b' "c d"`, [], ['uvx', '--from', 'a b', 'c d']],
    ['cmd', ['/c', 'npx', '-y', 'x'], ['npx', '-y', 'x']],
    ['cmd.exe', ['/C', 'npx'], ['npx']],
    ['cmd /c npx -y x', [], ['npx', '-y', 'x']],
    ['C:\\Program Files\\node.exe', ['x.js'], ['C:\\Program Files\\node.exe', 'x.js']],
  ])('%s %j runs %j', ([command, args, [program = '', ...rest]]) => {
    const { participants, notices } = usual({ command, args })
    expect(participants.a).toEqual({ kind: 'mcp', command: program, ...(rest.length > 0 && { args: rest }) })
    expect(notices.length > 0).toBe(program !== command)
  })

  test.for<[server: object, reason: RegExp]>([
    [
      { type: 'sse', url: 'https://a.example/sse' },
      /mcp\.json:1:21 a is left out: it speaks HTTP with SSE, and only/,
    ],
    [{ url: 'https://a.example/sse/?k=1' }, /HTTP with SSE.* ends in \/mcp, then: meup add <name> <url>/],
    [{ transport: 'sse', url: 'https://a.example/mcp' }, /HTTP with SSE/],
    [{ type: 'ws', url: 'wss://a.example' }, /its type is ws/],
    [{ url: 'wss://a.example' }, /mcp\.json:1:21 a is left out: url must be an address/],
    [{ command: 'x', env: { 'MY-VAR': '1' } }, /mcp\.json:1:42 a is left out: env\.MY-VAR/],
    [{ command: 'x', env: { A: of('config:y') } }, /mcp\.json:1:42 a is left out: it uses \$\{config:y\}/],
    [{ command: 'x', args: [{}] }, /args must be a list of texts/],
    [{ command: 'x | y' }, /needs a shell/],
    [{ command: 7 }, /command must be text/],
    [{ command: null }, /neither a command nor a url/],
  ])('%j is left out, with its place', ([server, reason]) => {
    expect(() => usual(server)).toThrow(reason)
  })

  test('names that no participant can have are changed', () => {
    const { participants } = read({
      'mcp.json': JSON.stringify({
        mcpServers: { 'guest-book': { command: 'x' }, '@org/tool': { command: 'x' } },
      }),
    })
    expect(Object.keys(participants)).toEqual(['mcp-guest-book', 'org-tool'])
  })
})

test.for<[name: string, content: string | Buffer, code: UsageCode, reason: RegExp, place: string]>([
  ['a brace alone', '{', 'damaged_json', /^close brace expected$/, ':1:2'],
  ['a missing comma', '{\n  "a": 1\n  "mcpServers": {}\n}', 'damaged_json', /^comma expected$/, ':3:3'],
  ['neither JSON nor TOML', 'servers:\n  - a\n', 'unknown_format', /neither JSON nor TOML/, ':1:8'],
  ['another JSON file', '{"name":"x","version":"1"}', 'unknown_format', /name, version/, ''],
  ['a list of servers', '{"mcpServers":[]}', 'unknown_format', /mcpServers/, ''],
  ['no servers', '{"mcpServers":{}}', 'no_servers', /no servers/, ''],
  ['nothing', '', 'no_servers', /empty/, ''],
  ['white space', ' \n', 'no_servers', /empty/, ''],
  [
    'an image',
    Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
    'no_servers',
    /not text in UTF-8 or UTF-16/,
    '',
  ],
  ['zeros', Buffer.alloc(100), 'no_servers', /not text/, ''],
  ['5 MiB', Buffer.alloc(5 * 2 ** 20, 'a'), 'no_servers', /larger than 4 MiB/, ''],
  ['deep nesting', `{"mcpServers":${'['.repeat(200_000)}`, 'no_servers', /nested too deep/, ''],
])('%s is refused with its place', ([, content, code, reason, place]) => {
  const file = expect.stringMatching(new RegExp(`mcp\\.json${place}$`))
  expect(() => read({ 'mcp.json': content })).toThrow(
    refused(code, {
      reason: expect.stringMatching(reason),
      [code === 'no_servers' ? 'path' : 'place']: file,
    }),
  )
})

describe('a path that cannot be read is refused', () => {
  const refusalOf = (path: string) => expect(() => importServers([path], { taken: [], directory: '/srv' }))

  test('a folder', () => {
    const folder = folderWith()
    mkdirSync(join(folder, 'sub'))
    refusalOf(join(folder, 'sub')).toThrow(refused('no_servers', { reason: 'it is a folder' }))
  })

  test('no file, a path below a file, and a link to nothing', () => {
    const folder = folderWith({ 'mcp.json': one })
    symlinkSync('gone.json', join(folder, 'link.json'))
    for (const name of ['no.json', 'mcp.json/mcp.json', 'link.json'])
      refusalOf(join(folder, name)).toThrow(refused('missing_file', { path: join(folder, name) }))
  })

  test('a file in the home of somebody else', () => {
    const folder = folderWith({ 'home/mcp.json': one })
    const file = join(folder, 'home/mcp.json')
    asSomebodyElse(folder, () => refusalOf(file).toThrow(refused('forbidden_file', { path: file })))
  })
})

/** Runs an action as a user without access to this folder. Root has access to everything, so it becomes `nobody`. */
function asSomebodyElse(folder: string, act: () => void): void {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.('nobody')
  else chmodSync(folder, 0)
  try {
    act()
  } finally {
    if (isRoot) process.seteuid?.(0)
    else chmodSync(folder, 0o700)
  }
}
