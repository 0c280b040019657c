import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { meupCommand } from '../support/cli.js'
import { serveHttp } from '../support/mcp-clients.js'
import { openMcpSpace } from '../support/mcp-space.js'
import { type Address, type ClientName, publicClients } from './clients.js'
import { runClient } from './run-client.js'

vi.setConfig({ testTimeout: 600_000 })

/** Requests that each client sends, with a part of the expected output. */
const requests = {
  'lists tools': [{}, 'shop__price'],
  'calls a tool': [{ name: 'shop__price', arguments: {} }, 'two coins'],
  'shows why a tool failed': [{ name: 'shop__fail', arguments: {} }, 'sold out'],
  'shows why a call was refused': [{ name: 'show_proposal', arguments: { id: 'none' } }, 'none'],
  'shows which arguments are wrong': [{ name: 'send', arguments: { to: ['ben'] } }, 'message'],
  'asks an agent': [{ name: 'ask', arguments: { message: 'A cake?', to: ['ben'] } }, 'price: two coins'],
} as const

async function findAddress(over: 'stdio' | 'http', cwd: string): Promise<Address> {
  if (over === 'stdio') {
    const [command = '', ...args] = meupCommand(['mcp', 'serve', '--as', 'desktop'])
    return { command, args }
  }
  const { url, token, stop } = await serveHttp(cwd, 'desktop')
  onTestFinished(async () => void (await stop()))
  return { url: url.href, token }
}

const ways = (Object.keys(publicClients) as ClientName[]).flatMap((name) =>
  publicClients[name].speaks.map((over) => [name, over] as const),
)

describe.for(ways)('%s over %s', ([name, over]) => {
  test('lists, calls, is refused, and asks', async () => {
    await using space = await openMcpSpace()
    const address = await findAddress(over, space.cwd)
    for (const [what, [request, part]] of Object.entries(requests)) {
      const { stdout, stderr } = await runClient(name, address, request, space.cwd)
      expect(stdout + stderr, what).toContain(part)
    }
  })
})
