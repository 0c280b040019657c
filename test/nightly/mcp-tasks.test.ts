import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ErrorCode,
  TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { serveHttp, serverOf } from '../support/mcp-clients.js'
import { type McpSpace, openMcpSpace } from '../support/mcp-space.js'

vi.setConfig({ testTimeout: 60_000 })
const within = { timeout: 15_000, interval: 20 }
const invalidParams = { code: ErrorCode.InvalidParams }

async function openSpace(): Promise<McpSpace> {
  const space = await openMcpSpace()
  onTestFinished(() => space[Symbol.asyncDispose]())
  return space
}

type FillIn = (
  message: string,
) => { action: 'accept'; content: Record<string, string> } | { action: 'decline' }

/** Opens a client that declares tasks, with the version of the SDK that supports them. */
async function openClient(space: McpSpace, as: string, over: 'stdio' | 'http' = 'stdio', fillIn?: FillIn) {
  const capabilities = { tasks: {}, ...(fillIn && { elicitation: { form: {} } }) }
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  if (fillIn) client.setRequestHandler(ElicitRequestSchema, ({ params }) => fillIn(params.message))
  const states: string[] = []
  client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
    states.push([params.status, ...(params.statusMessage ? [params.statusMessage] : [])].join(': '))
  })
  const served = over === 'http' ? await serveHttp(space.cwd, as) : undefined
  const requestInit = { headers: { authorization: `Bearer ${served?.token}` } }
  const transport = served
    ? new StreamableHTTPClientTransport(served.url, { requestInit })
    : new StdioClientTransport(serverOf(space.cwd, as))
  await client.connect(transport as StdioClientTransport)
  onTestFinished(async () => {
    await client.close()
    await served?.stop()
  })
  await client.listTools()
  const { tasks } = client.experimental
  /** Begins a task. Resolves with its id. */
  const begin = async (name: string, args: Record<string, unknown> = {}, ttl?: number): Promise<string> => {
    const stream = tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, { task: { ttl } })
    const { value } = await stream.next()
    if (value?.type === 'error') throw value.error
    if (value?.type !== 'taskCreated') return expect.unreachable(JSON.stringify(value))
    return value.task.taskId
  }
  const result = (id: string) => tasks.getTaskResult(id, CallToolResultSchema)
  return { client, tasks, states, begin, result }
}

describe.each(['stdio', 'http'] as const)('a call as a task: %s', (over) => {
  test('is answered at once, and has its result later', async () => {
    const space = await openSpace()
    const release = space.hold()
    const { client, tasks, states, begin, result } = await openClient(space, 'desktop', over)
    const { tools } = await client.listTools()
    const named = new Map(tools.map((tool) => [tool.name, tool.execution?.taskSupport]))
    expect(named.get('shop__slow')).toBe('optional')
    expect(named.get('send')).toBeUndefined()
    const id = await begin('shop__slow')
    await vi.waitFor(async () => {
      expect(await tasks.getTask(id)).toMatchObject({
        taskId: id,
        status: 'working',
        statusMessage: 'half of it',
      })
    }, within)
    expect((await tasks.listTasks()).tasks).toMatchObject([{ taskId: id, status: 'working' }])
    release()
    expect(await result(id)).toMatchObject({
      content: [{ type: 'text', text: 'done' }],
      structuredContent: { done: true },
      _meta: { by: 'shop', 'io.modelcontextprotocol/related-task': { taskId: id } },
    })
    expect(await tasks.getTask(id)).toMatchObject({ status: 'completed' })
    if (over === 'stdio')
      await vi.waitFor(() => expect(states).toEqual(['working: half of it', 'completed: half of it']), within)
  })

  test('is in the log under the id of the task', async () => {
    const space = await openSpace()
    const ana = await space.enter('ana')
    const heard = ana.envelopes()
    const { begin, result } = await openClient(space, 'desktop', over)
    const id = await begin('ask', { message: 'What is a cake?', to: ['ben'] })
    for await (const envelope of heard) if (envelope.id === id) break
    expect(await result(id)).toMatchObject({ structuredContent: { from: 'ben', text: 'price: two coins' } })
  })
})

test('the whole of a call in the stream of the SDK, also of one that fails', async () => {
  const space = await openSpace()
  const { tasks } = await openClient(space, 'desktop')
  const all = async (name: string) => {
    const types: unknown[] = []
    const stream = tasks.callToolStream({ name, arguments: {} })
    for await (const message of stream)
      if (message.type !== 'taskStatus') types.push(message.type === 'result' ? message.result : message.type)
    return types
  }
  expect(await all('shop__price')).toEqual([
    'taskCreated',
    expect.objectContaining({ content: [{ type: 'text', text: 'two coins' }] }),
  ])
  expect(await all('shop__fail')).toEqual([
    'taskCreated',
    expect.objectContaining({ isError: true, content: [{ type: 'text', text: 'sold out' }] }),
  ])
})

