import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TranscriptFile } from '@meup/agent-sdk/transcript/file'
import {
  createGateway,
  type EnvelopeLog,
  type LogStore,
  memoryStore,
  serve,
  sqliteStore,
  tokenAuthenticator,
} from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { logPath } from '../src/config/storage.js'
import { createToken, ensureTokens } from '../src/config/tokens.js'
import { findExecutable } from '../src/lib/find-executable.js'
import { writeGatewayFile } from '../src/lib/running-gateway.js'
import {
  clockCheck,
  diskCheck,
  gatewayChecks,
  logCheck,
  modeChecks,
  nodeCheck,
  oldestNode,
  portCheck,
  programChecks,
  tokenChecks,
} from '../src/operator/checks.js'
import type { Address } from '../src/operator/settings.js'
import { configIn, folderWith } from './support/folder.js'

const text = `
version: 1
space: demo
participants:
  ana: { kind: human }
  ben: { kind: agent }
`
const wrong = { ok: false, advice: expect.stringMatching(/./) }

describe('node', () => {
  test('the oldest one is the one that the package asks for', () => {
    const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    expect(engines.node).toBe(`>=${oldestNode}`)
  })

  test.for([
    ['20.19.0', true],
    ['20.100.0', true],
    ['22.1.0', true],
    ['100.0.0', true],
    ['20.18.3', false],
    ['18.20.0', false],
    ['9.0.0', false],
  ] as const)('%s: %s', ([version, ok]) => {
    expect(nodeCheck(version).ok).toBe(ok)
  })
})

/** Seconds from this machine's clock to the gateway's clock (`present`), and to the newest time in the log (`past`). */
test.for([
  [{ present: undefined, past: undefined }, true],
  [{ present: -2, past: -100 }, true],
  [{ present: 3, past: 2 }, true],
  [{ present: -100, past: undefined }, false],
  [{ present: 100, past: undefined }, false],
  [{ present: undefined, past: 100 }, false],
] as const)('the clock beside others that are off by %j seconds: %s', ([{ present, past }, ok]) => {
  const now = Date.UTC(2026, 5)
  const at = (seconds: number | undefined) => (seconds === undefined ? undefined : now + seconds * 1000)
  expect(clockCheck(now, { present: at(present), past: at(past) }).ok).toBe(ok)
})

test('a clock that is before this software was written is wrong, whatever others say', () => {
  expect(clockCheck(60_000, { present: 60_000, past: undefined })).toMatchObject({
    ok: false,
    detail: 'it is 1970-01-01T00:01:00.000Z here',
  })
})

describe('modes', () => {
  test('nothing there is nothing wrong', () => {
    expect(modeChecks(folderWith(), undefined)).toMatchObject([{ ok: true }])
  })

  test('names what others may use, and how to mend it', () => {
    const files = {
      '.meup/tokens/ana': 'x',
      '.meup/gateway.json': '{}',
      '.meup/.gitignore': '*',
      'log.db': '',
    }
    const folder = folderWith(files)
    chmodSync(join(folder, '.meup/.gitignore'), 0o644)
    expect(modeChecks(folder, join(folder, 'log.db'))).toMatchObject([{ ok: true }])
    chmodSync(join(folder, '.meup/tokens'), 0o755)
    chmodSync(join(folder, '.meup/tokens/ana'), 0o640)
    writeFileSync(join(folder, 'log.db-wal'), '')
    chmodSync(join(folder, 'log.db-wal'), 0o604)
    expect(
      modeChecks(folder, join(folder, 'log.db'))
        .map(({ advice }) => advice)
        .sort(),
    ).toEqual([
      `chmod 600 ${folder}/.meup/tokens/ana`,
      `chmod 600 ${folder}/log.db-wal`,
      `chmod 700 ${folder}/.meup/tokens`,
    ])
  })
})

