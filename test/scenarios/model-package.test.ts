import { createRequire } from 'node:module'
import type { AgentModel } from '@meup/agent-sdk'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { importsOf, resolveRelative } from '../support/imports.js'
import { readText } from '../support/packages.js'
import { scan } from '../support/source.js'

type Sdk = typeof import('@meup/agent-sdk/internal')

/** Packages that only users of models have installed. */
const external = ['ai', '@ai-sdk/openai-compatible']
const common = { bundle: true, platform: 'node', target: 'node20', logLevel: 'silent' } as const
const sdk = { contents: `export { SpaceClient } from '@meup/agent-sdk/internal'`, resolveDir: repositoryRoot }

/** Bundles the SDK in a folder without installed packages. */
async function sdkAlone(conditions: string[]): Promise<Sdk> {
  const outfile = `${temporaryFolder()}/sdk.cjs`
  await build({ ...common, stdin: sdk, format: 'cjs', conditions, external, outfile })
  return createRequire(import.meta.url)(outfile)
}

async function agentOf({ SpaceClient }: Sdk): Promise<(model: AgentModel) => Promise<void>> {
  const gateway = await createTestGateway({ participants: { bot: ['*'] } })
  const request = { url: 'memory:', space: 'test', token: testToken('bot') }
  const bot = await SpaceClient.open(
    ({ url: _, ...rest }, events) => dialInMemory(gateway, rest, events),
    request,
  )
  onTestFinished(async () => {
    bot.close()
    await gateway.close()
  })
  expect((await bot.chat('All else works.')).from).toBe('bot')
  return (model) => bot.agent({ model, transcript: 'off' })
}

test('without the package of models, an agent with one says what to install', async () => {
  const agent = await agentOf(await sdkAlone([]))
  const error = await agent('acme/model').catch((reason: unknown) => reason)
  expect(error).toMatchObject({
    code: 'not_configured',
    details: { option: 'model' },
    cause: { code: 'ERR_MODULE_NOT_FOUND' },
  })
})

test('in a page it says that it does not run there', async () => {
  const agent = await agentOf(await sdkAlone(['browser']))
  await expect(agent('acme/model')).rejects.toMatchObject({
    code: 'not_configured',
    details: { option: 'model' },
  })
})

test('a page is built without the package of models', async () => {
  const inputsOf = async (platform: 'browser' | 'node'): Promise<string[]> => {
    const made = await build({ ...common, stdin: sdk, format: 'esm', platform, write: false, metafile: true })
    return Object.keys(made.metafile.inputs).filter((path) => /node_modules\/ai\/|ai-sdk/.test(path))
  }
  expect(await inputsOf('browser')).toEqual([])
  expect(await inputsOf('node')).not.toEqual([])
})

test('the types of the SDK name no package of models', () => {
  const seen = new Map<string, readonly string[]>()
  const follow = (module: string): void => {
    if (seen.has(module)) return
    const path = `${module}.d.ts`
    const specifiers = importsOf(scan(readText(path)))
    seen.set(module, specifiers)
    for (const each of specifiers) if (each.startsWith('.')) follow(resolveRelative(path, each))
  }
  follow('packages/agent-sdk/dist/index')
  expect(seen.size).toBeGreaterThan(20)
  const named = new Set([...seen.values()].flat().filter((each) => !each.startsWith('.')))
  expect([...named].filter((each) => /^ai$|^@ai-sdk\/|^#/.test(each))).toEqual([])
})
