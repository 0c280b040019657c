import { spawn } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseExact } from '@meup/protocol'
import { expect, onTestFinished, test, vi } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { calling, saying, serveModel } from '../support/model-server.js'
import { onPage } from '../support/page.js'

vi.setConfig({ testTimeout: 180_000 })

const numbers = '{"id":9007199254740993,"price":0.1000,"in":[2047948614742839297]}'

/** A server that returns its arguments, as text and as JSON, with the exact digits. */
const server = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const [json] = /(?<="arguments":)[{].*?[}]/.exec(line) ?? []
  const tools = [{ name: 'keep', inputSchema: { type: 'object' } }]
  const greeting = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } }
  const kept = '{"content":[{"type":"text","text":' + JSON.stringify('desk got ' + json) + '}],"structuredContent":' + json + '}'
  const result = { initialize: JSON.stringify(greeting), 'tools/list': JSON.stringify({ tools }), 'tools/call': kept }[method]
  const answer = result === undefined ? '"error":{"code":-32601,"message":"no"}' : '"result":' + result
  console.log('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',' + answer + '}')
})`

const agent = (baseURL: string): string => `
import { connect } from '@meup/agent-sdk'
const space = await connect()
await space.agent({ model: 'm', baseURL: '${baseURL}', tools: ['desk/*'] })
`

/**
 * Runs `meup mcp serve` with a client that writes JSON itself: replaces `"@"` by the numbers, and reads the answer as a line.
 */
async function serveOverStdio(cwd: string) {
  const child = spawn(
    process.execPath,
    [join(repositoryRoot, 'packages/cli/bin/meup.js'), 'mcp', 'serve', '--as', 'ana'],
    { cwd },
  )
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message }).replace('"@"', numbers)}\n`)
  const ask = async (message: object): Promise<string> => {
    write({ id: 1, ...message })
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error('the server ended')
      if (JSON.parse(value).id === 1) return value
    }
  }
  const clientInfo = { name: 'test', version: '1' }
  await ask({ method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
  write({ method: 'notifications/initialized' })
  return ask
}

test('numbers arrive as a model wrote them, at the tool and in every view of the log', async () => {
  const { baseURL } = await serveModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? saying('Kept.') : calling('desk__keep', numbers),
  )
  const cwd = temporaryFolder({
    'space.yaml': `version: 1
space: demo
gateway: { listen: 127.0.0.1:0 }
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: process, command: node, args: [bot.mjs], transcript: full, capabilities: ["*"] }
  desk: { kind: mcp, command: node, args: [desk.cjs] }
`,
    'desk.cjs': server,
    'bot.mjs': agent(baseURL),
  })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(cwd, 'node_modules'))
  const running = await startMeup('up', cwd)
  onTestFinished(async () => void (await running.stop('SIGTERM')))
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await meup(args, { cwd })
    expect([args[0], code, stderr]).toEqual([args[0], 0, expect.not.stringContaining('meup:')])
    return stdout
  }
  const { correlationId } = JSON.parse(await run('ask', 'bot', 'Keep it', '--json'))
  const exported = await run('audit', 'export', '--format', 'jsonl')
  const bodies = exported.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).body ?? '']))
  expect(bodies.filter((body) => body.includes(`"arguments":${numbers}`))).toHaveLength(1)
  expect(bodies.filter((body) => body.includes(`"structuredContent":${numbers}`))).toHaveLength(1)
  expect(exported).toContain(JSON.stringify(JSON.stringify(`desk got ${numbers}`)).slice(1, -1))
  const shown = ['9007199254740993', '0.1000', '2047948614742839297']
  const views = {
    reasoning: await run('reasoning'),
    'reasoning as JSON': await run('reasoning', '--json'),
    trail: await run('audit', 'trail', '--json'),
    Markdown: await run('audit', 'export', '--format', 'markdown'),
    transcript: await run('transcript', 'show', correlationId),
    'transcript as JSON': await run('transcript', 'show', correlationId, '--json'),
  }
  for (const [view, text] of Object.entries(views))
    expect([view, shown.filter((number) => !text.includes(number))]).toEqual([view, []])

  const client = await serveOverStdio(cwd)
  const served = await client({ method: 'tools/call', params: { name: 'desk__keep', arguments: '@' } })
  expect(served).toContain(JSON.stringify(`desk got ${numbers}`))

  expect(await run('call', 'desk/keep', numbers)).toContain(`desk got ${numbers}`)
  expect(await run('call', 'desk/keep', numbers, '--json')).toContain(numbers)
})

test(
  'the page shows the digits of a call and of its result',
  onPage(async ({ gateway, page, enter }) => {
    const [bot, desk] = [await gateway.enter('planner'), await gateway.enter('repo')]
    desk.tool('keep', {}, () => parseExact('{"kept":2047948614742839297}'))
    await enter()
    const run = await bot.reason('Keeping')
    await run.call('repo/keep', parseExact(numbers) as object, { why: 'it is asked' })
    await page.click('.call-line', 'keep')
    for (const digits of ['9007199254740993', '0.1000', '2047948614742839297']) await page.shows(digits)
  }),
)
