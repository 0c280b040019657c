import type { SpaceClient } from '@meup/agent-sdk'
import { Kind } from '@meup/protocol'
import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { some } from '../../../test/support/soak.js'
import { type Era, openClient, openLibrary, serveSpace } from './support/served.js'

const own = ['ask', 'send', 'list_participants', 'list_proposals', 'show_proposal', 'decide_proposal', 'why']
const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
const offered = async (client: Client) => (await names(client)).filter((name) => !own.includes(name))
const book = (page: string) => `meup://test/resources/library/book://moby/${page}`

/** Records the lists that a client is notified of, in order. */
async function listen(client: Client, mode: Era): Promise<string[]> {
  const changes: string[] = []
  for (const list of ['tools', 'prompts', 'resources'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => void changes.push(list))
  if (mode === 'auto')
    await client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true })
  return changes
}

describe.each(some(['auto', 'legacy'] as const, 1))('clients have what participants offer: %s', (mode) => {
  test('tools as they are described, under the name of their participant', async () => {
    const { space, url } = await serveSpace()
    await openLibrary(space)
    const client = await openClient(url, mode)
    expect(await names(client)).toEqual([
      ...own,
      ...['library__find_book', 'library__lend_book', 'library__open_shelf', 'library__write_page'],
    ])
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'library__find_book')).toMatchObject({
      title: 'Find a book',
      description: 'Finds a book by its title',
      inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
      outputSchema: { type: 'object', properties: { pages: { type: 'number' } } },
      annotations: { readOnlyHint: true },
    })
    const found = await client.callTool({ name: 'library__find_book', arguments: { title: 'Moby Dick' } })
    expect(found).toMatchObject({
      content: [
        { type: 'text', text: 'found Moby Dick' },
        { type: 'resource_link', uri: book('1') },
      ],
      structuredContent: { pages: 635 },
    })
    await expect(client.callTool({ name: 'library__burn_book' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('library__burn_book'),
    })
  })

  test('the same lists until something has changed, of which they are told', async () => {
    const { space, ana, url } = await serveSpace({ more: { desk: ['*'] } })
    const client = await openClient(url, mode)
    const changes = await listen(client, mode)
    expect(await offered(client)).toEqual([])
    await client.listPrompts()
    await client.listResources()
    const library = await openLibrary(space)
    await expect.poll(() => new Set(changes)).toEqual(new Set(['tools', 'prompts', 'resources']))
    expect(await offered(client)).toContain('library__find_book')

    changes.length = 0
    await client.callTool({ name: 'library__open_shelf' })
    await expect.poll(() => changes).toContain('tools')
    expect(await offered(client)).toContain('library__dust_shelf')

    // A human who joins or leaves does not change the lists.
    changes.length = 0
    ana.close()
    const desk = await space.join('desk')
    desk.tool('stamp', {}, () => 'stamped')
    await expect.poll(() => changes).toContain('tools')
    expect(await offered(client)).toContain('desk__stamp')
    await library.close()
    await expect.poll(() => offered(client)).toEqual(['desk__stamp'])
    await expect.poll(() => new Set(changes)).toEqual(new Set(['tools', 'prompts', 'resources']))
  })

  test('prompts and resources, read, completed and subscribed to', async () => {
    const { space, url } = await serveSpace()
    await openLibrary(space)
    const client = await openClient(url, mode)
    expect((await client.listPrompts()).prompts).toMatchObject([
      { name: 'why' },
      {
        name: 'library__review_book',
        title: 'Review a book',
        arguments: [{ name: 'title', required: true }],
      },
    ])
    const prompt = { name: 'library__review_book', arguments: { title: 'Emma' } }
    expect((await client.getPrompt(prompt)).messages).toMatchObject([
      { content: { text: 'Review Emma' } },
      { content: { type: 'resource_link', uri: book('1') } },
    ])
    await expect(client.getPrompt({ name: 'library__nothing' })).rejects.toMatchObject({
      code: -32602,
    })

    const { resources } = await client.listResources()
    expect(resources).toContainEqual({ name: 'first page', uri: book('1'), mimeType: 'text/plain' })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates).toContainEqual(expect.objectContaining({ uriTemplate: book('{page}') }))
    expect((await client.readResource({ uri: book('1') })).contents).toEqual([
      { uri: book('1'), text: 'Call me Ishmael.' },
    ])
    expect((await client.readResource({ uri: book('7') })).contents).toMatchObject([{ text: 'page 7' }])
    const unknown = 'meup://test/resources/library/film://moby'
    await expect(client.readResource({ uri: unknown })).rejects.toThrow(/film:\/\/moby/)
    const ref = { type: 'ref/resource' as const, uri: book('{page}') }
    const completed = await client.complete({ ref, argument: { name: 'page', value: '1' } })
    expect(completed.completion.values).toEqual(['1', '12'])

    const updates: string[] = []
    client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void updates.push(params.uri),
    )
    if (mode === 'auto') await client.listen({ resourceSubscriptions: [book('1')] })
    else await client.subscribeResource({ uri: book('1') })
    const write = (title: string) => client.callTool({ name: 'library__write_page', arguments: { title } })
    await expect
      .poll(async () => {
        await write('It was the best of times.')
        return updates
      })
      .toContain(book('1'))
    expect((await client.readResource({ uri: book('1') })).contents).toMatchObject([
      { text: 'It was the best of times.' },
    ])
  })

  test('the questions of a tool, where they can show forms', async () => {
    const { space, url } = await serveSpace()
    await openLibrary(space)
    const asked: string[] = []
    const client = await openClient(url, mode, (message) => {
      asked.push(message)
      return { action: 'accept', content: { name: 'Ada' } }
    })
    const lend = { name: 'library__lend_book', arguments: { title: 'Emma' } }
    expect(await client.callTool(lend)).toMatchObject({ content: [{ text: 'Emma is lent to Ada' }] })
    expect(asked).toEqual(['For whom?'])
    const plain = await openClient(url, mode)
    expect(await plain.callTool(lend)).toMatchObject({ content: [{ text: 'not lent: decline' }] })
    const reluctant = await openClient(url, mode, () => ({ action: 'cancel' }))
    expect(await reluctant.callTool(lend)).toMatchObject({ content: [{ text: 'not lent: cancel' }] })
  })

  test('the questions of a tool that they have approved', async () => {
    const { space, url } = await serveSpace({ more: { helper: ['mcp.proposal', 'mcp.withdraw'] } })
    await openLibrary(space)
    const helper = await space.join('helper')
    const client = await openClient(url, mode, (message) =>
      message === 'For whom?' ? { action: 'accept', content: { name: 'Ada' } } : { action: 'cancel' },
    )
    const params = { name: 'lend_book', arguments: { title: 'Emma' } }
    const { id, outcome } = await helper.propose({ to: 'library', method: 'tools/call', params })
    const decide = { name: 'decide_proposal', arguments: { id, decision: 'approve' } }
    const lent = [{ text: 'Emma is lent to Ada' }]
    await expect
      .poll(() => client.callTool({ name: 'show_proposal', arguments: { id } }), { timeout: 5000 })
      .toMatchObject({ structuredContent: { text: expect.stringContaining('"Emma"') } })
    await expect
      .poll(async () => (await client.callTool(decide)).content, { timeout: 5000 })
      .toMatchObject(lent)
    expect(await outcome).toMatchObject({ by: 'desktop', response: { result: { content: lent } } })
  })

  test('what they may only propose waits for approval, and says so', async () => {
    const lists: object = { kind: 'mcp.request', payload: { method: 'tools/list' } }
    const { space, ana, url } = await serveSpace({
      desktop: [lists as { kind: string }, 'mcp.proposal', 'mcp.withdraw'],
    })
    await openLibrary(space)
    const client = await openClient(url, mode)
    const find = { name: 'library__find_book', arguments: { title: 'Emma' } }
    const progress: (string | undefined)[] = []
    const approve = approvals(ana)
    const result = client.callTool(find, { onprogress: ({ message }) => progress.push(message) })
    const { id } = await approve('approve')
    expect(await result).toMatchObject({ structuredContent: { pages: 635 } })
    expect(progress).toContain(`proposed as ${id}: it waits for approval`)
    const refused = client.callTool(find)
    await approve('reject')
    expect(await refused).toMatchObject({ isError: true, _meta: { 'meup/code': 'rejected' } })
  })
})

