import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ensureTokens } from '../src/config/tokens.js'
import { refused } from './support/refused.js'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'meup-tokens-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const path = (...parts: string[]) => join(directory, '.meup', ...parts)
const readMode = (file: string) => (statSync(file).mode & 0o777).toString(8)

function write(id: string, content: string, mode = 0o600): string {
  mkdirSync(path('tokens'), { recursive: true })
  writeFileSync(path('tokens', id), content)
  chmodSync(path('tokens', id), mode)
  return path('tokens', id)
}

test('makes a token for each, fit for a header and the name of a subprotocol', () => {
  const tokens = ensureTokens(directory, ['ana', 'ben'])
  expect(Object.keys(tokens)).toEqual(['ana', 'ben'])
  expect(tokens.ana).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(tokens.ana).not.toBe(tokens.ben)
  expect(readFileSync(path('tokens', 'ana'), 'utf8').trim()).toBe(tokens.ana)
})

test('keeps tokens to their owner and out of version control', () => {
  ensureTokens(directory, ['ana'])
  expect(readMode(path('tokens', 'ana'))).toBe('600')
  expect([readMode(path('tokens')), readMode(path())]).toEqual(['700', '700'])
  expect(readFileSync(path('.gitignore'), 'utf8')).toBe('*\n')
})

test('leaves nothing else behind', () => {
  ensureTokens(directory, ['ana'])
  expect(readdirSync(path()).sort()).toEqual(['.gitignore', 'tokens'])
  expect(readdirSync(path('tokens'))).toEqual(['ana'])
})

test('gives the same tokens at every start', () => {
  const first = ensureTokens(directory, ['ana'])
  expect(ensureTokens(directory, ['ana', 'ben'])).toMatchObject(first)
})

test('takes what a file holds, without the space around it', () => {
  const file = write('ana', '  my-own-token-0123\r\n')
  writeFileSync(path('.gitignore'), 'mine\n')
  expect(ensureTokens(directory, ['ana'])).toEqual({ ana: 'my-own-token-0123' })
  expect(readFileSync(file, 'utf8')).toBe('  my-own-token-0123\r\n')
  expect(readFileSync(path('.gitignore'), 'utf8')).toBe('mine\n')
})

test('tokens of one of several spaces lie in its folder', () => {
  const a = ensureTokens(directory, ['ana'], { space: 'a' })
  const b = ensureTokens(directory, ['ana'], { space: 'b' })
  expect(a.ana).not.toBe(b.ana)
  expect(readFileSync(path('tokens', 'a', 'ana'), 'utf8').trim()).toBe(a.ana)
  expect(existsSync(path('.gitignore'))).toBe(true)
})

test.for(['', 'short', '   123456789012345   '])('refuses %j as too short and says what to do', (content) => {
  const file = write('ana', content)
  expect(() => ensureTokens(directory, ['ana'])).toThrow(refused('unusable_token', { path: file }))
})

test.for(['two words of a token', 'token-with-ümlaut-0', 'first-line-of-two\nsecond'])(
  'refuses %j',
  (content) => {
    const file = write('ana', content)
    expect(() => ensureTokens(directory, ['ana'])).toThrow(refused('invalid_token', { file }))
  },
)

test('refuses one token for two participants', () => {
  write('ana', 'the-same-token-for-both')
  write('ben', 'the-same-token-for-both')
  expect(() => ensureTokens(directory, ['ana', 'ben'])).toThrow(refused('shared_token'))
})

test('leaves out whose token is revoked, and makes no other', () => {
  const file = write('ana', 'revoked\n')
  expect(Object.keys(ensureTokens(directory, ['ana', 'ben']))).toEqual(['ben'])
  expect(readFileSync(file, 'utf8')).toBe('revoked\n')
})

describe('where it is told what to use instead', () => {
  const previous: Record<string, string> = { ana: 'what-ana-had-before', ben: 'what-ben-had-before' }

  test('goes on with it, for those alone whose token cannot be used', () => {
    write('ana', 'short')
    write('ben', 'the-new-token-of-ben')
    write('cem', 'two words of a token')
    const problems: string[] = []
    const tokens = ensureTokens(directory, ['ana', 'ben', 'cem'], {
      instead: (id, error) => {
        problems.push(`${id}: ${error.message}`)
        return previous[id]
      },
    })
    expect(tokens).toEqual({ ana: previous.ana, ben: 'the-new-token-of-ben' })
    expect(problems).toEqual([
      expect.stringMatching(/^ana: .* is shorter/),
      expect.stringMatching(/^cem: .* one word/),
    ])
  })

  test('of several with one token none gets it', () => {
    for (const id of ['ana', 'ben', 'cem']) write(id, 'the-same-token-for-all')
    const instead = (id: string) => previous[id]
    expect(ensureTokens(directory, ['ana', 'ben', 'cem'], { instead })).toEqual(previous)
  })

  test('nor does anybody where that one, too, is shared', () => {
    write('ana', 'short')
    write('ben', previous.ana ?? '')
    const instead = (id: string) => previous[id === 'ben' ? 'ana' : id]
    expect(ensureTokens(directory, ['ana', 'ben'], { instead })).toEqual({})
  })
})

test('warns of a token that others may read, and of one that browsers cannot send', () => {
  const open = write('ana', 'my-own-token-0123', 0o644)
  const base64 = write('ben', 'bXktb3duLXRva2VuLTA/xMjM=')
  const warnings: string[] = []
  ensureTokens(directory, ['ana', 'ben', 'cem'], { warn: (message) => warnings.push(message) })
  expect(warnings).toEqual([
    `others on this machine may read ${open}: chmod 600 it`,
    `browsers cannot send the token in ${base64}: use letters, digits, - and _ alone`,
  ])
})

/** Code of a worker that waits until all workers have started, so that all look for the token files at the same time. */
const start = `
  const { workerData: { module, directory, ids, gate, count }, parentPort } = require('node:worker_threads')
  import(module).then(({ ensureTokens }) => {
    const arrived = new Int32Array(gate)
    if (Atomics.add(arrived, 0, 1) === count - 1) Atomics.notify(arrived, 0)
    for (let n; (n = Atomics.load(arrived, 0)) < count; ) Atomics.wait(arrived, 0, n)
    parentPort.postMessage(ensureTokens(directory, ids))
  })
`

test('starts at the same time agree', async () => {
  const count = 4
  const workerData = {
    module: new URL('../src/config/tokens.js', import.meta.url).href,
    directory,
    ids: Array.from({ length: 50 }, (_, i) => `p${i}`),
    gate: new SharedArrayBuffer(4),
    count,
  }
  const results = await Promise.all(
    Array.from({ length: count }, () => {
      const worker = new Worker(start, { eval: true, workerData })
      return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    }),
  )
  for (const result of results) expect(result).toEqual(results[0])
  expect(ensureTokens(directory, workerData.ids)).toEqual(results[0])
})
