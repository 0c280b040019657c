import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { openClient, openLibrary, serveSpace, token } from './support/served.js'

const lend = { name: 'library__lend_book', arguments: { title: 'Emma' } }

/** A client that declares tasks, and fills in forms with a name. */
async function openTaskClient(url: string) {
  const capabilities = { tasks: {}, elicitation: { form: {} } }
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  const asked: unknown[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params._meta?.['io.modelcontextprotocol/related-task'])
    return { action: 'accept', content: { name: 'Ana' } }
  })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit })
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return { client, asked, tasks: client.experimental.tasks }
}

test('a question of a task waits for its client, who asks for the result', async () => {
  const { space, url } = await serveSpace()
  await openLibrary(space)
  const { client, asked, tasks } = await openTaskClient(url)
  await client.listTools()
  const seen: string[] = []
  const results: unknown[] = []
  let taskId: string | undefined
  for await (const message of tasks.callToolStream(lend, CallToolResultSchema, { task: {} })) {
    if (message.type === 'taskCreated') taskId = message.task.taskId
    if (message.type === 'taskStatus') seen.push(message.task.status)
    if (message.type === 'result') results.push(message.result.content)
  }
  expect(results).toEqual([[{ type: 'text', text: 'Emma is lent to Ana' }]])
  expect(seen).toContain('input_required')
  expect(asked).toEqual([{ taskId }])
})

test('clients of later revisions have no tasks of this form', async () => {
  const { space, url } = await serveSpace()
  await openLibrary(space)
  const client = await openClient(url, 'auto', () => ({ action: 'accept', content: { name: 'Ana' } }))
  expect(client.getServerCapabilities()).not.toHaveProperty('tasks')
  for (const tool of (await client.listTools()).tools) expect(tool).not.toHaveProperty('execution')
  const called = await client.callTool({ ...lend, task: {} } as typeof lend)
  expect(called.content).toEqual([{ type: 'text', text: 'Emma is lent to Ana' }])
})