/** Returns a function that decides the next proposal. */
function approvals(ana: SpaceClient) {
  return async (decision: 'approve' | 'reject'): Promise<{ id: string }> => {
    const open = () => ana.proposals.list()[0]
    await expect.poll(open).toBeDefined()
    const { id = '' } = open() ?? {}
    if (decision === 'reject') await ana.proposals.reject(id, { reason: 'no' })
    else await ana.proposals.approve(id)
    return { id }
  }
}

test('only tools that may be used with some arguments are offered', async () => {
  const find = { tool: 'library/find_*', arguments: { title: 'Moby*' } }
  const { space, url } = await serveSpace({ desktop: [find] })
  await openLibrary(space)
  const client = await openClient(url, 'legacy')
  expect(await offered(client)).toEqual(['library__find_book'])
  const call = (title: string) => client.callTool({ name: 'library__find_book', arguments: { title } })
  expect(await call('Moby Dick')).toMatchObject({ structuredContent: { pages: 635 } })
  expect(await call('Emma')).toMatchObject({
    isError: true,
    _meta: { 'meup/code': 'capability_violation' },
  })
  expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'why' }])
})

test('a participant whose definitions no client could read spoils nothing', async () => {
  const { space, url } = await serveSpace({ more: { odd: ['*'] } })
  await openLibrary(space)
  const odd = await space.join('odd')
  const lists: Record<string, object> = {
    initialize: { capabilities: { tools: {}, prompts: {}, resources: {} } },
    'tools/list': { tools: [{ name: 'x', inputSchema: 7, annotations: 'none' }, { name: 8 }, null] },
    'prompts/list': { prompts: [{ name: 9 }, { name: 'fine' }] },
    'resources/list': { resources: [{ uri: 1 }] },
  }
  odd.serve(async ({ payload }) => ({ result: { ...lists[payload.method] } }))
  const client = await openClient(url, 'legacy')
  expect(await offered(client)).toContain('odd__x')
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
    ...['why', 'library__review_book', 'odd__fine'],
  ])
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain(book('1'))
})

