import { spawn } from 'node:child_process'
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { commandLine, startMeup, temporaryFolder } from '../support/cli.js'
import { keySetOf, newKey, tokenOf } from '../support/issuer.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'
import { needing } from '../verifies.js'

const snippets = snippetsOf('docs/security.md')
const textOf = (language: string): string[] =>
  snippets.filter((snippet) => snippet.language === language).map(({ text }) => text)
const [asStranger = '', tokens = ''] = textOf('sh')

/** Starts the gateway of the page, on a free port, with a key of the issuer that it trusts. */
async function start() {
  const cwd = temporaryFolder()
  const key = await newKey('issuer')
  writeSnippets(snippets, cwd)
  writeFileSync(join(cwd, 'issuer-keys.json'), JSON.stringify(keySetOf(key)))
  const running = await startMeup('gateway', cwd, ['--listen', '127.0.0.1:0'])
  const tokenFileOf = (id: string) => join(cwd, '.meup/tokens', id)
  return {
    cwd,
    key,
    running,
    tokenFileOf,
    tokenIn: (id: string) => readFileSync(tokenFileOf(id), 'utf8').trim(),
  }
}

/** Runs commands of the page in a shell. `prelude`: shell functions that replace some of its commands. */
function shell(lines: string, cwd: string, prelude = ''): Promise<{ code: number | null; output: string }> {
  const script = `set -e\nmeup() { ${commandLine('"$@"')}; }\n${prelude}\n${lines}`
  const child = spawn('bash', ['-c', script], { cwd })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

/** Id of the user `nobody`, without any rights. It exists on all Linux systems. */
const nobody = 65_534

/** A program that tries to read a file of another user, and sends the result to the space. */
const agent = `
  const { readFileSync } = require('node:fs')
  const { MEUP_URL, MEUP_SPACE, MEUP_TOKEN } = process.env
  let message = 'read it'
  try { readFileSync(process.env.FORBIDDEN) } catch (error) { message = error.code }
  const headers = { authorization: 'Bearer ' + MEUP_TOKEN }
  const body = JSON.stringify({ kind: 'chat', payload: { message } })
  fetch(MEUP_URL + '/spaces/' + MEUP_SPACE + '/envelopes', { method: 'POST', headers, body })
    .then(async (response) => console.log(response.status, await response.text()))
`

test(
  'a program of another user has its own token, and cannot read those of others',
  needing(
    'to be root, and setpriv',
    () => process.getuid?.() === 0 && process.platform === 'linux',
  )(async () => {
    const { cwd, running, tokenFileOf } = await start()
    const home = temporaryFolder({ 'agent.js': agent })
    chmodSync(home, 0o755)
    chownSync(home, nobody, nobody)
    const ana = await connect({ as: 'ana', directory: cwd })
    onTestFinished(() => ana.close())
    const said = ana.envelopes()
    // Do not run the first line: the gateway has already created the token.
    const [create = '', ...others] = asStranger.trim().split('\n')
    expect(create).toBe('meup token create stranger')
    const lines = others
      .join('\n')
      .replaceAll('/home/sandbox', home)
      .replaceAll('sandbox', 'nobody')
      .replaceAll('http://127.0.0.1:8080', running.url)
    const sudo = `sudo() { if [ "$1" = -u ]; then shift 2; (cd / && setpriv --reuid=${nobody} --regid=${nobody} --clear-groups "$@"); else "$@"; fi; }`
    const prelude = `${sudo}\nexport FORBIDDEN='${tokenFileOf('ana')}'`
    expect(await shell(lines, cwd, prelude)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^201 /),
    })
    for await (const { from, payload } of said) {
      if (from !== 'stranger') continue
      expect(payload).toMatchObject({ message: 'EACCES' })
      break
    }
  }),
)

test('tokens are made, replaced, revoked and listed as the page says', async () => {
  const { cwd, tokenIn } = await start()
  const stranger = await connect({ as: 'stranger', directory: cwd })
  onTestFinished(() => stranger.close())
  const closed = new Promise<string>((resolve) =>
    stranger.on('closed', (error) => resolve(`${error?.message}`)),
  )
  const { code, output } = await shell(tokens, cwd)
  expect([code, await closed]).toEqual([0, expect.stringContaining('4401')])
  expect(output).toMatch(/stranger: replaced[\s\S]*stranger: revoked[\s\S]*stranger +agent +revoked/)
  expect(tokenIn('stranger')).toBe('revoked')
  const again = await shell(asStranger.split('\n')[0] ?? '', cwd)
  expect([again.code, tokenIn('stranger')]).toEqual([0, expect.stringMatching(/^[\w-]{43}$/)])
})

test('the token of an issuer with the claims of the page lets its holder in', async () => {
  const { key, running } = await start()
  const claims = JSON.parse(textOf('json')[0] ?? '') as { iat: number; exp: number }
  const now = Math.floor(Date.now() / 1000)
  const token = await tokenOf(key, { claims: { ...claims, iat: now, exp: now + claims.exp - claims.iat } })
  const dan = await connect({ url: running.url, space: 'demo', token })
  onTestFinished(() => dan.close())
  expect([dan.id, dan.capabilities]).toEqual(['dan', ['chat', 'reasoning.*']])
  const stale = await tokenOf(key, { claims })
  await expect(connect({ url: running.url, space: 'demo', token: stale })).rejects.toMatchObject({
    code: 'unauthorized',
  })
})

test('an agent of another user connects where the gateway of the page listens', () => {
  const [, listen] = /listen: ([\d.:]+)/.exec(textOf('yaml')[0] ?? '') ?? []
  expect(asStranger).toContain(`MEUP_URL=http://${listen} `)
})