describe('port', () => {
  const configAt = (port: number) =>
    configIn('/srv', text.replace('space: demo', `space: demo\ngateway: { listen: "127.0.0.1:${port}" }`))
      .config

  test('free, held by our own gateway, or by somebody else', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const ours = { url: `http://127.0.0.1:${port}`, spaces: ['demo'], pid: 1, people: {} }
    expect(await portCheck(configAt(0), undefined)).toMatchObject({ ok: true })
    expect(await portCheck(configAt(port), ours)).toMatchObject({ ok: true })
    expect(await portCheck(configAt(port), undefined)).toMatchObject({
      ...wrong,
      detail: `127.0.0.1:${port} is held by another program`,
    })
  })

  test('of another machine', async () => {
    const { config } = configIn(
      '/srv',
      text.replace('space: demo', 'space: demo\ngateway: { listen: "192.0.2.1:80" }'),
    )
    expect(await portCheck(config, undefined)).toMatchObject({ ...wrong, name: 'port' })
  })
})

describe('log', () => {
  const ours = { url: 'http://127.0.0.1:1', spaces: ['demo'], pid: process.pid, people: {} }

  test('not there yet, or in memory, is fine', () => {
    const memory = text.replace('space: demo', 'space: demo\nstorage: { kind: memory }')
    expect(logCheck(configIn('/srv', memory).config, undefined).check.ok).toBe(true)
    expect(logCheck(configIn(folderWith(), text).config, undefined).check.ok).toBe(true)
  })

  test('tells who has it, and when its newest envelope was made', async () => {
    const folder = folderWith()
    const { config } = configIn(folder, text)
    const store = await sqliteStore({ path: join(folder, '.meup/space.db') })
    const log = await store.open('demo')
    const body = Buffer.from('{}')
    const entry = { seq: 1, id: 'a', ts: '2090-01-01T00:00:00.000Z', from: 'ana', kind: 'chat', body }
    await log.append([{ ...entry, content: body }])
    expect(logCheck(config, ours)).toMatchObject({
      check: { ok: true, detail: expect.stringContaining('envelopes: demo 1') },
      newest: Date.parse(entry.ts),
    })
    const { check } = logCheck(config, { ...ours, pid: 1 })
    // Only Linux reveals which process holds the lock.
    if (process.platform === 'linux') expect(check).toMatchObject(wrong)
    expect(logCheck(config, undefined).check).toMatchObject(wrong)
    await store.close()
    expect(logCheck(config, undefined).check).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/free$/),
    })
  })

  test.for([
    ['no log', 'this is no database at all, but text that goes on for a while'.repeat(20)],
    ['empty', ''],
  ])('%s', ([what, content = '']) => {
    const folder = folderWith({ '.meup/space.db': content })
    const { check } = logCheck(configIn(folder, text).config, undefined)
    expect(check).toMatchObject(what === 'empty' ? { ok: true } : { ...wrong, detail: /./ })
  })

  test('of another version of the gateway', async () => {
    const folder = folderWith()
    const path = join(folder, '.meup/space.db')
    await (await sqliteStore({ path })).close()
    const bytes = readFileSync(path)
    bytes.writeUInt32BE(99, 60) // Sets user_version.
    writeFileSync(path, bytes)
    expect(logCheck(configIn(folder, text).config, undefined).check).toMatchObject({
      ...wrong,
      detail: expect.stringContaining('has format 99'),
    })
  })
})

describe('programs', () => {
  test('are looked up as the system does it', () => {
    const folder = folderWith({ 'bin/there': '', 'bin/plain': '' })
    chmodSync(join(folder, 'bin/there'), 0o700)
    const path = `/nowhere::${folder}/bin`
    expect(findExecutable('there', path)).toBe(join(folder, 'bin/there'))
    expect(findExecutable('plain', path)).toBeUndefined()
    expect(findExecutable('bin', folder)).toBeUndefined()
    expect(findExecutable(join(folder, 'bin/there'), '')).toBe(join(folder, 'bin/there'))
    expect(findExecutable(join(folder, 'bin/plain'), '')).toBeUndefined()
  })

  test('one that is not there is told', () => {
    const folder = folderWith()
    const programs = `${text}  a: { kind: mcp, command: node }\n  b: { kind: process, command: ./b }\n  c: { kind: process, command: no-such }\n`
    expect(programChecks(configIn(folder, programs).config)).toMatchObject([
      { ok: true },
      { ...wrong, detail: `b: there is no program ${folder}/b` },
      { ...wrong, detail: 'c: there is no program no-such in PATH' },
    ])
  })
})

