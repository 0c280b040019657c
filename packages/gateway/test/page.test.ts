import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { serve } from '@meup/gateway'
import { createTestGateway } from '@meup/gateway/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

function built(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), 'meup-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'page', 'assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.js'), 'beside the page')
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, 'page', name), content)
  return pathToFileURL(`${join(folder, 'page')}/`)
}

const page = {
  'index.html': '<!doctype html><title>page</title>',
  'assets/page-1a2b3c4d.js': 'console.log("page")\n'.repeat(100),
  'assets/page-5e6f.css': 'body { margin: 0 }',
  'assets/icon-7a8b.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/notes.txt': 'not for browsers',
}

async function open(options: { page?: URL } = { page: built(page) }): Promise<string> {
  const gateway = await createTestGateway({ participants: { ana: ['*'] } })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0, ...options })
  onTestFinished(() => served.close())
  return served.url
}

/** The status of a path that is sent as written: `fetch` would resolve the dots. */
const statusOf = (url: string, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { path }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on('error', reject).end()
  })

describe('the page', () => {
  test.each([
    ['/', 'text/html; charset=utf-8', 'index.html', 'no-cache'],
    ['/assets/page-1a2b3c4d.js', 'text/javascript; charset=utf-8', 'assets/page-1a2b3c4d.js', 'immutable'],
    ['/assets/page-5e6f.css', 'text/css; charset=utf-8', 'assets/page-5e6f.css', 'immutable'],
    ['/assets/icon-7a8b.svg', 'image/svg+xml', 'assets/icon-7a8b.svg', 'immutable'],
  ] as const)('is served at %s', async (path, type, file, caching) => {
    const response = await fetch(`${await open()}${path}`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(page[file])
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('cache-control')).toContain(caching)
  })

  test('may load nothing from elsewhere, run nothing written into it, and stand in no frame', async () => {
    const { headers } = await fetch(await open())
    const policy = headers.get('content-security-policy') ?? ''
    const rules = Object.fromEntries(policy.split('; ').map((rule) => rule.split(/ (.*)/).slice(0, 2)))
    expect(rules).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'connect-src': "'self'",
      'frame-ancestors': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
    })
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('comes packed to those who can unpack it', async () => {
    const path = `${await open()}/assets/page-1a2b3c4d.js`
    const packed = await fetch(path, { headers: { 'accept-encoding': 'br;q=0.5, gzip' } })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(await packed.text()).toBe(page['assets/page-1a2b3c4d.js'])
    const plain = await fetch(path, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect([packed, plain].map(({ headers }) => headers.get('vary'))).toEqual([
      'accept-encoding',
      'accept-encoding',
    ])
  })

  test('answers HEAD without a body, and refuses to be written to', async () => {
    const url = await open()
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
  })

  test.each([
    '/assets/',
    '/assets/page-0000.js',
    '/assets/notes.txt',
    '/index.html',
    '/../secret.js',
    '/assets/../../secret.js',
    '/assets/%2e%2e/%2e%2e/secret.js',
    '/assets/..%2f..%2fsecret.js',
    '/assets//page-5e6f.css',
    '/etc/passwd',
  ])('is all there is: %s is not found', async (path) => {
    expect(await statusOf(await open(), path)).toBe(404)
  })
})

test('a gateway without a page has nothing at /', async () => {
  const response = await fetch(await open({}))
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ code: 'not_found' })
})

test('a folder without an index is no page', async () => {
  await expect(open({ page: built({ 'assets/page-5e6f.css': '' }) })).rejects.toThrow(/no index.html/)
})
