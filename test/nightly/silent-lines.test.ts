import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { serve } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { commandLine, spawnMeup, temporaryFolder } from '../support/cli.js'
import { proxy } from '../support/proxy.js'
import { openPane } from '../support/tmux.js'

/** A dead connection is noticed within `noticedMs` of its last sign of life; a busy machine gets `slackMs` more. */
const [noticedMs, slackMs] = [60_000, 15_000]

const countOf = (text: string, part: string): number => text.split(part).length - 1

test('a proxy that stops forwarding is noticed within a minute by every client, and what was missed arrives once', {
  timeout: 240_000,
}, async () => {
  const ids = ['ana', 'bot', 'watcher', 'joined', 'editor', 'desktop']
  const gateway = await createTestGateway({
    name: 'demo',
    participants: Object.fromEntries(ids.map((id) => [id, ['*']])),
  })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close())
  await using line = await proxy(Number(new URL(served.url).port))
  const enter = async (url: string, id: string) => {
    const space = await SpaceClient.open(dialWs, { url, space: 'demo', token: testToken(id) })
    onTestFinished(() => space.close())
    return space
  }
  const ana = await enter(served.url, 'ana')

  const cwd = temporaryFolder()
  const seat = (id: string) => ({
    ...{ MEUP_URL: line.url, MEUP_SPACE: 'demo', MEUP_TOKEN: testToken(id), NO_COLOR: '1' },
  })
  const watch = spawnMeup(['watch'], cwd, seat('watcher'))
  const join = openPane(commandLine('join'), { cwd, rows: 40, columns: 100, env: seat('joined') })
  const acp = spawnMeup(['acp'], cwd, seat('editor'))
  const mcp = spawnMeup(['mcp', 'serve', '--http', '0'], cwd, seat('desktop'))
  const bot = await enter(line.url, 'bot')
  const heard: string[] = []
  const lost: number[] = []
  bot.on('envelope', ({ kind, payload }) => {
    if (kind === 'chat') heard.push(String(payload.message))
  })
  bot.on('reconnecting', () => lost.push(Date.now()))
  await ana.whenPresent(ids, { timeoutMs: 60_000 })

  await ana.chat('before the silence')
  await join.sees('before the silence')
  await expect
    .poll(() => [watch.said.stdout, heard.join()])
    .toEqual([expect.stringContaining('before the silence'), 'before the silence'])

  const began = Date.now()
  line.freeze()
  await ana.chat('said meanwhile')
  const notices = (): Record<string, boolean> => ({
    bot: lost.length > 0,
    watch: /trying again/.test(watch.said.stdout + watch.said.stderr),
    join: join.all().includes('trying again'),
    acp: acp.said.stderr.includes('trying again'),
    mcp: mcp.said.stderr.includes('trying again'),
  })
  await vi.waitFor(
    () => expect(notices()).toEqual({ bot: true, watch: true, join: true, acp: true, mcp: true }),
    { timeout: noticedMs + slackMs, interval: 200 },
  )
  expect(Date.now() - began).toBeLessThan(noticedMs)

  line.thaw()
  await ana.chat('after the silence')
  await join.sees('after the silence', 90_000)
  await vi.waitFor(
    () => {
      expect(heard).toContain('after the silence')
      expect(watch.said.stdout).toContain('after the silence')
      for (const { said } of [acp, mcp]) expect(said.stderr).toContain('connected again')
    },
    { timeout: 90_000, interval: 200 },
  )
  expect(heard).toEqual(['before the silence', 'said meanwhile', 'after the silence'])
  for (const shown of [watch.said.stdout, join.all()])
    for (const text of heard) expect([text, countOf(shown, text)]).toEqual([text, 1])
})