describe('tokens', () => {
  const check = (files: Record<string, string>, isRunning = false) =>
    tokenChecks(configIn(folderWith(files), text).config, isRunning)

  test('are made at the start, and missed only while it runs', () => {
    expect(check({})).toMatchObject([{ ok: true }])
    expect(check({}, true)).toMatchObject([wrong, wrong])
    expect(
      check({ '.meup/tokens/ana': 'revoked', '.meup/tokens/ben': 'my-own-token-0123' }, true),
    ).toMatchObject([{ ok: true, detail: '1 of 2 participants have one, 1 revoked' }])
  })

  test('that cannot be used, or are shared, are told', () => {
    expect(check({ '.meup/tokens/ana': 'short' })).toMatchObject([
      { ...wrong, advice: 'meup token rotate ana makes a good one' },
    ])
    const same = 'the-same-token-for-both'
    expect(check({ '.meup/tokens/ana': same, '.meup/tokens/ben': same })).toMatchObject([
      { ...wrong, detail: 'ana and ben have the same one' },
    ])
  })
})

describe('gateway', () => {
  const nothing = { from: 'nothing says it' }
  const at = (value: string, more: Partial<Address> = {}): Address => ({
    url: { value, from: 'flag --url' },
    space: nothing,
    participant: nothing,
    token: nothing,
    ...more,
  })
  const recorded = (url: string) => ({ url, spaces: ['test'], pid: process.pid, people: {} })

  async function listening(answer: RequestListener) {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const close = (): Promise<unknown> =>
      new Promise((resolve) => server.close(resolve).closeAllConnections())
    onTestFinished(() => void close())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
  }

  /** A real gateway with this log. */
  async function serving(store: LogStore) {
    const config = testSpaceConfig({ participants: { ana: ['*'] } })
    const authenticator = tokenAuthenticator({ test: { ana: testToken('ana') } })
    const gateway = await createGateway({ spaces: [config], store, authenticator })
    const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
    onTestFinished(() => served.close())
    const space = { value: 'test', from: 'flag --space' }
    const token = { value: testToken('ana'), from: 'flag --token-file' }
    return { gateway, address: at(served.url, { space, token }) }
  }

  test('none is fine, one that is none of ours, or not there, is told', async () => {
    const { url, close } = await listening((_, response) => response.writeHead(404).end())
    expect((await gatewayChecks(at(url), undefined, undefined)).checks).toMatchObject([
      { ...wrong, detail: `${url}/healthz says 404` },
    ])
    await close()
    expect((await gatewayChecks(at(url), undefined, undefined)).checks).toMatchObject([
      { ...wrong, detail: expect.stringContaining('ECONNREFUSED') },
    ])
    expect((await gatewayChecks({ ...at(url), url: nothing }, undefined, undefined)).checks).toMatchObject([
      { ok: true },
    ])
  })

  test('one that was killed is told from one whose process lives and does not answer', async () => {
    const { url, close } = await listening(() => {})
    const live = recorded(url)
    const advise = async (process: typeof live | undefined) => {
      const { checks } = await gatewayChecks(at(url), live, process)
      expect(checks).toMatchObject([{ ...wrong, name: 'gateway' }])
      return checks[0]?.advice
    }
    expect(await advise(live)).toContain(`kill ${live.pid}`)
    const port = Number(new URL(url).port)
    const { config } = configIn(
      '/srv',
      text.replace('space: demo', `space: demo\ngateway: { listen: "127.0.0.1:${port}" }`),
    )
    expect(await portCheck(config, undefined, live)).toMatchObject({
      ...wrong,
      detail: expect.stringContaining('does not answer'),
      advice: expect.stringContaining(`kill ${live.pid}`),
    })
    await close()
    expect(await advise(undefined)).toBe('it was killed; start it again with meup up')
  })

  test('one that answers, takes envelopes and knows the token is fine', async () => {
    const { address } = await serving(memoryStore())
    const { checks, time } = await gatewayChecks(address, undefined, undefined)
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ['gateway', true],
      ['ready', true],
      ['entry', true],
    ])
    expect(time).toBeGreaterThan(Date.UTC(2026, 0))
    const other = { ...address, token: { value: 'no-token-of-anybody', from: 'a file' } }
    expect((await gatewayChecks(other, undefined, undefined)).checks[2]).toMatchObject(wrong)
  })

  test('one whose log cannot be written is told, with the reason that /readyz gives', async () => {
    const inner = memoryStore()
    let isFull = false
    const open = async (name: string): Promise<EnvelopeLog> => {
      const log = await inner.open(name)
      const fail = async (): Promise<void> => {
        throw new Error('ENOSPC')
      }
      return Object.assign(Object.create(log) as EnvelopeLog, {
        append: (...batch: Parameters<EnvelopeLog['append']>) => (isFull ? fail() : log.append(...batch)),
        recover: () => (isFull ? fail() : log.recover()),
      })
    }
    const { gateway, address } = await serving({ ...inner, open })
    isFull = true
    gateway.setProgram('test', 'ana', { state: 'starting' })
    await expect.poll(() => gateway.report()[0]?.stopped).toBeDefined()
    const { checks } = await gatewayChecks(address, undefined, undefined)
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([
      { ...wrong, name: 'ready', detail: expect.stringContaining('test: the log cannot be written') },
    ])
    isFull = false
  })

  test('one whose /readyz is no problem of a gateway is told by its status', async () => {
    const { url } = await listening((request, response) =>
      response.writeHead(request.url === '/healthz' ? 200 : 502).end('<html>'),
    )
    const { checks } = await gatewayChecks(at(url), undefined, undefined)
    expect(checks[1]).toMatchObject({ ...wrong, detail: expect.stringContaining(`${url}/readyz says 502`) })
  })
})

