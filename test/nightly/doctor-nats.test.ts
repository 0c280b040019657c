import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'
import { natsServer, startNats } from '../support/nats.js'
import { needing } from '../verifies.js'

const withNats = needing('nats-server in the PATH, or NATS_SERVER_BIN', natsServer)

const configOf = (servers: readonly string[], replicas: number, more = '') => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: jetstream, servers: ${JSON.stringify(servers)}, replicas: ${replicas}${more} }
participants:
  ana: { kind: human, capabilities: ["*"] }
`

/** Runs `meup doctor`. Returns its results about the servers and their streams. */
async function examine(cwd: string) {
  const { code, stdout } = await meup(['doctor', '--json'], { cwd })
  const { checks } = JSON.parse(stdout) as {
    checks: { name: string; ok: boolean; detail: string; advice?: string }[]
  }
  const of = (name: string) => checks.filter((check) => check.name === name)
  return { code, servers: of('nats'), streams: of('stream') }
}

async function nats(options: Parameters<typeof startNats>[0] = {}) {
  const started = await startNats(options)
  onTestFinished(() => started.stop())
  return started
}

test(
  'doctor asks each server and the stream of each space, and finds the server that is away',
  withNats(async () => {
    const { servers, nodes } = await nats({ nodes: 3 })
    const cwd = temporaryFolder({ 'space.yaml': configOf(servers, 3) })
    const before = await examine(cwd)
    expect(before.code).toBe(0)
    expect(before.servers.map(({ ok, detail }) => [ok, detail])).toEqual(
      servers.map((server) => [true, expect.stringMatching(`^${server} answers \\(version \\d`)]),
    )
    expect(before.streams).toMatchObject([{ ok: true, detail: 'MEUP_2 (demo) is made at the first start' }])
    await startMeup('gateway', cwd)
    const whole = (): Promise<unknown> => examine(cwd).then(({ streams }) => streams)
    const led = expect.stringMatching(/^MEUP_2 \(demo\) is led by n\d; 3 of 3 servers have everything$/)
    await expect.poll(whole, { timeout: 20_000 }).toMatchObject([{ ok: true, detail: led }])

    const [first] = nodes
    await first?.end('SIGKILL')
    const named = expect.stringMatching(/^MEUP_2 \(demo\) is led by n[23]; 2 of 3 .*, but not n1$/)
    await expect.poll(whole, { timeout: 30_000 }).toMatchObject([{ ok: false, detail: named }])
    const { code, servers: found } = await examine(cwd)
    expect(code).toBe(1)
    expect(found.map(({ ok }) => ok)).toEqual([false, true, true])
    expect(found[0]?.detail).toContain(servers[0])
    expect(found[0]?.advice).toContain('storage.servers')
    const { stdout } = await meup(['doctor'], { cwd })
    expect(stdout).toMatch(/✗ stream: MEUP_2 .*\n {2}→ see that these servers run/)
  }),
  90_000,
)

test(
  'doctor and a start refuse a server without JetStream, and wrong credentials, in the same words',
  withNats(async () => {
    const refusalOf = async (text: string): Promise<string> => {
      const cwd = temporaryFolder({ 'space.yaml': text })
      writeFileSync(join(cwd, 'gateway.creds'), 'nothing')
      const { code, servers, streams } = await examine(cwd)
      expect([code, servers.length, streams]).toEqual([1, 1, []])
      expect(servers[0]).toMatchObject({ ok: false, advice: 'see above' })
      const said = servers[0]?.detail ?? ''
      await expect(startMeup('gateway', cwd)).rejects.toThrow(said)
      return said
    }
    const without = await nats({ jetstream: false })
    expect(await refusalOf(configOf(without.servers, 1))).toMatch(/has no JetStream.*Start it with -js/)
    const guarded = await nats({ more: 'authorization { user: gateway, password: secret }' })
    expect(await refusalOf(configOf(guarded.servers, 1))).toMatch(/refuses this gateway.*credentials/)
    const unread = await refusalOf(configOf(guarded.servers, 1, ', credentials: gateway.creds'))
    expect(unread).toMatch(/gateway\.creds.*storage\.credentials/)
  }),
  60_000,
)

test(
  'doctor finds a stream that is another one than asked for, and a server that is too old',
  withNats(async () => {
    const { servers } = await nats({ nodes: 3 })
    const cwd = temporaryFolder({ 'space.yaml': configOf(servers, 3) })
    await (await startMeup('gateway', cwd)).stop('SIGTERM')
    writeFileSync(join(cwd, 'space.yaml'), configOf(servers, 1))
    const { code, streams } = await examine(cwd)
    expect(code).toBe(1)
    expect(streams).toMatchObject([{ ok: false, detail: expect.stringMatching('num_replicas is 3') }])

    // The greeting of a NATS server of an old version, by which `doctor` detects it.
    const info = { server_id: 'old', version: '2.8.4', proto: 1, jetstream: true, headers: true }
    const old = createServer((socket) => {
      socket.write(`INFO ${JSON.stringify({ ...info, max_payload: 1024 })}\r\n`)
      socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'))
      socket.on('error', () => socket.destroy())
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void old.close())
    await new Promise((resolve) => old.once('listening', resolve))
    const { port } = old.address() as { port: number }
    writeFileSync(join(cwd, 'space.yaml'), configOf([`nats://127.0.0.1:${port}`], 1))
    const { servers: found } = await examine(cwd)
    expect(found).toMatchObject([{ ok: false, detail: expect.stringMatching(/2\.8\.4.*2\.9/) }])
  }),
  90_000,
)