test('a task that may only be proposed says so, and is carried out once it is approved', async () => {
  const space = await openSpace()
  const ana = await space.enter('ana')
  const { tasks, begin, result } = await openClient(space, 'trainee')
  const id = await begin('shop__buy')
  await vi.waitFor(() => expect(ana.proposals.get(id)).toMatchObject({ from: 'trainee' }), within)
  await vi.waitFor(async () => {
    expect((await tasks.getTask(id)).statusMessage).toBe(`proposed as ${id}: it waits for approval`)
  }, within)
  await ana.proposals.approve(id)
  expect(await result(id)).toMatchObject({ content: [{ type: 'text', text: 'sold' }] })
})

test('an approval waits as a task', async () => {
  const space = await openSpace()
  const ana = await space.enter('ana')
  const asked = ana.ask('Buy a cake', { to: ['ben'] })
  const { client, begin, result } = await openClient(space, 'desktop')
  await vi.waitFor(() => expect(ana.proposals.list()).toHaveLength(1), within)
  const { id: proposal = '' } = ana.proposals.list()[0] ?? {}
  const decide = (decision: string) => begin('decide_proposal', { id: proposal, decision })
  await expect(decide('reject')).rejects.toThrow('Only an approval can be a task')
  await client.callTool({ name: 'show_proposal', arguments: { id: proposal } })
  const id = await decide('approve')
  expect(await result(id)).toMatchObject({ content: [{ type: 'text', text: 'sold' }] })
  expect((await asked).text).toBe('buy: sold')
})

test('a cancelled task ends its work, and has no result', async () => {
  const space = await openSpace()
  const { tasks, begin, result } = await openClient(space, 'desktop')
  const [never, silent] = [
    await begin('shop__never'),
    await begin('ask', { message: 'Say nothing', to: ['ben'] }),
  ]
  await vi.waitFor(() => expect(space.begun).toBe(1), within)
  for (const id of [never, silent]) {
    expect(await tasks.cancelTask(id)).toMatchObject({ taskId: id, status: 'cancelled' })
    await expect(result(id)).rejects.toMatchObject(invalidParams)
    await expect(tasks.cancelTask(id)).rejects.toMatchObject(invalidParams)
  }
  await vi.waitFor(() => expect(space.givenUp).toHaveLength(1), within)
})

test('a task is found again by a server that was started anew', async () => {
  const space = await openSpace()
  const ana = await space.enter('ana')
  const release = space.hold()
  const first = await openClient(space, 'desktop')
  const trainee = await openClient(space, 'trainee')
  const slow = await first.begin('shop__slow')
  const asked = await first.begin('ask', { message: 'What is a cake?', to: ['ben'] })
  const proposed = await trainee.begin('shop__buy')
  await vi.waitFor(() => expect(ana.proposals.get(proposed)).toBeDefined(), within)
  await first.client.close()
  await trainee.client.close()
  const again = await openClient(space, 'desktop')
  const traineeAgain = await openClient(space, 'trainee')
  for (const id of [slow, asked])
    expect(await again.tasks.getTask(id)).toMatchObject({ taskId: id, status: 'working' })
  const results = [again.result(slow), again.result(asked)]
  release()
  expect(await results[0]).toMatchObject({ content: [{ text: 'done' }] })
  expect(await results[1]).toMatchObject({ structuredContent: { text: 'price: two coins' } })
  expect(await again.tasks.getTask(slow)).toMatchObject({ status: 'completed' })
  expect(await traineeAgain.tasks.getTask(proposed)).toMatchObject({ status: 'working' })
  await ana.proposals.approve(proposed)
  expect(await traineeAgain.result(proposed)).toMatchObject({ content: [{ text: 'sold' }] })
  await expect(again.tasks.getTask(proposed)).rejects.toMatchObject(invalidParams)
})

test('a task of before can be cancelled, and a client has a bounded number of open ones', async () => {
  const space = await openSpace()
  const first = await openClient(space, 'desktop')
  const never = await first.begin('shop__never')
  await vi.waitFor(() => expect(space.begun).toBe(1), within)
  await first.client.close()
  const again = await openClient(space, 'desktop')
  expect(await again.tasks.cancelTask(never)).toMatchObject({ status: 'cancelled' })
  expect(await again.tasks.getTask(never)).toMatchObject({ status: 'cancelled' })
  await vi.waitFor(() => expect(space.givenUp).toHaveLength(1), within)
  await Promise.all(Array.from({ length: 100 }, () => again.begin('shop__never', {}, 5_000_000)))
  const params = { name: 'shop__never', arguments: {}, task: {} }
  await expect(
    again.client.request({ method: 'tools/call', params }, CallToolResultSchema),
  ).rejects.toMatchObject(invalidParams)
  await expect(
    again.client.request(
      { method: 'tools/call', params: { name: 'list_participants', task: {} } },
      CallToolResultSchema,
    ),
  ).rejects.toMatchObject({ code: ErrorCode.MethodNotFound })
})

test('a task whose time is over is cancelled', async () => {
  const space = await openSpace()
  const { tasks, begin } = await openClient(space, 'desktop')
  const id = await begin('shop__never', {}, 500)
  await vi.waitFor(() => expect(space.givenUp).toHaveLength(1), within)
  await vi.waitFor(async () => expect(await tasks.getTask(id)).toMatchObject({ status: 'cancelled' }), within)
})
