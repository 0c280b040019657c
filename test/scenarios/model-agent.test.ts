import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { type ModelRequest, scriptedModel } from '@meup/agent-sdk/ai'
import { createGateway, memoryStore, serve, tokenAuthenticator } from '@meup/gateway'
import { FakeClock, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { calling, saying, serveModel } from '../support/model-server.js'
import { readText } from '../support/packages.js'
import { printedBy, startProgram } from '../support/page-programs.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

const server = 'examples/model-agent/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'
const participants = { ana: ['*'], bot: ['chat', 'reasoning.*', 'mcp.*'], files: ['mcp.*'] }
const name = 'reviews'
const page = snippetsOf('docs/model-agent.md')

/** Starts a real gateway on a socket; `join` connects a participant. */
async function openSpace(): Promise<{ url: string; join(id: string): Promise<SpaceClient> }> {
  const tokens = Object.fromEntries(Object.keys(participants).map((id) => [id, testToken(id)]))
  const gateway = await createGateway({
    spaces: [testSpaceConfig({ name, participants })],
    store: memoryStore(),
    clock: new FakeClock(),
    authenticator: tokenAuthenticator({ [name]: tokens }),
  })
  const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(close)
  return { url, join: (id) => connect({ url, space: name, token: testToken(id) }) }
}

async function bridgeFiles(join: (id: string) => Promise<SpaceClient>, folder: string): Promise<void> {
  const files = await bridgeMcpServer({
    connect: () => join('files'),
    name: 'files',
    command: process.execPath,
    args: [`${repositoryRoot}/${server}`, folder],
    env: {},
  })
  onTestFinished(() => files.close())
}

const thought = 'The report will tell. First I look where it is.'
/** Data that only the provider can read, and that it requires back. */
const sealed = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'gAAAA+opaque' } }

/** The scripted model: two steps with tool calls, then an answer. */
const model = () =>
  scriptedModel(
    [
      [
        { reasoning: thought },
        { reasoning: '', attached: sealed },
        { text: 'Let me see what there is.' },
        { call: 'files__list_directory', input: { _rationale: 'to find the report', path: '.' } },
      ],
      [{ text: 'There is one report.' }, { call: 'files__read_text_file', input: { path: 'report.txt' } }],
      [{ text: 'Do not deploy yet: **test 2 fails**.' }],
    ],
    { provider: 'openai.responses', modelId: 'gpt' },
  )

/** Replaces ids and times, which differ between runs. */
function settled(value: unknown): string {
  const names = new Map<string, string>()
  const json = JSON.stringify(value, null, 2).replace(/"ms": \d+/g, '"ms": 0')
  return json.replace(/(?<![\w-])[\w-]{21}(?![\w-])/g, (id) => {
    if (id.startsWith('files__')) return id
    const known = names.get(id) ?? `<${names.size + 1}>`
    names.set(id, known)
    return known
  })
}

/** Whether an envelope is part of the story. Lists of tools are not, because they would fill pages. */
const isOfTheStory = ({ kind, payload }: AnyEnvelope): boolean =>
  kind !== Kind.systemPresence &&
  kind !== Kind.systemSpace &&
  (payload as { method?: string }).method !== 'tools/list' &&
  (payload as { result?: { tools?: unknown } }).result?.tools === undefined

const promptOf = ({ prompt, tools = [] }: ModelRequest) => ({ prompt, tools: tools.map((tool) => tool.name) })

test('envelopes, turns and prompts of a loop of two steps with a real file server are as the golden files', async () => {
  const { url, join: enter } = await openSpace()
  await bridgeFiles(enter, temporaryFolder({ 'report.txt': 'ok 1\nFAIL 2\n' }))
  const [ana, bot, scripted] = [await enter('ana'), await enter('bot'), model()]
  onTestFinished(() => [ana, bot].forEach((seat) => void seat.close()))
  await bot.whenPresent(['files'])
  void bot.agent({
    model: scripted,
    transcript: 'off', // Its hash differs from one run to the next.
    instructions: 'You review.',
    tools: ['files/list_directory', 'files/read_text_file'],
  })
  await ana.ask('Can we deploy?', { to: ['bot'] })

  const get = async (path: string) => {
    const response = await fetch(`${url}/spaces/${name}/${path}`, {
      headers: { authorization: `Bearer ${testToken('ana')}` },
    })
    return (await response.json()) as Record<string, unknown>
  }
  const { envelopes } = (await get('envelopes?limit=1000')) as { envelopes: AnyEnvelope[] }
  const { turns } = await get(`turns?thread_id=${name}/bot`)
  const story = envelopes.filter(isOfTheStory).map(({ seq: _, ...envelope }) => envelope)
  await expect(settled(story)).toMatchFileSnapshot('../golden/model-envelopes.json')
  await expect(settled(turns)).toMatchFileSnapshot('../golden/model-turns.json')
  await expect(settled(scripted.requests.map(promptOf))).toMatchFileSnapshot('../golden/model-prompts.json')

  const [, second] = scripted.requests
  const [back] = second?.prompt.find(({ role }) => role === 'assistant')?.content ?? []
  expect(back).toMatchObject({ type: 'reasoning', text: '', providerOptions: sealed })
  expect(JSON.stringify(scripted.requests)).not.toContain(thought)
  expect(JSON.stringify(story)).toContain(thought)
})

/** Allows for the start of programs on a busy machine. */
const lengthy = { timeout: 120_000 }

