import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../src/config/load.js'
import type { OperatorLog } from '../src/lib/logger.js'
import { readGatewayFile } from '../src/lib/running-gateway.js'
import { restart } from '../src/operator/restart.js'
import type { ProgramName } from '../src/run/describe-program.js'
import type { ProgramEvent } from '../src/run/keep-running.js'
import { startGateway } from '../src/run/start-gateway.js'
import { launch, type RunningSpaces } from '../src/run/up.js'
import { folderWith } from './support/folder.js'

const hanging = '[-e, "setInterval(() => {}, 1000)"]'
const node = JSON.stringify(process.execPath)
const rawServer = JSON.stringify(
  new URL('../../mcp-bridge/test/fixtures/raw-server.mjs', import.meta.url).pathname,
)
const tools = `{ kind: mcp, command: ${node}, args: [${rawServer}] }`

const config = (participants: Readonly<Record<string, string>>): string => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: memory }
participants:
  ana: { kind: human, capabilities: ["*"] }
${Object.entries(participants)
  .map(([name, settings]) => `  ${name}: ${settings}`)
  .join('\n')}
`

/** Runs a space and its programs in this process. */
async function runSpace(participants: Readonly<Record<string, string>>, directory = folderWith()) {
  const events: { readonly name: ProgramName; readonly event: ProgramEvent }[] = []
  const said: string[] = []
  const say = (_: object, message: string): void => void said.push(message)
  const log: OperatorLog = {
    ...{ info: () => {}, notice: say, warn: say, error: say, output: () => {} },
    program: (_, fields, message) => say(fields, message),
  }
  const write = (next: Readonly<Record<string, string>>) => {
    writeFileSync(join(directory, 'space.yaml'), config(next))
    return loadConfig(join(directory, 'space.yaml'))
  }
  const running = await launch(write(participants), log, { mayMove: true })
  onTestFinished(() => running.close())
  await running.start((name, event) => events.push({ name, event }))
  const listEvents = (participant: string): ProgramEvent[] =>
    events.flatMap(({ name, event }) => (name.participant === participant ? [event] : []))
  return {
    directory,
    running,
    said,
    listEvents,
    listTypes: (participant: string) => listEvents(participant).map(({ type }) => type),
    reload: (next: Readonly<Record<string, string>>) => running.reload(write(next)),
    enter: (as: string) => enter(running, as),
  }
}

async function enter({ url, tokens }: RunningSpaces, as: string): Promise<SpaceClient> {
  const space = await connect({ url, space: 'demo', token: tokens.demo?.[as] ?? '' })
  onTestFinished(() => space.close())
  return space
}

describe('a program that does not start', () => {
  test.each([
    ['ends at once', `{ kind: mcp, command: ${node}, args: [-e, "process.exit(3)"] }`],
    ['is not installed', '{ kind: mcp, command: no-such-program }'],
    ['never answers', `{ kind: mcp, command: ${node}, args: ${hanging}, startTimeout: 300ms }`],
    [
      'writes what is no message',
      `{ kind: mcp, command: ${node}, args: [-e, "console.log('[1]'); process.exit(0)"] }`,
    ],
    ['is not reachable', '{ kind: mcp, url: "http://127.0.0.1:9/mcp" }'],
    ['is a coding agent that ends', `{ kind: acp, command: ${node}, args: [-e, "process.exit(3)"] }`],
    ['is a process that ends', `{ kind: process, command: ${node}, args: [-e, "process.exit(3)"] }`],
    ['is a process that is not installed', '{ kind: process, command: no-such-program }'],
  ])('because it %s is tried again, and the others work', async (_, broken) => {
    const { enter, listEvents, said } = await runSpace({ broken, tools })
    await expect
      .poll(() => listEvents('broken'))
      .toContainEqual(
        expect.objectContaining({ type: 'ended', failures: expect.objectContaining({ count: 2 }) }),
      )
    const ana = await enter('ana')
    await ana.whenPresent(['tools'])
    expect(await ana.request('tools', 'tools/call', { name: 'mirror', arguments: {} })).toHaveProperty(
      'request',
    )
    expect(said[0]?.split('\n')).toHaveLength(1)
  })

  test('has the error on stderr as its cause', async () => {
    const crash = "[-e, \"console.error('no folder'); throw new TypeError('oops')\"]"
    const { said } = await runSpace({
      server: `{ kind: mcp, command: ${node}, args: ${crash} }`,
      bot: `{ kind: process, command: ${node}, args: ${crash} }`,
    })
    await expect.poll(() => said.join('\n')).toMatch(/bot ended: exit 1, TypeError: oops · /)
    await expect.poll(() => said.join('\n')).toMatch(/it exited with code 1\. .*stderr: .*TypeError: oops/)
  })

  test('after it was added by a reload is tried again until it starts', async () => {
    const server = createServer((_, response) => response.writeHead(503).end())
    const { port } = await listen(server)
    const { reload, listTypes } = await runSpace({})
    await reload({ remote: `{ kind: mcp, url: "http://127.0.0.1:${port}/mcp" }` })
    await expect.poll(() => listTypes('remote').filter((type) => type === 'ended').length).toBeGreaterThan(1)
  })

  test('does not keep the space from closing while it starts', async () => {
    const { running, listTypes } = await runSpace({
      tools: `{ kind: mcp, command: ${node}, args: ${hanging} }`,
      coder: `{ kind: acp, command: ${node}, args: ${hanging} }`,
    })
    await expect.poll(() => [...listTypes('tools'), ...listTypes('coder')]).toEqual(['starting', 'starting'])
    await running.close()
    expect([...listTypes('tools'), ...listTypes('coder')]).toEqual(['starting', 'starting'])
  })
})

describe('joining', () => {
  test('late is an event, and so is joining after it', async () => {
    const { enter, listTypes } = await runSpace({
      bot: `{ kind: process, command: ${node}, args: ${hanging}, startTimeout: 100ms }`,
    })
    await expect.poll(() => listTypes('bot')).toContain('late')
    await enter('bot')
    await expect.poll(() => listTypes('bot').at(-1)).toBe('joined')
  })
})

describe('the space', () => {
  test('reads the state of each program in the log', async () => {
    const { enter, listTypes, running } = await runSpace({
      bot: `{ kind: process, command: ${node}, args: [-e, "setTimeout(() => process.exit(3), 300)"], restart: never }`,
    })
    await expect.poll(() => listTypes('bot')).toContain('ended')
    const ana = await enter('ana')
    const { url, tokens } = running
    const reader = await connect({ url, space: 'demo', token: tokens.demo?.ana ?? '', after: 0 })
    onTestFinished(() => reader.close())
    const states: unknown[] = []
    reader.on('envelope', (envelope: AnyEnvelope) => {
      if (envelope.kind === 'system.presence' && envelope.payload.program)
        states.push(envelope.payload.program)
    })
    await expect.poll(() => states).toEqual([{ state: 'starting' }, { state: 'resting', count: 1 }])
    expect(ana.participants.find(({ id }) => id === 'bot')).toMatchObject({ program: { state: 'resting' } })
  })

  test('reads nothing more of a program that is removed', async () => {
    const { reload, enter } = await runSpace({ bot: `{ kind: process, command: ${node}, args: ${hanging} }` })
    const ana = await enter('ana')
    await expect.poll(() => ana.participants.find(({ id }) => id === 'bot')).toHaveProperty('program')
    await reload({ bot: '{ kind: agent }' })
    await expect.poll(() => ana.participants.find(({ id }) => id === 'bot')).not.toHaveProperty('program')
  })
})

describe('a kicked program', () => {
  test('rests, and is started again when the kick ends', async () => {
    const { enter, listEvents, said } = await runSpace({ tools })
    const ana = await enter('ana')
    await ana.whenPresent(['tools'])
    await ana.kick('tools', { reason: 'spam', untilTs: new Date(Date.now() + 3000).toISOString() })
    await expect
      .poll(() => listEvents('tools').at(-1))
      .toMatchObject({ type: 'kicked', kick: { by: 'ana', reason: 'spam' } })
    expect(said.filter((line) => line.startsWith('tools'))).toHaveLength(1)
    await expect.poll(() => listEvents('tools')).toContainEqual({ type: 'starting', cause: 'kick_over' })
    await ana.whenPresent(['tools'])
  })

  test('is started again when it is invited', async () => {
    const { enter, listTypes, listEvents } = await runSpace({ tools })
    const ana = await enter('ana')
    await ana.whenPresent(['tools'])
    await ana.kick('tools')
    await expect.poll(() => listTypes('tools')).toContain('kicked')
    await ana.invite('tools', ['mcp.response'])
    await expect.poll(() => listEvents('tools')).toContainEqual({ type: 'starting', cause: 'kick_over' })
  })
})

describe('meup restart', () => {
  const flags = (directory: string) => ({ config: join(directory, 'space.yaml'), json: true })
  const bot = `{ kind: process, command: ${node}, args: [-e, "process.exit(3)"], restart: never }`

  test('starts a program that rests, and one that runs', async () => {
    const { directory, listEvents, listTypes } = await runSpace({ bot, tools })
    await expect.poll(() => listTypes('bot')).toContain('ended')
    await expect.poll(() => listTypes('tools')).toContain('joined')
    await restart(['bot', 'demo/tools'], flags(directory))
    const anew = { type: 'starting', cause: 'request' }
    await expect.poll(() => listEvents('bot')).toContainEqual(anew)
    await expect.poll(() => listEvents('tools')).toContainEqual(anew)
    await expect.poll(() => listTypes('tools').filter((type) => type === 'joined')).toHaveLength(2)
  })

  test('restarts nothing if one of the names is wrong, and says what was meant', async () => {
    const { directory, listTypes, said } = await runSpace({ bot, tools })
    await expect.poll(() => listTypes('tools')).toContain('joined')
    const meaning = (meant: string) =>
      expect.objectContaining({ details: expect.objectContaining({ meant }) })
    await expect(restart(['tools', 'bo'], flags(directory))).rejects.toThrow(meaning('bot'))
    await expect(restart(['tools', 'ana'], flags(directory))).rejects.toMatchObject({ exitCode: 2 })
    await expect(restart(['tools', 'nobody'], flags(directory))).rejects.toThrow(meaning('one of bot, tools'))
    expect(said).not.toContain('restarting tools, as meup restart asks')
  })

  test('says that nothing runs here, or that a gateway runs alone', async () => {
    const directory = folderWith({ 'space.yaml': config({}) })
    await expect(restart(['bot'], flags(directory))).rejects.toMatchObject({ exitCode: 3 })
    const silent = { info: () => {}, warn: () => {}, error: () => {} }
    const gateway = await startGateway(loadConfig(join(directory, 'space.yaml')), silent, { mayMove: true })
    onTestFinished(() => gateway.close())
    await expect(restart(['bot'], flags(directory))).rejects.toThrow('only meup gateway runs at')
  })
})

describe('the control socket', () => {
  /** Sends a request to the control socket. */
  async function post(socketPath: string, name: string, body: string) {
    const sent = request({ socketPath, path: `/${name}`, method: 'POST' }).end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode, answer: JSON.parse(text) }
  }
  const pathOf = (directory: string): string => readGatewayFile(directory)?.control ?? ''
  const broken = '{ kind: mcp, command: no-such-program }'

  test('is for its owner alone, replaces that of a killed gateway, and is removed at the end', async () => {
    const directory = folderWith({ '.meup/run/control.sock': 'of a gateway that was killed' })
    const { running } = await runSpace({}, directory)
    const path = pathOf(directory)
    expect(path).toBe(join(directory, '.meup/run/control.sock'))
    expect([statSync(path).isSocket(), statSync(path).mode & 0o777]).toEqual([true, 0o600])
    expect(statSync(join(directory, '.meup/run')).mode & 0o777).toBe(0o700)
    await running.close()
    expect(existsSync(path)).toBe(false)
  })

  test('lies in the folder for temporary files where its path would be too long', async () => {
    const long = join('x'.repeat(60), 'y'.repeat(60))
    const directory = join(folderWith({ [`${long}/note`]: '' }), long)
    await runSpace({ broken }, directory)
    const path = pathOf(directory)
    expect(Buffer.byteLength(path)).toBeLessThan(104)
    expect((await post(path, 'programs', '')).status).toBe(200)
  })

  test('lists the programs with state, count, last error and next try', async () => {
    const { directory, listTypes } = await runSpace({ broken })
    await expect.poll(() => listTypes('broken')).toContain('ended')
    const { answer } = await post(pathOf(directory), 'programs', '{}')
    expect(answer).toMatchObject({
      programs: [
        {
          space: 'demo',
          participant: 'broken',
          since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          count: expect.any(Number),
          lastError: expect.stringContaining('no-such-program'),
        },
      ],
    })
  })

  test.each([
    ['another request', 'stop', '{}', 'unknown_request'],
    ['a member of every object', 'constructor', '{}', 'unknown_request'],
    ['text that is no JSON', 'restart', '{', 'invalid_request'],
    ['a list', 'restart', '[]', 'invalid_request'],
    ['no names', 'restart', '{}', 'invalid_request'],
    ['names that are none', 'restart', '{"names":[1]}', 'invalid_request'],
    ['more than 64 KiB', 'restart', `{"names":["${'x'.repeat(70_000)}"]}`, 'too_large'],
  ])('refuses %s', async (_, name, body, code) => {
    const { directory } = await runSpace({})
    expect(await post(pathOf(directory), name, body)).toMatchObject({
      status: 400,
      answer: { error: { code } },
    })
  })
})

async function listen(server: ReturnType<typeof createServer>): Promise<{ port: number }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return server.address() as AddressInfo
}
