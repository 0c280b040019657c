import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'

const within = { timeout: 40_000, interval: 25 }

/** A program that prints and saves its environment, and keeps running. */
const curious = `
  const { writeFileSync } = require('node:fs')
  console.log(JSON.stringify(process.env))
  console.error('my token is ' + process.env.MEUP_TOKEN)
  writeFileSync('seen-' + process.env.MEUP_PARTICIPANT, JSON.stringify({ env: process.env, cwd: process.cwd() }))
  setInterval(() => {}, 1000)
`
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  one: { kind: process, command: node, args: [curious.cjs], env: { MODE: fast, MEUP_TOKEN: "not this one" } }
  two: { kind: process, command: node, args: [curious.cjs] }
`

async function start() {
  const cwd = temporaryFolder({ 'space.yaml': config, 'curious.cjs': curious })
  const running = await startMeup('up', cwd, ['--verbose'])
  let stdout = ''
  running.process.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  const tokenOf = (id: string) => readFileSync(join(cwd, '.meup/tokens', id), 'utf8').trim()
  const seenBy = (id: string) =>
    vi.waitFor(
      () => JSON.parse(readFileSync(join(cwd, `seen-${id}`), 'utf8')) as { env: object; cwd: string },
      within,
    )
  return { cwd, running, tokenOf, seenBy, said: () => stdout + running.stderr }
}

/** Requests a WebSocket, and returns the refusal as text; also resolves if the request is accepted. */
function upgrade(url: string, path: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, url), {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-protocol': 'meup.v0.3',
        ...headers,
      },
    })
    asked.on('error', reject)
    asked.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve('')
    })
    asked.on('response', async (response) => {
      resolve(JSON.stringify(response.headers) + (await response.toArray()).join(''))
    })
    asked.end()
  })
}

test('no token is in what a gateway logs, answers or counts, whether it opens anything or not', async () => {
  const { cwd, running, tokenOf, seenBy, said } = await start()
  const { url } = running
  await Promise.all(['one', 'two'].map(seenBy))
  const [first, wrong] = [tokenOf('ana'), 'a-token-of-nobody-0123456789']
  const jwt = [{ alg: 'ES256' }, { sub: 'nobody', note: 'some-claim' }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('c2lnbmF0dXJl')
    .join('.')
  expect((await meup(['token', 'rotate', 'ana'], { cwd })).code).toBe(0)
  const tokens = [first, tokenOf('ana'), tokenOf('one'), tokenOf('two'), wrong, jwt]

  const answers: string[] = []
  for (const token of tokens) {
    const authorization = `Bearer ${token}`
    for (const path of [
      '/spaces/demo/participants',
      '/spaces/nowhere/participants',
      `/spaces/demo/envelopes?token=${token}`,
    ]) {
      const response = await fetch(url + path, { headers: { authorization } })
      answers.push(await response.text(), JSON.stringify([...response.headers]))
    }
    const body = '{"kind":"chat","payload":{"message":"hello"}}'
    const posted = await fetch(`${url}/spaces/demo/envelopes`, {
      method: 'POST',
      headers: { authorization },
      body,
    })
    answers.push(await posted.text())
    for (const headers of [
      { authorization },
      { 'sec-websocket-protocol': `meup.v0.3, bearer.${token}` },
      { authorization: `Basic ${token}` },
      { authorization, origin: 'https://evil.example' },
    ]) {
      answers.push(await upgrade(url, '/spaces/demo/ws', headers as Record<string, string>))
    }
    answers.push(await upgrade(url, `/spaces/demo/ws?access_token=${token}`, {}))
  }
  const space = await connect({ as: 'ana', directory: cwd })
  onTestFinished(() => space.close())
  await space.chat('hello')
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const history = await (
    await fetch(`${url}/spaces/demo/envelopes?limit=1000`, {
      headers: { authorization: `Bearer ${tokenOf('ana')}` },
    })
  ).text()
  expect(await running.stop('SIGTERM')).toBe(0)

  expect(metrics).toMatch(/^meup_auth_failures_total \d\d/m)
  expect(said()).toMatch(/fails to authenticate/)
  expect(said()).toMatch(/my token is \[token\]/)
  const everything = [said(), ...answers, metrics, history].join('\n')
  for (const token of tokens) for (const part of token.split('.')) expect(everything).not.toContain(part)
  expect(everything).not.toContain('some-claim')
})

test('a program gets a token of its own, the few variables that programs need, and nothing else', async () => {
  vi.stubEnv('SECRET_OF_THE_OPERATOR', 'do not tell')
  vi.stubEnv('NODE_OPTIONS', '--no-warnings')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { cwd, running, tokenOf, seenBy } = await start()
  const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ'].filter((name) => process.env[name] !== undefined)
  for (const [id, own] of [
    ['one', { MODE: 'fast' }],
    ['two', {}],
  ] as const) {
    const seen = await seenBy(id)
    expect(seen).toEqual({
      cwd,
      env: {
        ...Object.fromEntries(inherited.map((name) => [name, process.env[name]])),
        PYTHONUNBUFFERED: '1',
        ...own,
        MEUP_URL: running.url,
        MEUP_SPACE: 'demo',
        MEUP_PARTICIPANT: id,
        MEUP_TOKEN: tokenOf(id),
        MEUP_RUN: expect.stringMatching(/^[\da-f-]{36}$/),
        MEUP_SESSION: expect.stringMatching(/^[\da-f-]{36}$/),
      },
    })
  }
})

test('what is in .meup is for its owner alone', async () => {
  const { cwd, seenBy } = await start()
  await Promise.all(['one', 'two'].map(seenBy))
  const folder = join(cwd, '.meup')
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
  expect([modeOf(folder), modeOf(join(folder, 'tokens'))]).toEqual(['700', '700'])
  const below = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) =>
    entry.isFile(),
  )
  const modes = below.map(({ name, parentPath }) => [name, modeOf(join(parentPath, name))])
  expect(modes.filter(([name]) => name !== '.gitignore').filter(([, mode]) => mode !== '600')).toEqual([])
  expect(modes.map(([name]) => name)).toEqual(expect.arrayContaining(['ana', 'one', 'two', 'space.db']))
})
