import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { serve } from '@meup/gateway'
import { createTestGateway } from '@meup/gateway/testing'
import { type AnyEnvelope, type Capability, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { repositoryRoot } from '../../../../test/support/files.js'
import { snippetsOf } from '../../../../test/support/snippets.js'
import { type BrowserBundle, bundleForBrowsers } from '../support/browser-bundle.js'

type Sdk = { readonly connect: typeof connect }

const token = ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_')

let bundle: BrowserBundle
beforeAll(async () => {
  bundle = await bundleForBrowsers(`export { connect } from '@meup/agent-sdk'`)
})

/** Starts a gateway. Returns a function that connects a participant with the bundled SDK. */
async function enter(
  capabilities: readonly Capability[],
  options: { readonly withoutLater?: boolean } = {},
): Promise<(id: string) => ReturnType<typeof connect>> {
  const gateway = await createTestGateway({ participants: { page: [...capabilities], ana: ['*'] } })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close())
  const sdk = await bundle.load<Sdk>(options)
  return async (id) => {
    const space = await sdk.connect({ url: served.url, space: 'test', token: `token-of-${id}` })
    onTestFinished(() => space.close())
    return space
  }
}

describe('a page', () => {
  test('loads at most 90 kB to connect, and /watch less', async () => {
    expect(bundle.atOnce).toBeLessThan(90_000)
    const watch = await bundleForBrowsers(`export { BaseClient, dialBrowser } from '@meup/agent-sdk/watch'`)
    expect(watch.atOnce).toBeLessThan(bundle.atOnce)
  })

  test('asks, answers and calls with what it has loaded at once', async () => {
    const join = await enter(['*'], { withoutLater: true })
    const [page, ana] = [await join('page'), await join('ana')]
    void page.answer((turn) => turn.reply(`You said: ${turn.text}`))
    page.tool('now', {}, () => 'noon')
    expect((await ana.ask('Hello?', { to: ['page'] })).text).toBe('You said: Hello?')
    expect((await ana.call('page/now')).text).toBe('noon')
    await expect(ana.call('page/now', Object('no object'))).rejects.toThrow('Expected object')
  })

  test('sends no thought where the rules that find secrets cannot be loaded', async () => {
    const join = await enter(['*'], { withoutLater: true })
    const page = await join('page')
    const run = await page.reason('Thinking').catch((error: unknown) => error)
    expect(run).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('could not be loaded'),
    })
    expect((await page.chat('All else goes.')).from).toBe('page')
  })
})

describe('docs/browsers.md', () => {
  const page = snippetsOf('docs/browsers.md')

  /** Runs a program of the documentation page as a bundle, against a gateway. Returns the texts that it shows. */
  async function run(file: string) {
    const gateway = await createTestGateway({ participants: { page: ['*'], reviewer: ['*'] } })
    const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
    onTestFinished(() => served.close())
    const program = page.find((each) => each.file === file && each.language === 'ts')?.text ?? ''
    const shown: string[] = []
    const keep = async (opening: Promise<SpaceClient>): Promise<SpaceClient> => {
      const space = await opening
      onTestFinished(() => space.close())
      return space
    }
    Object.assign(globalThis, { keep, token: 'token-of-page', show: (text: string) => shown.push(text) })
    const code = program
      .replace('https://spaces.example.org', served.url)
      .replace("'demo'", "'test'")
      .replace(/await (connect\(.*\))/, 'await keep($1)')
    const reviewer = await connect({ url: served.url, space: 'test', token: 'token-of-reviewer' })
    onTestFinished(() => reviewer.close())
    return { reviewer, shown, running: (await bundleForBrowsers(code)).load() }
  }

  test('asks', async () => {
    const file = 'browsers/page.ts'
    const { reviewer, shown, running } = await run(file)
    void reviewer.answer((turn) => turn.reply('Go ahead.'))
    await running
    const output = page.find((each) => each.file === file && each.language === 'text')
    expect(`${shown.join('\n')}\n`).toBe(output?.text)
  })

  test('answers', async () => {
    const { reviewer, running } = await run('browsers/answers.ts')
    await reviewer.whenPresent(['page'])
    expect((await reviewer.ask('What is there?', { to: ['page'] })).text).toBe('One order is open.')
    expect((await reviewer.call('page/title')).text).toBe('Orders')
    running.catch(() => {}) // Rejects when the client is closed.
  })

  test('gives sizes as they are', async () => {
    const text = readFileSync(join(repositoryRoot, 'docs/browsers.md'), 'utf8')
    const rows = [...text.matchAll(/^\| `(\w+)`.* \| (\d+) \| (\d+) \|$/gm)]
    const watch = await bundleForBrowsers(`export { BaseClient, dialBrowser } from '@meup/agent-sdk/watch'`)
    const measured = [bundle, watch].map(({ atOnce, later }) => [atOnce, later].map((each) => each / 1000))
    expect(rows.map(([, name]) => name)).toEqual(['connect', 'BaseClient'])
    for (const [row, [, , ...sizes]] of rows.entries())
      for (const [at, size] of sizes.entries())
        expect(Math.abs(Number(size) - (measured[row]?.[at] ?? 0))).toBeLessThan(3)
  })
})

describe('what a page loads later', () => {
  test('masks secrets, and keeps the order in which was sent', async () => {
    const join = await enter(['*'])
    const [page, ana] = [await join('page'), await join('ana')]
    const heard: AnyEnvelope[] = []
    ana.on('envelope', (envelope) => heard.push(envelope))
    const context = 'c1'
    const last = [
      page.send({ kind: Kind.reasoningStart, id: context, payload: { message: `The token is ${token}` } }),
      page.chat('while it loads'),
      page.send({ kind: Kind.reasoningThought, context, payload: { message: 'Hm.' } }),
      page.chat('at last'),
    ]
    await Promise.all(last)
    await expect.poll(() => heard.length).toBeGreaterThanOrEqual(4)
    const own = heard.filter(({ from }) => from === 'page').map(({ payload }) => payload)
    expect(own.map((payload) => (payload as { message: string }).message)).toEqual([
      expect.not.stringContaining(token),
      'while it loads',
      'Hm.',
      'at last',
    ])
  })

  test('compiles regular expressions of capabilities before it is connected', async () => {
    const join = await enter(['chat', { kind: Kind.mcpRequest, to: 're:an[a-c]' }])
    const page = await join('page')
    const call = (to: string) => page.can({ kind: Kind.mcpRequest, to: [to], payload: {} })
    expect([call('ana'), call('anz')]).toEqual([true, false])
  })

  test('checks arguments by TypeBox', async () => {
    const join = await enter(['*'])
    const [page, ana] = [await join('page'), await join('ana')]
    page.tool('double', { input: Type.Object({ n: Type.Number() }) }, ({ n }) => n * 2)
    expect((await ana.call('page/double', { n: 21 })).text).toBe('42')
    await expect(ana.call('page/double', { n: 'x' })).rejects.toThrow('wrong arguments: /n: Expected number')
  })
})
