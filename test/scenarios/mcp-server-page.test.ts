import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test, vi } from 'vitest'
import { environment, meupCommand, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

vi.setConfig({ testTimeout: 60_000 })

const path = 'docs/mcp-server.md'
const page = readFileSync(join(repositoryRoot, path), 'utf8')
const snippets = snippetsOf(path)
const texts = (language: string) =>
  snippets.filter((each) => each.language === language).map(({ text }) => text)

interface Entry {
  readonly command: string
  readonly args: readonly string[]
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}
const [overStdio, overHttp] = texts('json').map(
  (text) => (JSON.parse(text) as { mcpServers: { demo: Entry } }).mcpServers.demo,
)

/** Starts the space of the page, below a temporary folder in place of a clone of this repository. Returns that folder. */
async function start(): Promise<string> {
  const clone = temporaryFolder()
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  writeSnippets(snippets, clone)
  mkdirSync(join(clone, 'demo/files'))
  await startMeup('up', join(clone, 'demo'), ['--listen', '127.0.0.1:0'])
  return clone
}

/** Converts a command of the page to the command that runs here. */
const commandOf = (words: readonly string[]): string[] => {
  expect(words[0]).toBe('meup')
  return meupCommand(words.slice(1))
}

async function connected(transport: Parameters<Client['connect']>[0]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  onTestFinished(() => client.close())
  await client.connect(transport)
  return client
}

/** Reads the first cells of a table's rows. */
const rowsUnder = (heading: string): string[] => {
  const section = page.slice(page.indexOf(`## ${heading}`)).split('\n## ')[0] ?? ''
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, cell = '']) => cell)
}

test('a client with the file of the page has the tools and the resources of the page', async () => {
  const clone = await start()
  const given = (overStdio?.args ?? []).map((each) => each.replace('/home/ana', clone))
  const [command = '', ...args] = commandOf([overStdio?.command ?? '', ...given])
  const client = await connected(new StdioClientTransport({ command, args }))
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  expect(rowsUnder('Tools').sort()).toEqual(names.filter((name) => !name.includes('__')).sort())
  expect(names).toContain('files__write_file')
  const { resources } = await client.listResources()
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(rowsUnder('Resources').sort()).toEqual(
    [...resources.map(({ uri }) => uri), ...resourceTemplates.map(({ uriTemplate }) => uriTemplate)].sort(),
  )
  const note = { path: 'note.txt', content: 'milk' }
  const { isError } = await client.callTool({ name: 'files__write_file', arguments: note })
  expect(isError).toBeFalsy()
  expect(readFileSync(join(clone, 'demo/files/note.txt'), 'utf8')).toBe('milk')
})

test('over HTTP, too', async () => {
  const clone = await start()
  const line = (texts('sh')[0] ?? '').trim()
  expect(overHttp?.url).toBe(`http://127.0.0.1:${/--http (\d+)/.exec(line)?.[1]}/mcp`)
  const [command = '', ...args] = commandOf(line.replace(/--http \d+/, '--http 0').split(' '))
  const server = spawn(command, args, { cwd: clone, env: environment({}) })
  onTestFinished(() => void server.kill('SIGKILL'))
  const [url] = (await once(createInterface({ input: server.stdout }), 'line')) as [string]
  const headers = Object.entries(overHttp?.headers ?? {}).map(([name, value]) => {
    const token = (_: string, file: string) => readFileSync(join(clone, file), 'utf8').trim()
    return [name, value.replace(/<what is in (\S+)>/, token)]
  })
  const requestInit = { headers: Object.fromEntries(headers) as Record<string, string> }
  const client = await connected(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(rowsUnder('Tools')))
})

test('the example goes as it tells, by its own checks', async () => {
  const [example, folder] = [join(repositoryRoot, 'examples/space-as-mcp'), temporaryFolder()]
  cpSync(example, folder, {
    recursive: true,
    filter: (file) => !['node_modules', '.meup'].includes(basename(file)),
  })
  symlinkSync(join(example, 'node_modules'), join(folder, 'node_modules'))
  const child = spawn(process.execPath, [join(folder, 'dist/start.js')], { env: environment({}) })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk
    })
  }
  const [code] = await once(child, 'close')
  expect([code, said]).toEqual([0, expect.stringContaining('Every step was as expected.')])
  const shown = /```text\n([\s\S]*?)```/.exec(readFileSync(join(example, 'README.md'), 'utf8'))?.[1]
  expect(said).toContain(shown?.split('  ┄ librarian concludes: That is')[0])
})
