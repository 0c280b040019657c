import { serve } from '@meup/gateway'
import { createTestGateway } from '@meup/gateway/testing'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { openPage, servePage, withChromium } from '../support/chromium.js'
import { repositoryRoot } from '../support/files.js'

/** Bundles a script with the SDK for browsers. */
async function bundle(script: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: repositoryRoot, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

const script = (gateway: string) => `
  import { connect } from '@meup/agent-sdk'
  const enter = (id) => connect({ url: '${gateway}', space: 'test', token: 'token-of-' + id })
  const told = await think().catch(String)
  await fetch('/result', { method: 'POST', body: told })

  async function think() {
    const [me, tools] = [await enter('page'), await enter('tools')]
    tools.tool('double', {}, (_, { request }) => String(request.payload.params.arguments.n * 2))
    const run = await me.reason('in a page')
    const { text } = await run.call('tools/double', { n: 21 }, { why: 'to see' })
    const { kind } = await run.conclude('seen')
    return me.id + ' was told ' + text + ' before ' + kind
  }
`

test('a bundle of the SDK for browsers needs nothing of Node', async () => {
  expect(await bundle(`export * from '@meup/agent-sdk'`)).not.toMatch(/from"(node:|ws")/)
})

test(
  'in a real browser: enters, thinks, calls a tool, hears the answer',
  withChromium(async (chromium) => {
    const gateway = await createTestGateway({ participants: { page: ['*'], tools: ['*'] } })
    const origins: string[] = []
    const served = await serve({ gateway, host: '127.0.0.1', port: 0, origins })
    onTestFinished(() => served.close())
    const page = await servePage(() => bundle(script(served.url)))
    origins.push(page.url)
    openPage(chromium, page)
    expect(await page.result).toBe('page was told 42 before reasoning.conclusion')
  }),
)
