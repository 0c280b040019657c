import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sqliteStore } from '@meup/gateway'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findCommand } from '../src/lib/executables.js'
import {
  clockCheck,
  gatewayChecks,
  logCheck,
  modeChecks,
  nodeCheck,
  oldestNode,
  portCheck,
  programChecks,
  tokenChecks,
} from '../src/operator/checks.js'
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

/** Seconds from now at which other clocks are. */
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
    // Only Linux tells which process it is.
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
    bytes.writeUInt32BE(99, 60) // user_version
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
    expect(findCommand('there', path)).toBe(join(folder, 'bin/there'))
    expect(findCommand('plain', path)).toBeUndefined()
    expect(findCommand('bin', folder)).toBeUndefined()
    expect(findCommand(join(folder, 'bin/there'), '')).toBe(join(folder, 'bin/there'))
    expect(findCommand(join(folder, 'bin/plain'), '')).toBeUndefined()
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

test('a gateway that is none of ours, or not there', async () => {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const value = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const nothing = { from: 'nothing says it' }
  const address = { url: { value, from: 'flag --url' }, space: nothing, participant: nothing, token: nothing }
  expect((await gatewayChecks(address, undefined)).checks).toMatchObject([
    { ...wrong, detail: `${value}/healthz says 404` },
  ])
  await new Promise((resolve) => server.close(resolve))
  expect((await gatewayChecks(address, undefined)).checks).toMatchObject([
    { ...wrong, detail: expect.stringContaining('ECONNREFUSED') },
  ])
  expect((await gatewayChecks({ ...address, url: nothing }, undefined)).checks).toMatchObject([{ ok: true }])
})
