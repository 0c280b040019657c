import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { verifyExport } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { meup, temporaryFolder } from '../support/cli.js'
import { snippetsOf } from '../support/snippets.js'
import { runSpace } from '../support/space.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: human, capabilities: [chat] }
  cleo: { kind: human, capabilities: [chat] }
`

/** Makes a folder with a running space and some messages, and exports the log as Ben. */
async function exported() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const { url } = await runSpace(cwd)
  const history = ['watch', '--no-follow', '--kind', 'system.presence', '--json', '--as', 'ben']
  const leaves = async () => (await meup(history, { cwd })).stdout.match(/"event":"leave"/g)?.length
  const messages = [['hello, é 😀'], ['between us', '--to', 'cleo']]
  for (const [index, message] of messages.entries()) {
    await meup(['send', ...message], { cwd })
    // The gateway logs that the sender has left only after the command has ended, and not if the next one has begun by then.
    await expect.poll(leaves).toBe(index + 1)
  }
  const outcome = await meup(['audit', 'export', '--as', 'ben', '-o', 'demo.jsonl'], { cwd })
  expect(outcome).toMatchObject({ code: 0, stdout: '' })
  const path = join(cwd, 'demo.jsonl')
  return { cwd, url, path, text: readFileSync(path, 'utf8') }
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** Manipulations of an export after which each line is still JSON. */
const tamperings: [what: string, tamper: (text: string) => string][] = [
  ['a word', (text) => text.replace('hello', 'hallo')],
  ['a salt', (text) => text.replace(/(?<="salt":").{32}/, '0'.repeat(32))],
  ['the case of a salt', (text) => text.replace(/(?<="salt":").{32}/g, (salt) => salt.toUpperCase())],
  ['where a salt ends', (text) => text.replace('","body":"{', '7b","body":"')],
  ['a leaf', (text) => text.replace(/(?<="leaf":").{64}/, '0'.repeat(64))],
  ['the epoch', (text) => text.replaceAll(/(?<="epoch":")[^"]*/g, 'another')],
  ['the first seq', (text) => text.replace('"first":1', '"first":2')],
  ['a seq', (text) => text.replace('"seq":2,', '"seq":3,')],
  ['a line less', (text) => text.replace(/^\{"seq":2,.*\n/m, '')],
  ['the last envelope less', (text) => text.replace(/\n.*\n(?=.*\n$)/, '\n')],
  ['a line twice', (text) => text.replace(/^\{"seq":2,.*\n/m, '$&$&')],
  ['two lines swapped', (text) => text.replace(/^(\{"seq":2,.*\n)(.*\n)/m, '$2$1')],
  ['no end', (text) => text.replace(/.*\n$/, '')],
  ['no line feed at the end', (text) => text.trimEnd()],
  ['more after the end', (text) => `${text}{}\n`],
  ['other line ends', (text) => text.replaceAll('\n', '\r\n')],
  ['another escape', (text) => text.replace('é', '\\u00e9')],
  ['a field more', (text) => text.replace('"}\n', '","note":"x"}\n')],
  ['another head', (text) => text.replace(/"head":\d+/, '"head":99')],
]

describe('an export', () => {
  test('is whole, private, and verified by command and script alike', async () => {
    const { cwd, path, text } = await exported()
    expect(readdirSync(cwd)).not.toContain('demo.jsonl.part')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect([text.includes('between us'), text.includes('hello, é 😀')]).toEqual([false, true])
    const { epoch, head, hash } = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')
    const verified = await meup(['audit', 'verify', 'demo.jsonl'], { cwd })
    const lines = [
      `whole: ${head} envelopes from seq 1, 1 of them as hashes alone`,
      `epoch ${epoch}`,
      `head ${head}:${hash}`,
    ]
    expect(verified).toEqual({ code: 0, stdout: `${lines.join('\n')}\n`, stderr: '' })
    expect(await script(path)).toEqual({
      code: 0,
      stdout: `whole: ${head} envelopes from seq 1, head ${head}:${hash}\n`,
    })
    const piped = await meup(['audit', 'verify', '-', '--json'], { cwd, input: text })
    const verdict = { ok: true, epoch, first: 1, head, hash, checked: head, shown: head - 1, erased: [] }
    expect([piped.code, JSON.parse(piped.stdout)]).toEqual([0, verdict])

    // The command gives the same result for the running space.
    const running = await meup(['audit', 'verify'], { cwd })
    const whole = [`whole: ${head} envelopes from seq 1`, ...lines.slice(1)]
    expect(running).toEqual({ code: 0, stdout: `${whole.join('\n')}\n`, stderr: '' })
    const json = await meup(['audit', 'verify', '--json', '--as', 'ben'], { cwd })
    expect(JSON.parse(json.stdout)).toEqual({ ok: true, epoch, head, hash, checked: head })
  })

  test('that was changed is recognised by command and script alike', async () => {
    const { cwd, text } = await exported()
    const path = join(cwd, 'changed.jsonl')
    for (const [what, tamper] of tamperings) {
      const changed = tamper(text)
      expect(changed, what).not.toBe(text)
      writeFileSync(path, changed)
      expect([what, (await script(path)).code]).toEqual([what, 1])
      const { ok } = await verifyExport([Buffer.from(changed)], sha256)
      expect([what, ok]).toEqual([what, false])
    }
    const said = await meup(['audit', 'verify', path], { cwd })
    expect(said).toMatchObject({ code: 8, stdout: expect.stringMatching(/^line \d+ is wrong: .+\n$/) })
    writeFileSync(path, Buffer.from(text).subarray(1))
    expect((await script(path)).code).toBe(1)
    const { code, stdout } = await meup(['audit', 'verify', path, '--json'], { cwd })
    const problem = 'no gateway has written this line'
    expect([code, JSON.parse(stdout)]).toEqual([8, { ok: false, line: 1, problem }])
  })

  test('is held against a head that was kept', async () => {
    const { cwd } = await exported()
    const kept = (await meup(['audit', 'verify'], { cwd })).stdout
    const head = /^head (\S+)$/m.exec(kept)?.[1] ?? ''
    await meup(['send', 'later'], { cwd })
    await meup(['audit', 'export', '-o', 'later.jsonl'], { cwd })
    const verify = (value: string) => meup(['audit', 'verify', 'later.jsonl', '--head', value], { cwd })
    expect(await verify(head)).toMatchObject({ code: 0 })
    expect(await verify(head.toUpperCase())).toMatchObject({ code: 0 })
    const [seq] = head.split(':')
    const another = await verify(`${seq}:${'0'.repeat(64)}`)
    expect(another).toMatchObject({ code: 8, stdout: expect.stringContaining(`seq ${seq} has another hash`) })
    for (const args of [
      ['later.jsonl', '--head', 'x'],
      ['--head', head],
    ]) {
      expect(await meup(['audit', 'verify', ...args], { cwd })).toMatchObject({ code: 2 })
    }
  })
})

/** Verifies a file with the script on the page. */
function script(path: string): Promise<{ code: number | null; stdout: string }> {
  const snippet = snippetsOf('docs/audit.md').find(({ file }) => file === 'verify.mjs')
  const folder = temporaryFolder({ 'verify.mjs': snippet?.text ?? '' })
  const child = spawn(process.execPath, ['verify.mjs', path], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout })))
}

describe('meup audit', () => {
  test('is refused where the gateway refuses, and leaves no file', async () => {
    const { cwd, url } = await exported()
    writeFileSync(join(cwd, 'wrong'), 'wrong')
    const at = ['--url', url, '--space', 'demo', '--token-file', 'wrong']
    for (const args of [['verify'], ['export', '-o', 'out'], ['export']]) {
      expect(await meup(['audit', ...args, ...at], { cwd })).toMatchObject({ code: 4, stdout: '' })
    }
    expect(await meup(['audit', 'export', '--format', 'csv'], { cwd })).toMatchObject({ code: 2 })
    expect(existsSync(join(cwd, 'out'))).toBe(false)
  })

  test('says where the log of a space is broken', async () => {
    const answer = { ok: false, epoch: 'x', head: 9, hash: '00', checked: 3, brokenAt: 6, prunedBefore: 3 }
    const url = await gatewayThat((_, response) => response.end(JSON.stringify(answer)))
    const at = ['--url', url, '--space', 'demo']
    const { code, stdout } = await meup(['audit', 'verify', ...at])
    expect([code, stdout]).toEqual([
      8,
      'seq 6 is wrong: it is missing, or is not what was logged\n' +
        'before it, 3 envelopes hold, from seq 3, the oldest that is kept; after it, up to 9, nothing is proven\n',
    ])
    const json = await meup(['audit', 'verify', '--json', ...at])
    expect([json.code, JSON.parse(json.stdout)]).toEqual([8, answer])
  })

  test('keeps an older export where the new one breaks off', async () => {
    const cwd = temporaryFolder({ out: 'as it was' })
    const url = await gatewayThat(async (_, response) => {
      response.write('{"epoch":"x"')
      await expect.poll(() => readdirSync(cwd)).toHaveLength(2) // The new export has begun.
      response.socket?.end() // `destroy` could discard what was just written.
    })
    const broken = await meup(['audit', 'export', '-o', 'out', '--url', url, '--space', 'demo'], { cwd })
    expect(broken).toMatchObject({ code: 3, stderr: expect.stringContaining('broke off before its end') })
    expect([readdirSync(cwd), readFileSync(join(cwd, 'out'), 'utf8')]).toEqual([['out'], 'as it was'])
  })
})

/** Starts a server that answers in place of a gateway. Returns its address. */
async function gatewayThat(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
