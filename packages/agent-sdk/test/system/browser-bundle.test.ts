import type { connect as connectType } from '@meup/agent-sdk'
import { serve } from '@meup/gateway'
import { createTestGateway } from '@meup/gateway/testing'
import { type AnyEnvelope, type Capability, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type BrowserBundle, bundleForBrowsers } from '../support/browser-bundle.js'

type Sdk = { readonly connect: typeof connectType }

const token = ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_')

let bundle: BrowserBundle
beforeAll(async () => {
  bundle = await bundleForBrowsers(`export { connect } from '@meup/agent-sdk'`)
})

/** Connects participants of a real gateway by the bundle. */
async function enter(
  capabilities: readonly Capability[],
  options: { readonly withoutLater?: boolean } = {},
): Promise<(id: string) => ReturnType<typeof connectType>> {
  const gateway = await createTestGateway({ participants: { page: [...capabilities], ana: ['*'] } })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close())
  const { connect } = await bundle.load<Sdk>(options)
  return async (id) => {
    const space = await connect({ url: served.url, space: 'test', token: `token-of-${id}` })
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
