import type { SpaceClient } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer, type McpServerOptions } from '@meup/mcp-bridge'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from './support/http-server.js'
import { fixtures } from './support/processes.js'

async function bridged(server: McpServerOptions) {
  const space = await createTestSpace({ participants: { ana: ['*'], eve: ['*'], talker: ['mcp.*'] } })
  onTestFinished(() => space.close())
  const bridge = await bridgeMcpServer({ ...server, connect: () => space.join('talker') })
  onTestFinished(() => bridge.close())
  return { ana: await space.join('ana'), eve: await space.join('eve') }
}

const setLevel = (asker: SpaceClient, level: string) => asker.request('talker', 'logging/setLevel', { level })

/** Calls a tool that logs a message of each level. Returns the levels of the messages that the caller receives. */
async function logged(asker: SpaceClient): Promise<unknown[]> {
  const levels: unknown[] = []
  await asker.call('talker/talk', {}, { onNotification: ({ params }) => levels.push(params?.level) })
  return levels
}

test('a log level is that of who has set it: others get what they got', async () => {
  // Over HTTP, each message is on the stream of its call, so the bridge knows to whom it belongs.
  const { ana, eve } = await bridged({ name: 'talker', url: (await serveHttp('sessions')).url })
  expect(await logged(eve)).toEqual(['debug', 'info', 'error'])
  await setLevel(ana, 'error')
  expect(await logged(ana)).toEqual(['error'])
  expect(await logged(eve)).toEqual(['debug', 'info', 'error'])
  await setLevel(ana, 'debug')
  expect(await logged(ana)).toEqual(['debug', 'info', 'error'])
  // Participants without a level get messages from `info` on, once the server logs more because of another participant.
  expect(await logged(eve)).toEqual(['info', 'error'])
  await setLevel(eve, 'error')
  expect(await logged(eve)).toEqual(['error'])
  expect(await logged(ana)).toEqual(['debug', 'info', 'error'])
})

test('a server of revision 2026-07-28 is told the level with each request', async () => {
  const { ana, eve } = await bridged({ name: 'talker', url: (await serveHttp('modern')).url })
  expect(await logged(ana)).toEqual([])
  await setLevel(ana, 'info')
  expect(await logged(ana)).toEqual(['info', 'error'])
  expect(await logged(eve)).toEqual([])
})

test('a level that there is not, and a server without logs, are answered by the server', async () => {
  const { ana } = await bridged({ name: 'talker', url: (await serveHttp('sessions')).url })
  await expect(setLevel(ana, 'loud')).rejects.toThrow(/loud|Invalid/i)
  const silent = await bridged({
    name: 'talker',
    command: process.execPath,
    args: [fixtures.rawServer],
    env: {},
  })
  const asked = silent.ana.request('talker', 'logging/setLevel', { level: 'debug' }, { timeoutMs: 200 })
  await expect(asked).rejects.toThrow()
})