const run = (example: string, env: Record<string, string> = {}) =>
  promisify(execFile)(
    process.execPath,
    [join(repositoryRoot, 'examples', example, 'dist/start.js'), '--once'],
    {
      env: { PATH: process.env.PATH, ...env },
    },
  )

test('the example of a model agent does what it says, without a key', lengthy, async () => {
  const { stdout } = await run('model-agent')
  const lines = stdout.trim().split('\n')
  expect(lines).toContain('  reviewer → files/list_directory {"path":"."}  — to find the test report')
  expect(lines).toContain('  reviewer · Let me see what there is.')
  expect(lines.at(-1)).toBe('reviewer: Do not deploy yet: FAIL 2 token expires.')
})

test('it runs with any model of a server as OpenAI’s', lengthy, async () => {
  const { baseURL, requests } = await serveModel([
    calling('files__read_text_file', { _rationale: 'to see what fails', path: 'report.txt' }),
    saying('Do not deploy yet: the token expires.'),
  ])
  const { stdout } = await run('model-agent', {
    MODEL: 'openai-compatible/qwen3',
    MODEL_BASE_URL: baseURL,
    MODEL_API_KEY: 'k-1',
  })
  expect(stdout).toContain('reviewer → files/read_text_file {"path":"report.txt"}  — to see what fails')
  expect(stdout.trim().split('\n').at(-1)).toBe('reviewer: Do not deploy yet: the token expires.')
  expect(requests.map(({ headers, body }) => [headers.authorization, body.model])).toEqual([
    ['Bearer k-1', 'qwen3'],
    ['Bearer k-1', 'qwen3'],
  ])
})

test('three lines in it are your model, as its README says', lengthy, async () => {
  const { baseURL } = await serveModel([saying('Do not deploy.')])
  const lines =
    snippetsOf('examples/model-agent/README.md').find(({ language }) => language === 'js')?.text ?? ''
  const code = readText('examples/model-agent/src/model-agent.ts')
    .replace('...chosen,', lines.replace(/'http:.*?'/, `'${baseURL}'`))
    .replace(/^const chosen.*$|^import.*choose-model.*$/gm, '')
  const folder = pageFolder()
  writeFileSync(join(folder, 'three-lines.ts'), code)
  const { url, join: enter } = await openSpace()
  const env = { PATH: process.env.PATH, MEUP_URL: url, MEUP_SPACE: name, MEUP_TOKEN: testToken('bot') }
  startProgram(folder, 'three-lines.ts', env)
  await using ana = await enter('ana')
  await ana.whenPresent(['bot'])
  expect((await ana.ask('Can we deploy?', { to: ['bot'] })).text).toBe('Do not deploy.')
})

const elseScript = 'set it, or leave MODEL out to run the example with a script'

test.for([
  ['anthropic/claude', `MODEL=anthropic/claude needs ANTHROPIC_API_KEY; ${elseScript}`],
  ['google/gemini', `MODEL=google/gemini needs AI_GATEWAY_API_KEY; ${elseScript}`],
  ['openai-compatible/qwen3', `MODEL=openai-compatible/qwen3 needs MODEL_BASE_URL; ${elseScript}`],
  ['gpt', 'MODEL=gpt needs a vendor; write vendor/name, such as openai/gpt'],
])(
  'MODEL=%s alone ends it with one line, before anything starts',
  lengthy,
  async ([MODEL = '', line = '']) => {
    const error = await run('model-agent', { MODEL }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 78, stdout: '', stderr: `${line}\n` })
  },
)

test('the example of a first agent does what it says, and is the one of the README', lengthy, async () => {
  const { stdout } = await run('hello-agent')
  expect(stdout).toMatch(/^reviewer: I recommend against deploying: FAIL 2 token expires$/m)
  const agent = readFileSync(join(repositoryRoot, 'examples/hello-agent/src/agent.ts'), 'utf8')
  expect(snippetsOf('README.md').map(({ text }) => text)).toContain(agent)
})

/** Makes the folder of the page, with the packages that its programs import. */
function pageFolder(): string {
  const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
  mkdirSync(join(clone, 'node_modules'))
  const link = (owner: string, each: string): void =>
    symlinkSync(join(repositoryRoot, owner, 'node_modules', each), join(clone, 'node_modules', each))
  for (const each of ['@meup', '@sinclair']) link('', each)
  link('examples/model-agent', '@ai-sdk')
  link('packages/agent-sdk', 'zod')
  writeSnippets(page, clone)
  return join(clone, 'model-agent')
}

test('the programs of the page print what it says', lengthy, () => {
  const cwd = pageFolder()
  const outputs = page.filter(({ language }) => language === 'text').map(({ text }) => text)
  const files = ['turn.ts', 'own-tool.ts', 'raw.ts', 'fails.ts', 'fallback.ts', 'output.ts']
  const printed = files.map((file) => printedBy(cwd, file))
  expect(printed).toEqual(outputs)
})

test('its agent with a real provider comes as far as one comes without a key', lengthy, async () => {
  const { url, join: enter } = await openSpace()
  const env = { PATH: process.env.PATH, MEUP_URL: url, MEUP_SPACE: name, MEUP_TOKEN: testToken('bot') }
  startProgram(pageFolder(), 'agent.ts', env)
  await using ana = await enter('ana')
  await ana.whenPresent(['bot'])
  const { text } = await ana.ask('Is it safe?', { to: ['bot'] })
  expect(text).toMatch(/ of anthropic has no API key: Anthropic API key is missing/)
})
