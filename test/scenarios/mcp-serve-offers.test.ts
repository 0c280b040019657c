import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { demoInMemory, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { type FillIn, openClient, type Way, ways } from '../support/mcp-clients.js'
import { isSoak } from '../support/soak.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const library = join(repositoryRoot, 'packages/mcp-bridge/test/fixtures/library-server.mjs')
const config = `${demoInMemory}participants:
  ana: { kind: human, capabilities: ["*"] }
  desktop: { kind: human, capabilities: [mcp.request] }
  desk: { kind: agent, capabilities: [mcp.response] }
  library: { kind: mcp, command: node, args: [${JSON.stringify(library)}] }
`
const page = (number: string) => `meup://demo/resources/library/book://moby/${number}`

/** The ways in which the client connects. Two suffice: `mcp-serve.test.ts` tests all, with what the space itself offers. */
const tried: readonly Way[] = isSoak ? ways : ['first SDK, http', 'modern, stdio']

test.for(tried)('what an MCP server in a space offers: %s', async (way) => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await startMeup('up', cwd)
  const ana = await connect({ as: 'ana', directory: cwd })
  onTestFinished(() => ana.close())
  await ana.whenPresent(['library'], { timeoutMs: 30_000 })
  const asked: string[] = []
  const fillIn: FillIn = (message) => {
    asked.push(message)
    return { action: 'accept', content: { name: 'Ada' } }
  }
  const client = await openClient(way, cwd, 'desktop', fillIn)
  onTestFinished(() => client.close())

  expect(await client.tools()).toContain('library__find_book')
  const found = await client.call('library__find_book', { title: 'Moby Dick' })
  expect(found).toMatchObject({
    content: [{ text: 'found Moby Dick' }, { type: 'resource_link', uri: page('1') }],
    structuredContent: { pages: 635 },
  })
  expect(await client.prompts()).toEqual(['why', 'library__review_book'])
  expect(await client.prompt('library__review_book', { title: 'Emma' })).toBe('Review Emma')
  expect(await client.resources()).toEqual(expect.arrayContaining([page('1'), page('{page}')]))
  expect(await client.read(page('7'))).toBe('page 7')

  const lent = await client.call('library__lend_book', { title: 'Emma' })
  expect([lent.content[0]?.text, asked]).toEqual(['Emma is lent to Ada', ['For whom?']])

  await client.subscribe([page('1')])
  await expect
    .poll(
      async () => {
        await client.call('library__write_page', { title: `by ${way}` })
        return client.updates
      },
      { interval: 300 },
    )
    .toContain(page('1'))
  expect(await client.read(page('1'))).toBe(`by ${way}`)

  const desk = await connect({ as: 'desk', directory: cwd })
  desk.tool('stamp', {}, () => 'stamped')
  await expect.poll(() => client.changes).toContain('tools')
  expect(await client.tools()).toContain('desk__stamp')
  expect((await client.call('desk__stamp')).content[0]?.text).toBe('stamped')
  const before = client.changes.length
  desk.close()
  await expect.poll(() => client.changes.length).toBeGreaterThan(before)
  expect(await client.tools()).not.toContain('desk__stamp')
})
