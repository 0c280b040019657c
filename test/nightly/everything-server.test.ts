import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test, vi } from 'vitest'
import { demoInMemory, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { openClient } from '../support/mcp-clients.js'

vi.setConfig({ testTimeout: 60_000 })

const program = join(repositoryRoot, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const config = `${demoInMemory}participants:
  desktop: { kind: human, capabilities: [{ kind: mcp.request, to: everything }] }
  everything: { kind: mcp, command: node, args: [${JSON.stringify(program)}, stdio] }
`

/** Arguments for the tools that need some. */
const argumentsOf: Readonly<Record<string, object>> = {
  echo: { message: 'Hello, "space" ✓' },
  'get-annotated-message': { messageType: 'error', includeImage: true },
  'get-resource-links': { count: 3 },
  'get-resource-reference': { resourceType: 'Text', resourceId: 2 },
  'get-structured-content': { location: 'Chicago' },
  'get-sum': { a: 2.5, b: -1e21 },
  'gzip-file-as-resource': { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' },
  'trigger-long-running-operation': { duration: 0.1, steps: 2 },
  'simulate-research-query': { topic: 'spaces' },
}

/** The caller's answer to an elicitation. */
const fillIn = () => ({ action: 'accept' as const, content: { name: 'Ada' } })

/** Lists the tools of the server with a direct client. */
async function direct() {
  const capabilities = { elicitation: { form: {} } }
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: 'legacy' } },
  )
  client.setRequestHandler('elicitation/create', fillIn)
  onTestFinished(() => client.close())
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, 'stdio'], stderr: 'ignore' }),
  )
  return client
}

/** Removes times from a result, and the name of the server that a space puts into URIs. */
const timeless = (result: unknown): unknown =>
  JSON.parse(
    JSON.stringify(result)
      .replaceAll('meup://demo/resources/everything/', '')
      .replace(/created on [^"]*|at \d+:\d+:\d+ [AP]M/g, '<time>'),
  )

test('every tool of the official "everything" server is called through a space, its result unchanged', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await startMeup('up', cwd)
  const seat = await connect({ as: 'desktop', directory: cwd })
  onTestFinished(() => seat.close())
  await seat.whenPresent(['everything'], { timeoutMs: 30_000 })
  const desktop = await openClient('legacy, stdio', cwd, 'desktop', fillIn)
  onTestFinished(() => desktop.close())
  const client = await direct()
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('trigger-elicitation-request')
  expect(tools.length).toBeGreaterThan(10)
  const names = tools.map(({ name }) => `everything__${name}`)
  expect((await desktop.tools()).filter((name) => name.includes('__'))).toEqual(names)

  for (const { name } of tools) {
    const given = { ...argumentsOf[name] }
    const expected = await client.callTool({ name, arguments: given })
    const found = await desktop.call(`everything__${name}`, given)
    if (name === 'simulate-research-query') {
      // The tool only runs as a task. A client without tasks is refused, while the space waits for the task.
      expect([expected.isError, found.isError]).toEqual([true, undefined])
      expect(found.content[0]?.text).toContain('# Research Report: spaces')
      continue
    }
    expect(found.isError).toBe(expected.isError)
    if (name === 'get-env') {
      // The directly started server gets other variables, so compare only PATH.
      const { PATH } = JSON.parse(found.content[0]?.text ?? '')
      expect(PATH).toBe(process.env.PATH)
    } else expect([name, timeless(found)]).toEqual([name, timeless(expected)])
  }
})
