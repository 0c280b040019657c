import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Asked, askFrom, upgrade } from '../support/ask-from.js'
import { environment, spawnMeup, startMeup, temporaryFolder } from '../support/cli.js'
import { freePort } from '../support/free-port.js'
import { findProgram } from '../support/programs.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'
import { needing } from '../verifies.js'

const snippets = snippetsOf('docs/proxy.md')
const nginxLines = snippets.find(({ language }) => language === 'nginx')?.text ?? ''
const withNginx = needing('nginx and openssl', () => findProgram('openssl') && findProgram('nginx'))

/** Starts the gateway and the nginx of the page "proxy", at addresses of this machine. */
async function start(nginx: string) {
  const cwd = temporaryFolder()
  writeSnippets(snippets, cwd)
  const gateway = await startMeup('gateway', cwd, ['--listen', '127.0.0.1:0'])
  const [port, ca] = [await freePort(), makeCertificate(cwd)]
  await startNginx(nginx, cwd, {
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    'http://127.0.0.1:8080': gateway.url,
    '/etc/ssl/meup.example': join(cwd, 'certificate'),
  })
  const url = `https://localhost:${port}`
  const ask = (path: string, asked: Asked = {}, from = '127.0.0.1') =>
    askFrom(from, `${url}${path}`, { ca, ...asked })
  const token = readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()
  const ana = { authorization: `Bearer ${token}` }
  return { cwd, gateway, url, ask, ana, env: { NODE_EXTRA_CA_CERTS: join(cwd, 'certificate.pem') } }
}

function makeCertificate(cwd: string): string {
  const [key, certificate] = [join(cwd, 'certificate.key'), join(cwd, 'certificate.pem')]
  const made = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
  const to = ['-keyout', key, '-out', certificate, '-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', ...made.split(' '), ...to], { stdio: 'ignore' })
  return readFileSync(certificate, 'utf8')
}

/** Runs the page's nginx configuration until the test is over. Resolves when nginx listens. */
async function startNginx(program: string, cwd: string, here: Record<string, string>): Promise<void> {
  const lines = Object.entries(here).reduce((text, [page, place]) => text.replaceAll(page, place), nginxLines)
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(cwd, name)};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const config = `daemon off; ${user} pid ${join(cwd, 'nginx.pid')}; error_log stderr notice; events {}
    http { access_log off; ${folders.join(' ')}
    ${lines} }`
  const folder = temporaryFolder({ 'nginx.conf': config })
  const child = spawn(program, ['-c', join(folder, 'nginx.conf')], { env: environment({}) })
  let said = ''
  onTestFinished(() => void child.kill('SIGTERM'))
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk
      if (said.includes('start worker process ')) resolve()
    })
    child.on('error', reject).on('close', () => reject(new Error(said)))
  })
}

test(
  'behind nginx one joins by WebSocket, and gets events at once',
  withNginx(async (nginx) => {
    const { cwd, url, ask, ana, env } = await start(nginx)
    const target = ['--url', url, '--space', 'demo', '--as', 'ana', '--token-file', '.meup/tokens/ana']
    const { said } = spawnMeup(['watch', '--json', '--from', '1', ...target], cwd, env)
    await expect.poll(() => said.stdout, { timeout: 15_000 }).toContain('"system.presence"')
    const events = await ask('/spaces/demo/events', { headers: ana })
    expect(events.headers['content-type']).toContain('text/event-stream')
    let streamed = ''
    events.setEncoding('utf8').on('data', (chunk: string) => {
      streamed += chunk
    })
    for (const message of ['one', 'two']) {
      // A process of its own: Node.js reads NODE_EXTRA_CA_CERTS when it starts.
      expect(await spawnMeup(['send', message, ...target], cwd, env).ended).toBe(0)
      await expect.poll(() => streamed, { timeout: 5000 }).toContain(`"message":"${message}"`)
      await expect.poll(() => said.stdout, { timeout: 5000 }).toContain(`"message":"${message}"`)
    }
  }),
)

test(
  'behind nginx each address is counted for itself, whatever it says of itself',
  withNginx(async (nginx) => {
    const { ask, ana } = await start(nginx)
    const enter = async (from: string, headers: object) =>
      (await ask('/spaces/demo/ws', { headers: { ...upgrade, ...headers } }, from)).statusCode
    const wrong = { authorization: 'Bearer of-nobody' }
    for (let n = 0; n < 10; n++)
      expect(await enter('127.0.0.2', { ...wrong, 'x-forwarded-for': `203.0.113.${n}` })).toBe(401)
    expect(await enter('127.0.0.2', { ...wrong, 'x-forwarded-for': '203.0.113.99' })).toBe(429)
    expect(await enter('127.0.0.3', wrong)).toBe(401)
    expect(await enter('127.0.0.2', ana)).toBe(101)

    const guests = await Promise.all(Array.from({ length: 33 }, () => enter('127.0.0.4', {})))
    expect(guests.some((status) => status !== 101)).toBe(true)
    expect(await enter('127.0.0.5', {})).toBe(101)
  }),
)

test(
  'behind nginx its own pages get in, others do not; long bodies do, and no metrics come out',
  withNginx(async (nginx) => {
    const { url, gateway, ask, ana } = await start(nginx)
    const pages = { [url]: 101, 'https://localhost.evil.example': 403, [gateway.url]: 403 }
    for (const [origin, status] of Object.entries(pages)) {
      const { statusCode } = await ask('/spaces/demo/ws', { headers: { ...upgrade, ...ana, origin } })
      expect([origin, statusCode]).toEqual([origin, status])
    }
    const body = JSON.stringify({ kind: 'chat', payload: { message: 'x'.repeat(2 ** 21) } })
    const { headers } = await ask('/spaces/demo/envelopes', { headers: ana, body })
    expect(headers['content-type']).toBe('application/problem+json')
    expect((await ask('/metrics')).statusCode).toBe(403)
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(200)
  }),
)

test('each proxy of the page goes where its gateway listens', () => {
  const [yaml = '', nginx, caddy] = snippets.map(({ text }) => text)
  const [, listen] = /listen: ([\d.:]+), trustProxy: true/.exec(yaml) ?? []
  expect(nginx).toContain(`proxy_pass http://${listen};`)
  expect(caddy).toContain(`reverse_proxy ${listen}\n`)
})
