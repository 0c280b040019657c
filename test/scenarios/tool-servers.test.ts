import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type HttpServer, serveHttp } from '../../packages/mcp-bridge/test/support/http-server.js'
import { meup, type RunningSpace, startMeup, temporaryFolder, upUntil } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'

const rawServer = join(repositoryRoot, 'packages/mcp-bridge/test/fixtures/raw-server.mjs')
const config = (tools: string) => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  tools: { kind: mcp, ${tools} }
`
const byCommand = config(`command: node, args: [${JSON.stringify(rawServer)}]`)
const byUrl = ({ url }: HttpServer) =>
  config(`url: "${url}?key=address-secret", headers: { authorization: "Bearer \${TOOLS_TOKEN}" }`)

/** Connects ana, and records the envelopes that she receives. */
async function enter(running: RunningSpace, folder: string) {
  const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
  const ana = await connect({ url: running.url, space: 'demo', token })
  onTestFinished(() => ana.close())
  const heard: AnyEnvelope[] = []
  ana.on('envelope', (envelope) => heard.push(envelope))
  await ana.whenPresent(['tools'])
  return { ana, heard }
}

const comings = (heard: readonly AnyEnvelope[]): string[] =>
  heard
    .flatMap((each) =>
      each.kind === 'system.presence' && each.payload.participant.id === 'tools' ? each.payload.event : [],
    )
    .filter((event) => event !== 'update')

const failureOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error,
  )

const ended = { name: 'ToolError', code: -32000, message: expect.stringContaining('the tool server "tools"') }
const request = (ana: SpaceClient, name: string) =>
  ana.request('tools', 'tools/call', { name, arguments: {} })

describe('a tool server run by its command', () => {
  test('that is killed fails its calls, leaves, comes back and answers again', async () => {
    const folder = temporaryFolder({ 'space.yaml': byCommand })
    const running = await startMeup('up', folder)
    const { ana, heard } = await enter(running, folder)
    const pending = [failureOf(request(ana, 'silent')), failureOf(request(ana, 'kill'))]
    expect(await Promise.all(pending)).toEqual([
      expect.objectContaining(ended),
      expect.objectContaining(ended),
    ])
    await expect.poll(() => comings(heard)).toEqual(['leave', 'join'])
    expect(await request(ana, 'mirror')).toHaveProperty('request.params.name', 'mirror')
    expect(running.stderr).toContain('tools ended: was killed by SIGKILL')
    expect(await running.stop('SIGTERM')).toBe(0)
  })
})

describe('a tool server elsewhere', () => {
  async function started(manner: 'sessions' | 'modern') {
    vi.stubEnv('TOOLS_TOKEN', 'very-secret-token')
    onTestFinished(() => void vi.unstubAllEnvs())
    const server = await serveHttp(manner)
    const folder = temporaryFolder({ 'space.yaml': byUrl(server) })
    const running = await startMeup('up', folder, ['--verbose'])
    return { server, folder, running, ...(await enter(running, folder)) }
  }

  test('goes away and comes back', async () => {
    const { server, running, ana, heard } = await started('sessions')
    expect((await ana.call('tools/add', { a: 2, b: 3 })).text).toBe('5')
    const begun = new Promise((resolve) => server.happenings.once('begun', () => resolve(undefined)))
    const pending = failureOf(ana.call('tools/wait'))
    await begun
    await server.stop()
    expect(await pending).toMatchObject(ended)
    await expect.poll(() => comings(heard)).toEqual(['leave'])
    await server.start()
    await expect.poll(() => comings(heard)).toEqual(['leave', 'join'])
    expect((await ana.call('tools/add', { a: 2, b: 4 })).text).toBe('6')
    expect(await running.stop('SIGTERM')).toBe(0)
  })

  test('is sent its headers, which nobody else gets to see', async () => {
    const { server, folder, running, ana } = await started('sessions')
    await ana.call('tools/add', { a: 2, b: 3 })
    server.interposeOn(({ headers }) => new Response(`no ${headers.get('authorization')}`, { status: 500 }))
    expect(await failureOf(ana.call('tools/add', { a: 1, b: 1 }))).toMatchObject({
      message: expect.stringContaining('HTTP 500: no Bearer [redacted]'),
    })
    const sent = server.requests.map(({ headers }) => headers.get('authorization'))
    expect(new Set(sent)).toEqual(new Set(['Bearer very-secret-token']))
    const { stdout } = await meup(['watch', '--from', '1', '--no-follow', '--json'], { cwd: folder })
    expect(stdout).toContain('"tools"')
    expect(running.stderr).toContain('"tools"')
    for (const received of [stdout, running.stderr])
      expect(received).not.toMatch(/very-secret-token|address-secret/)
  })

  test('that hangs when it is tried again does not keep the space from ending', async () => {
    const { server, running, heard } = await started('modern')
    await server.stop()
    await expect.poll(() => comings(heard)).toEqual(['leave'])
    const known = server.requests.length
    server.interposeOn(() => new Promise(() => {}))
    await server.start()
    await expect.poll(() => server.requests.length).toBeGreaterThan(known)
    expect(await running.stop('SIGTERM')).toBe(0)
  })

  test('that cannot be reached at the start is told, with what to do', async () => {
    vi.stubEnv('TOOLS_TOKEN', 'very-secret-token')
    onTestFinished(() => void vi.unstubAllEnvs())
    const server = await serveHttp('modern')
    const cwd = temporaryFolder({ 'space.yaml': byUrl(server) })
    server.interposeOn(() => new Response('who is very-secret-token?', { status: 401 }))
    const { stderr } = await upUntil(/next try/, cwd)
    expect(stderr).toContain(
      `"tools" at ${server.url} is not available: it asks for authorization (HTTP 401)`,
    )
    expect(stderr).not.toMatch(/very-secret-token|address-secret/)
  })
})
