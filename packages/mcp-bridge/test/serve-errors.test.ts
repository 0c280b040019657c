import { ConnectionError } from '@meup/agent-sdk'
import type { TestSpace } from '@meup/agent-sdk/testing'
import { PROTOCOL } from '@meup/protocol'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { some } from '../../../test/support/soak.js'
import { failureResult } from '../src/serve/results.js'
import { openClient, serveSpace, token } from './support/served.js'

/** Methods that the clients of both MCP SDKs have. After `listTools`, `callTool` validates results with the output schemas. */
interface Validating {
  listTools(): Promise<unknown>
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<object>
}

async function openFirst(url: string): Promise<Validating> {
  const client = new FirstClient({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const transport = new FirstHttp(new URL(url), { requestInit })
  await client.connect(transport as Parameters<FirstClient['connect']>[0])
  onTestFinished(() => client.close())
  return { listTools: () => client.listTools(), callTool: (params) => client.callTool(params) }
}

const clients: Readonly<Record<string, (url: string) => Promise<Validating>>> = {
  'first SDK': openFirst,
  modern: (url) => openClient(url, 'auto'),
  legacy: (url) => openClient(url, 'legacy'),
}

const outputSchema = {
  type: 'object',
  properties: { pages: { type: 'number' } },
  required: ['pages'],
  additionalProperties: false,
}
const definition = { name: 'find', inputSchema: { type: 'object' }, outputSchema }

/** A participant with a tool that has an output schema; its result is set by the test. */
async function openShelf(space: TestSpace, answer: () => Promise<object>) {
  const shelf = await space.join('shelf')
  shelf.serve(async ({ payload: { method } }) => {
    if (method === 'initialize') return { result: { capabilities: { tools: {} }, protocolVersion: PROTOCOL } }
    return { result: method === 'tools/list' ? { tools: [definition] } : { ...(await answer()) } }
  })
  return shelf
}

describe.each(some(Object.entries(clients), 2))('an error of a tool with an output schema: %s', (_, open) => {
  async function openShop({
    desktop = ['*'],
    answer = async () => ({}) as object,
  }: {
    desktop?: unknown[]
    answer?: () => Promise<object>
  } = {}) {
    const served = await serveSpace({ desktop: desktop as ['*'], more: { shelf: ['*'] } })
    const shelf = await openShelf(served.space, answer)
    const client = await open(served.url)
    await client.listTools()
    return {
      ...served,
      shelf,
      find: (args = {}) => client.callTool({ name: 'shelf__find', arguments: args }),
    }
  }
  const failed = (code: string, text: RegExp) => ({
    isError: true,
    content: [{ type: 'text', text: expect.stringMatching(text) }],
    _meta: { 'meup/code': code },
  })

  test('a refusal is read', async () => {
    const { find } = await openShop({ desktop: [{ tool: 'shelf/find', arguments: { title: 'Emma' } }] })
    const refused = await find({ title: 'Ulysses' })
    expect(refused).toMatchObject(failed('capability_violation', /\(capability_violation\)$/))
    expect(refused).not.toHaveProperty('structuredContent')
  })

  test('a rejection is read', async () => {
    const lists = { kind: 'mcp.request', payload: { method: 'tools/list' } }
    const { find, ana } = await openShop({ desktop: [lists, 'mcp.proposal', 'mcp.withdraw'] })
    ana.proposals.on('proposal', ({ id }) => void ana.proposals.reject(id, { reason: 'not today' }))
    expect(await find()).toMatchObject(failed('rejected', /not today/))
  })

  test('a participant who leaves during the call is said to be away', async () => {
    const { find, shelf } = await openShop({
      async answer() {
        await shelf.leave()
        return new Promise(() => {})
      },
    })
    expect(await find()).toMatchObject(failed('participant_away', /"shelf" is away/))
  })

  test("a participant's own error keeps its data, as a text", async () => {
    const text = { type: 'text', text: 'no such book' }
    const error = { isError: true, content: [text], structuredContent: { shelf: 7 } }
    const { find } = await openShop({ answer: async () => error })
    const found = await find()
    expect(found).toMatchObject({ isError: true, content: [text, { type: 'text', text: '{"shelf":7}' }] })
    expect(found).not.toHaveProperty('structuredContent')
  })

  test('a result of nothing but data is read', async () => {
    const { find } = await openShop({ answer: async () => ({ structuredContent: { pages: 7 } }) })
    expect(await find()).toMatchObject({
      content: [{ type: 'text', text: expect.stringMatching(/"pages": 7/) }],
      structuredContent: { pages: 7 },
    })
  })
})

test.for(['timeout', 'program_ended'] as const)(
  'the code of a call that has no answer is in _meta: %s',
  (code) => {
    const failed = failureResult(new ConnectionError(code, 'no answer'))
    expect(failed).toMatchObject({ isError: true, _meta: { 'meup/code': code } })
    expect(failed).not.toHaveProperty('structuredContent')
  },
)
