import { statSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { meup, spawnMeup, startMeup, temporaryFolder } from '../support/cli.js'
import { openClient, serveHttp } from '../support/mcp-clients.js'
import { type McpSpace, openMcpSpace } from '../support/mcp-space.js'

vi.setConfig({ testTimeout: 60_000 })
const within = { timeout: 15_000, interval: 20 }

async function openSpace() {
  const space = await openMcpSpace()
  onTestFinished(() => space[Symbol.asyncDispose]())
  return space
}

/** Opens a client that is closed at the end of the test. */
async function client(...args: Parameters<typeof openClient>) {
  const opened = await openClient(...args)
  onTestFinished(() => opened.close())
  return opened
}

test('what a client may do is what its participant may do', async () => {
  const space = await openSpace()
  const reader = await client('modern, stdio', space.cwd, 'reader')
  const refused = await reader.call('send', { message: 'Hello' })
  expect(refused).toMatchObject({ isError: true, _meta: { 'meup/code': 'capability_violation' } })
  expect(refused.content[0]?.text).toMatch(/\(capability_violation\)$/)
  expect(await reader.read('meup://demo/transcript')).toContain('"items": []')
})

test('what a client may not call is proposed, and waits for somebody', async () => {
  const space = await openSpace()
  const ana = await space.enter('ana')
  const trainee = await client('modern, stdio', space.cwd, 'trainee')
  const buy = () => trainee.call('shop__buy', {}, { why: 'to learn it' })
  const proposed = (): Promise<string> =>
    vi.waitFor(() => {
      const [proposal] = ana.proposals.list()
      expect(proposal).toMatchObject({ from: 'trainee', rationale: 'to learn it' })
      return proposal?.id ?? ''
    }, within)
  const bought = buy()
  await ana.proposals.approve(await proposed())
  expect(await bought).toMatchObject({ content: [{ type: 'text', text: 'sold' }] })
  const refused = buy()
  await ana.proposals.reject(await proposed(), { reason: 'not yet' })
  expect(await refused).toMatchObject({ isError: true, _meta: { 'meup/code': 'rejected' } })
  expect(space.sold()).toBe(1)
})

describe('a client that goes in the middle of a call', () => {
  test.for(['first SDK, stdio', 'modern, stdio', 'modern, http'] as const)(
    'takes back what it asked: %s',
    async (way) => {
      const space = await openSpace()
      const gone = await client(way, space.cwd, 'desktop')
      const ana = await space.enter('ana')
      const heard = ana.envelopes()
      gone.call('ask', { message: 'Say nothing', to: ['ben'] }).catch(() => {})
      gone.call('shop__never').catch(() => {})
      const waiting = new Set(['chat', 'tools/call'])
      for await (const { from, kind, payload } of heard) {
        if (from === 'desktop') waiting.delete('method' in payload ? String(payload.method) : kind)
        if (waiting.size === 0) break
      }
      await gone.leave()
      await vi.waitFor(() => {
        expect(space.takenBack).toHaveLength(1)
        expect(space.givenUp).toHaveLength(1)
        // A server over HTTP stays in the space for other clients; one over stdio leaves together with its client.
        const status = way.endsWith('http') ? 'present' : 'away'
        expect(ana.participants).toContainEqual(expect.objectContaining({ id: 'desktop', status }))
      }, within)
    },
  )
})

test('a proposal from before the server came can be decided, and one that others decide is no longer shown', async () => {
  const space = await openSpace()
  const ana = await space.enter('ana')
  const asked = ana.ask('Buy a cake', { to: ['ben'] })
  await vi.waitFor(() => expect(ana.proposals.list()).toHaveLength(1), within)
  const shown: AbortSignal[] = []
  const desktop = await client('legacy, stdio', space.cwd, 'desktop', (_, __, signal) => {
    shown.push(signal)
    return new Promise(() => {})
  })
  await vi.waitFor(() => expect(shown).toHaveLength(1), within)
  const { structuredContent } = await desktop.call('list_proposals')
  expect(structuredContent).toMatchObject({ proposals: [{ from: 'ben', tool: 'buy', mayApprove: true }] })
  await ana.proposals.approve(ana.proposals.list()[0]?.id ?? '')
  expect((await asked).text).toBe('buy: sold')
  await vi.waitFor(() => expect(shown[0]?.aborted).toBe(true), within)
  const again = ana.ask('Buy a pie', { to: ['ben'] })
  await vi.waitFor(() => expect(shown).toHaveLength(2), within) // Shown although the first one is never answered.
  await ana.proposals.reject(ana.proposals.list()[0]?.id ?? '', { reason: 'no pies' })
  expect((await again).text).toBe('buy: rejected by ana: no pies')
})

test('a gateway that goes and comes back finds the client still there', async () => {
  const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants: { desktop: { kind: human, capabilities: ["*"] } }
`
  const cwd = temporaryFolder({ 'space.yaml': config })
  const first = await startMeup('gateway', cwd)
  const { host } = new URL(first.url)
  const desktop = await client('modern, stdio', cwd, 'desktop')
  await desktop.subscribe(['meup://demo/transcript'])
  expect((await desktop.call('send', { message: 'before' })).isError).toBeFalsy()
  await first.stop('SIGKILL')
  await expect(desktop.read('meup://demo/transcript')).rejects.toThrow(/\(unreachable\)/)
  const meanwhile = desktop.call('send', { message: 'meanwhile' })
  await startMeup('gateway', cwd, ['--listen', host])
  expect((await meanwhile).isError).toBeFalsy()
  const said = JSON.parse(await desktop.read('meup://demo/transcript'))
  expect(said.items.map(({ text }: { text: string }) => text)).toEqual(['before', 'meanwhile'])
  const known = desktop.updates.length
  await desktop.call('send', { message: 'after' })
  await vi.waitFor(() => expect(desktop.updates.length).toBeGreaterThan(known), within)
})

describe('over HTTP', () => {
  type Headers = Readonly<Record<string, string>>

  let space: McpSpace
  let server: Awaited<ReturnType<typeof serveHttp>>
  let authorization: string
  beforeAll(async () => {
    space = await openMcpSpace()
    const hosts = ['--host', 'host.docker.internal', '--host', 'Podman.internal:9']
    server = await serveHttp(space.cwd, 'desktop', hosts)
    authorization = `Bearer ${server.token}`
  }, 30_000)
  afterAll(async () => {
    await server?.stop()
    await space?.[Symbol.asyncDispose]()
  })

  type Sent = { readonly path?: string; readonly body?: string }
  /** Sends a request with any headers, as a program can. */
  const send = (headers: Headers, { path = '/mcp', body = hello }: Sent = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const sent = { 'content-type': 'application/json', accept, ...headers }
      request(new URL(path, server.url), { method: 'POST', headers: sent }, resolve)
        .on('error', reject)
        .end(body)
    })
  const knock = async (headers: Headers, sent?: Sent): Promise<number> => {
    const { statusCode = 0 } = (await send(headers, sent)).resume()
    return statusCode
  }

  const accept = 'application/json, text/event-stream'
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

  test('only who has the token gets in, and no page from elsewhere', async () => {
    expect(await knock({ authorization })).toBe(200)
    expect(await knock({})).toBe(403)
    expect(await knock({ authorization: `${authorization}x` })).toBe(403)
    expect(await knock({ authorization }, { path: '/other' })).toBe(404)
    const port = server.url.port
    expect(await knock({ authorization, host: `evil.example:${port}` })).toBe(403)
    expect(await knock({ authorization, origin: 'https://evil.example' })).toBe(403)
    expect(await knock({ authorization, origin: 'null' })).toBe(403)
    expect(await knock({ authorization, origin: `http://localhost:${port}` })).toBe(200)
  })

  test.for(['host.docker.internal', 'podman.internal', 'box.example', '192.0.2.7', '[::1]', 'a.localhost'])(
    'a client reaches it as %s, on any port',
    async (name) => {
      for (const host of [name, `${name}:1`, name.toUpperCase()])
        expect(await knock({ authorization, host })).toBe(200)
    },
  )

  test.for(['host.docker.internal.evil.example', 'sub.box.example', 'docker.internal:80'])(
    'a client that reaches it as %s reads which name to add',
    async (host) => {
      const refused = await send({ authorization, host })
      expect(refused.statusCode).toBe(403)
      const name = host.replace(':80', '')
      const message = expect.stringContaining(` --host ${name},`)
      expect(JSON.parse(await text(refused))).toMatchObject({ error: { code: -32000, message } })
    },
  )

  test('every revision is spoken as its client asks for it', async () => {
    for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const body = JSON.stringify({ ...JSON.parse(hello), params: { ...params, protocolVersion } })
      const headers = { authorization, accept, 'content-type': 'application/json' }
      const response = await fetch(server.url, { method: 'POST', headers, body })
      expect(await response.text()).toContain(`"protocolVersion":"${protocolVersion}"`)
    }
  })

  test('what is no MCP is refused, and the next client served all the same', async () => {
    expect(await knock({ authorization }, { body: 'hello' })).toBe(400)
    expect(await knock({ authorization, 'mcp-session-id': 'unknown' }, { body: ping })).toBe(404)
    expect(await knock({ authorization }, { body: ping })).toBe(400)
    expect(await knock({ authorization })).toBe(200)
  })

  test('it says where it is, makes a token that others cannot read, and ends when told to', async () => {
    const { cwd } = space
    const { process: child, said, ended } = spawnMeup(['mcp', 'serve', '--as', 'desktop', '--http', '0'], cwd)
    await vi.waitFor(() => expect(said.stderr).toContain('.meup/mcp-token'), within)
    expect(said.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp\n$/)
    expect(statSync(join(cwd, '.meup/mcp-token')).mode & 0o777).toBe(0o600)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

test('called wrongly, it says so', async () => {
  const { cwd, url } = await openSpace()
  writeFileSync(join(cwd, 'short'), 'short')
  const failing = async (...args: string[]) => {
    const { code, stdout, stderr } = await meup(['mcp', 'serve', '--as', 'desktop', ...args], { cwd })
    expect(stdout).toBe('')
    return [code, stderr]
  }
  const short = ['--http', '0', '--access-token-file', 'short']
  expect(await failing(...short)).toEqual([2, expect.stringContaining('is shorter than 16 characters')])
  const { port } = new URL(url)
  expect(await failing('--http', port)).toEqual([1, expect.stringContaining(`port ${port} is in use`)])
  const nowhere = ['--url', 'http://127.0.0.1:1', '--token-file', 'short']
  expect(await failing('--http', 'x')).toEqual([2, expect.stringContaining('--http takes a port, not x')])
  expect(await failing('--json')).toEqual([2, expect.stringContaining('--json needs --http')])
  expect(await failing('--host', 'box.example')).toEqual([2, expect.stringContaining('--host needs --http')])
  for (const host of ['*.example', '*'])
    expect(await failing('--host', host)).toEqual([2, expect.stringContaining('a name without wildcards')])
  expect(await failing('--host', 'a/b')).toEqual([2, expect.stringMatching(/--host takes a name .*not a\/b/)])
  expect(await failing(...nowhere)).toEqual([3, expect.stringContaining('no gateway answers')])
})

test('lines that cannot be read are answered, and the next ones read', async () => {
  const { cwd } = await openSpace()
  const { process: child, said, ended } = spawnMeup(['mcp', 'serve', '--as', 'desktop'], cwd)
  const clientInfo = { name: 'raw', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  child.stdin.write(`\uFEFF${JSON.stringify({ id: 'a', method: 'initialize', params })}\r\n\nhello\n`)
  child.stdin.write(
    `{"id":1,"method":"ping","pad":"${'x'.repeat(11_000_000)}"}\n{"id":2,"method":"ping","params":null}\n`,
  )
  const answers = () => said.stdout.split('\n').map((line) => (line === '' ? {} : JSON.parse(line)))
  await vi.waitFor(
    () => expect(answers()).toContainEqual(expect.objectContaining({ id: 2, result: {} })),
    within,
  )
  for (const [id, code] of [
    [null, -32700],
    [1, -32600],
  ])
    expect(answers()).toContainEqual(
      expect.objectContaining({ id, error: expect.objectContaining({ code }) }),
    )
  expect(answers()).toContainEqual(expect.objectContaining({ id: 'a', result: expect.anything() }))
  child.stdin.end()
  expect(await ended).toBe(0)
})

test('a participant who is put out takes its server with it', async () => {
  const space = await openSpace()
  const ana = await space.enter('ana')
  const { ended, said } = spawnMeup(['mcp', 'serve', '--as', 'desktop'], space.cwd)
  await ana.whenPresent(['desktop'])
  await ana.kick('desktop', { reason: 'enough' })
  expect(await ended).toBe(5)
  expect(said.stderr).toContain('enough')
})