test('many clients share one subscription, which a participant that comes again is told anew', async () => {
  const { space, ana, url } = await serveSpace()
  const library = await openLibrary(space)
  const [one, other] = [await openClient(url, 'legacy'), await openClient(url, 'auto')]
  const heard = subscriptions(ana)
  await one.subscribeResource({ uri: book('1') })
  const listening = await other.listen({ resourceSubscriptions: [book('1')] })
  await expect.poll(() => heard).toEqual(['resources/subscribe'])
  await one.unsubscribeResource({ uri: book('1') })
  await library.close()
  await openLibrary(space)
  await expect.poll(() => heard).toEqual(['resources/subscribe', 'resources/subscribe'])
  await listening.close()
  await expect.poll(() => heard.at(-1)).toBe('resources/unsubscribe')
})

function subscriptions(ana: SpaceClient): string[] {
  const heard: string[] = []
  const listener = (envelope: { kind: string; payload: object }): void => {
    const { method = '' } = envelope.payload as { method?: string }
    if (envelope.kind === Kind.mcpRequest && method.startsWith('resources/')) heard.push(method)
  }
  ana.on('envelope', listener)
  onTestFinished(() => void ana.off('envelope', listener))
  return heard
}

test.each(['legacy', 'auto'] as const)(
  'what a user fills in is not checked with what its asker has made: %s',
  async (mode) => {
    const { space, url } = await serveSpace({ more: { hostile: ['*'] } })
    const hostile = await space.join('hostile')
    hostile.serve(async ({ id, from, payload: { method } }) => {
      if (method !== 'tools/call')
        return { result: { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] } }
      // Checking a text against this pattern takes exponential time, so a longer text than the one below would block the
      // process.
      const properties = { it: { type: 'string', pattern: '^(a+)+$' } }
      const params = { message: 'Well?', requestedSchema: { type: 'object', properties } }
      const about = { correlationId: id, propose: false }
      const answer = await hostile.request(from, 'elicitation/create', params, about)
      return { result: { content: [], structuredContent: answer } }
    })
    const filled = { action: 'accept', content: { it: 'aaaa!' } }
    const client = await openClient(url, mode, () => filled)
    await expect.poll(() => offered(client)).toEqual(['hostile__ask'])
    expect(await client.callTool({ name: 'hostile__ask' })).toMatchObject({ structuredContent: filled })
  },
)

test.each(['tools', 'prompts', 'resources'] as const)(
  'who says time and again that its %s have changed is asked for them once a second',
  async (list) => {
    const { space, url } = await serveSpace({ more: { hostile: ['*'] } })
    const hostile = await space.join('hostile')
    let asked = 0
    hostile.serve(async ({ payload: { method } }) => {
      if (method === `${list}/list`) asked++
      return { result: { capabilities: { [list]: {} }, [list]: [], nextCursor: 'more' } }
    })
    const client = await openClient(url, 'legacy')
    if (list === 'tools') await client.listTools()
    else if (list === 'prompts') await client.listPrompts()
    else await client.listResources()
    const first = asked
    expect(first).toBeGreaterThan(1)
    const payload = { method: `notifications/${list}/list_changed` }
    const began = performance.now()
    for (let time = 0; time < 10; time++) {
      await hostile.send({ kind: Kind.mcpRequest, payload })
      // Longer than the interval in which changes are combined.
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    expect(asked / first).toBeLessThan(3 + (performance.now() - began) / 1000)
  },
)

test.each(['legacy', 'auto'] as const)(
  '300 tools with schemas of 20 KiB are listed, and called: %s',
  async (mode) => {
    const { space, url } = await serveSpace({ more: { desk: ['*'] } })
    const desk = await space.join('desk')
    const description = 'x'.repeat(20 * 1024)
    const inputSchema = { type: 'object', properties: { x: { type: 'string', description } } }
    const page = (at: number) =>
      Array.from({ length: 50 }, (_, n) => ({ name: `t${50 * at + n}`, inputSchema }))
    desk.serve(async ({ payload: { method, params } }) => {
      if (method === 'initialize') return { result: { capabilities: { tools: {} } } }
      if (method === 'tools/call')
        return { result: { content: [{ type: 'text', text: Object(params).name }] } }
      const at = Number(Object(params).cursor ?? 0)
      return { result: { tools: page(at), ...(at < 5 && { nextCursor: String(at + 1) }) } }
    })
    const client = await openClient(url, mode)
    await expect.poll(async () => (await offered(client)).length).toBe(300)
    expect(await client.callTool({ name: 'desk__t299' })).toMatchObject({ content: [{ text: 't299' }] })
  },
)
