import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ClientCalls } from '../src/serve/calls/calls.js'
import { Tasks } from '../src/serve/calls/tasks.js'
import { openClient, openLibrary, serveSpace, token } from './support/served.js'

const lend = { name: 'library__lend_book', arguments: { title: 'Emma' } }

/** A client that supports tasks, and whose user fills in a name in each form. */
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

test('a task whose question nobody answers is over when its time is, and its call is cancelled', async () => {
  const { space, ana, url } = await serveSpace()
  await openLibrary(space)
  const cancelled = new Promise((resolve) => {
    ana.on('envelope', ({ from, payload }) => {
      if (from === 'desktop' && Object(payload).method === 'notifications/cancelled') resolve(true)
    })
  })
  const { client, asked, tasks } = await openTaskClient(url)
  await client.listTools()
  const stream = tasks.callToolStream(lend, CallToolResultSchema, { task: { ttl: 300 } })
  const { value } = await stream.next()
  expect(value).toMatchObject({ type: 'taskCreated' })
  expect(await cancelled).toBe(true)
  expect(await tasks.listTasks()).toMatchObject({ tasks: [] })
  expect(asked).toEqual([])
})

test('results that no client asks for are kept up to 32 MiB; a task that goes on is kept', async () => {
  const tasks = new Tasks()
  onTestFinished(() => tasks.close())
  const result = { content: [{ type: 'text' as const, text: 'x'.repeat(4 * 1024 * 1024) }] }
  const begin = (id: string, result: Promise<typeof CallToolResultSchema._zod.output>) => {
    const work = { result, cancel: () => expect.unreachable(id) }
    return tasks.begin(id, { client: id, ttl: undefined, begin: async () => work, onChange: () => {} })
  }
  await begin('open', new Promise(() => {}))
  for (let at = 0; at < 20; at++) await begin(`t${at}`, Promise.resolve(result))
  await expect
    .poll(() => tasks.list().map(({ taskId }) => taskId))
    .toEqual(['open', ...Array.from({ length: 7 }, (_, at) => `t${at + 13}`)])
})

test.each(['legacy', 'auto'] as const)('a result that its client has is not kept: %s', async (mode) => {
  const keep = vi.spyOn(ClientCalls.prototype, 'keep')
  onTestFinished(() => keep.mockRestore())
  const { space, url } = await serveSpace()
  await openLibrary(space)
  const client = await openClient(url, mode, () => ({ action: 'accept', content: { name: 'Ana' } }))
  await client.listTools()
  expect(await client.callTool(lend)).toMatchObject({ content: [{ text: 'Emma is lent to Ana' }] })
  const kept = keep.mock.calls.map(([{ id }], at) => (keep.mock.contexts[at] as ClientCalls).get(id))
  expect(kept).toEqual(mode === 'legacy' ? [] : [undefined])
})
