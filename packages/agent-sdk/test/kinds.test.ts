import { SpaceClient } from '@meup/agent-sdk/internal'
import { createGateway, memoryStore, tokenAuthenticator } from '@meup/gateway'
import { dialInMemory, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from './support/eventually.js'

test('a server of tools that the operator adds while an agent runs is one of its default', async () => {
  const before = { bot: ['*'], files: ['mcp.*'] }
  const authenticator = tokenAuthenticator({
    test: { bot: testToken('bot'), files: testToken('files') },
  })
  const config = testSpaceConfig({ participants: before })
  const gateway = await createGateway({ spaces: [config], store: memoryStore(), authenticator })
  const open = (participant: string) =>
    SpaceClient.open(({ url: _, ...request }, events) => dialInMemory(gateway, request, events), {
      ...{ url: 'memory:', space: 'test', token: testToken(participant) },
    })
  const [bot, files] = [await open('bot'), await open('files')]
  onTestFinished(async () => {
    await gateway.close()
    for (const client of [bot, files]) client.close()
  })
  files.tool('list', {}, () => 'a.txt')
  await bot.whenPresent(['files'])
  expect([bot.getKind('files'), await bot.tools()]).toEqual(['agent', []])
  const notices = new Promise((resolve) => bot.once('tools', () => resolve(undefined)))
  const participants = { ...before, files: { kind: 'mcp', capabilities: ['mcp.*'] } }
  await gateway.reconfigure([testSpaceConfig({ participants })])
  await notices
  await eventually(() => expect(bot.getKind('files')).toBe('mcp'))
  expect((await bot.tools()).map(({ name }) => name)).toEqual(['list'])
})