describe('disk', () => {
  const path = join(tmpdir(), 'not-there', 'yet', 'space.db')
  const room = { bavail: 1e6, bsize: 4096, files: 1000, ffree: 10 }

  test.for([
    ['has room', {}, true],
    ['has next to none', { bavail: 100 }, false],
    ['is full', { bavail: 0 }, false],
    ['takes no more files', { ffree: 0 }, false],
    ['has no limit of files', { files: 0, ffree: 0 }, true],
  ] as const)('that %s', ([, found, ok]) => {
    expect(diskCheck(path, () => ({ ...room, ...found }))).toMatchObject(ok ? { ok } : wrong)
  })

  test('is that of the folder that is there, of this machine', () => {
    const asked: string[] = []
    diskCheck(path, (folder) => {
      asked.push(folder)
      return room
    })
    expect(asked).toEqual([tmpdir()])
    expect(diskCheck(path).name).toBe('disk')
  })
})

/** Programs of this project create private files in `.meup` even under a permissive umask: `meup doctor` finds none open. */
test.skipIf(process.platform === 'win32').for([0o022, 0o002, 0o000])(
  'what is written under umask %o is found private',
  async (mask) => {
    const before = process.umask(mask)
    onTestFinished(() => void process.umask(before))
    const folder = folderWith()
    chmodSync(folder, 0o755)
    const { config } = configIn(folder, text)
    ensureTokens(folder, ['ana', 'ben'])
    ensureTokens(folder, ['ana'], { space: 'other' })
    createToken(join(folder, '.meup/mcp-token'))
    writeGatewayFile(folder, { url: 'http://127.0.0.1:1', spaces: ['demo'], pid: 1, people: {} })
    const path = logPath(config.storage) ?? ''
    const store = await sqliteStore({ path })
    onTestFinished(() => store.close())
    const [space] = config.spaces
    if (space === undefined) throw new Error('no space')
    const gateway = await createGateway({
      spaces: [space.config],
      store,
      authenticator: tokenAuthenticator({}),
    })
    onTestFinished(() => gateway.close())
    const transcript = await TranscriptFile.open(join(folder, '.meup/transcripts/ben.db'))
    onTestFinished(() => transcript.close())
    await expect.poll(() => readdirSync(join(folder, '.meup'))).toContain('space.db.index.db')
    expect(readdirSync(join(folder, '.meup/transcripts'))).toContain('.gitignore')
    expect(modeChecks(folder, path)).toEqual([{ name: 'modes', ok: true, detail: 'no other user can read' }])
  },
)
