import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { loadConfig } from 'meup'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { askFrom, upgrade } from '../support/ask-from.js'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { freePort } from '../support/free-port.js'
import { natsServer } from '../support/nats.js'
import { findProgram } from '../support/programs.js'
import { snippetsOf } from '../support/snippets.js'
import { needing } from '../verifies.js'

const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)
const deploy = (name: string): string => join(repositoryRoot, 'deploy', name)

interface Compose {
  readonly services: Record<string, { readonly volumes: string[]; readonly depends_on?: object }>
  readonly volumes: Record<string, null>
}
const compose = parse(readFileSync(deploy('compose.yaml'), 'utf8'), { merge: true }) as Compose
const named = (start: string): string[] =>
  Object.keys(compose.services).filter((name) => name.startsWith(start))

test('the configuration of the page is accepted as it stands', () => {
  const [snippet] = snippetsOf('docs/scale.md').filter(({ language }) => language === 'yaml')
  const folder = temporaryFolder({ 'space.yaml': snippet?.text ?? '' })
  expect(loadConfig(join(folder, 'space.yaml')).storage).toEqual({
    kind: 'jetstream',
    servers: ['nats://nats-1:4222', 'nats://nats-2:4222', 'nats://nats-3:4222'],
    replicas: 3,
    credentials: join(folder, 'gateway.creds'),
    path: join(folder, '.meup/replica.db'),
  })
})

test('the gateways of the compose file use its servers, and each has a replica of its own', () => {
  const { storage } = loadConfig(deploy('space.yaml'))
  expect(storage).toMatchObject({
    kind: 'jetstream',
    replicas: 3,
    servers: named('nats-').map((name) => `nats://${name}:4222`),
  })
  const mounts = Object.values(compose.services).flatMap(({ volumes }) =>
    volumes.map((each) => each.split(':')[0]),
  )
  const made = mounts.filter((mount) => mount !== undefined && !mount.startsWith('.'))
  expect([...new Set(made)].sort()).toEqual(Object.keys(compose.volumes).sort())
  expect(made.filter((mount) => mount?.startsWith('replica-')).length).toBe(named('gateway-').length)
  expect(named('gateway-')).toHaveLength(3)
})

test('the balancer passes on to every gateway', () => {
  const servers = [...readFileSync(deploy('haproxy.cfg'), 'utf8').matchAll(/^ {2}server (\S+) (\S+)$/gm)]
  expect(servers.map(([, name, address]) => [name, address])).toEqual(
    named('gateway-').map((name) => [name, `${name}:8080`]),
  )
})

test(
  'the configuration of the servers is one, with a route to each of them',
  withNats((program) => {
    execFileSync(program, ['-c', deploy('nats.conf'), '-t'], { stdio: 'pipe' })
    const routes = readFileSync(deploy('nats.conf'), 'utf8').matchAll(/"nats:\/\/([^:]+):6222"/g)
    expect([...routes].map(([, name]) => name)).toEqual(named('nats-'))
  }),
)

const trusting = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0", trustProxy: true }
participants:
  ana: { kind: human, capabilities: ["*"] }
`

test(
  'behind the balancer one joins a gateway that is ready, and each address is counted for itself',
  needing('haproxy', () => findProgram('haproxy'))(async (program) => {
    expect(loadConfig(deploy('space.yaml')).gateway.trustProxy).toBe(true)
    const cwd = temporaryFolder({ 'space.yaml': trusting })
    const gateway = await startMeup('gateway', cwd)
    const address = `127.0.0.1:${await freePort()}`
    const lines = readFileSync(deploy('haproxy.cfg'), 'utf8')
      .replace('bind :8080', `bind ${address}`)
      .replace(/gateway-\d:8080$/gm, new URL(gateway.url).host)
    const child = spawn(program, ['-db', '-f', join(temporaryFolder({ cfg: lines }), 'cfg')])
    onTestFinished(() => void child.kill())
    const status = async (path: string, headers: object = {}, from = '127.0.0.1') =>
      (await askFrom(from, `http://${address}${path}`, { headers: { ...headers } })).statusCode
    await expect.poll(() => status('/readyz').catch(() => 0)).toBe(200)

    const token = readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()
    const ana = await connect({ url: `http://${address}`, space: 'demo', token })
    onTestFinished(() => ana.close())
    await ana.chat('hello')
    const enter = (from: string, claimed = from) =>
      status(
        '/spaces/demo/ws',
        { ...upgrade, authorization: 'Bearer of-nobody', 'x-forwarded-for': claimed },
        from,
      )
    for (let n = 0; n < 10; n++) expect(await enter('127.0.0.2', `203.0.113.${n}`)).toBe(401)
    expect(await enter('127.0.0.2', '203.0.113.99')).toBe(429)
    expect(await enter('127.0.0.3')).toBe(401)
  }),
)
