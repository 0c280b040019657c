import { createServer } from 'node:http'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { commandLine, startMeup, temporaryFolder } from '../support/cli.js'
import { inTmux, openPane } from '../support/tmux.js'

const config = `
version: 1
space: demo
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: agent, capabilities: [chat] }
`

/** Listens at an address as a gateway that asks to come again in ten minutes. */
async function refuseForLong(url: string): Promise<() => Promise<void>> {
  let [refusals, onRefusal] = [0, (): void => {}]
  const server = createServer().on('upgrade', (_, socket) => {
    socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n')
    refusals++
    onRefusal()
  })
  await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), '127.0.0.1', resolve))
  await new Promise<void>((resolve) => {
    onRefusal = resolve
    if (refusals > 0) resolve()
  })
  return () => new Promise((resolve) => server.close(() => resolve()))
}

test(
  'a line typed without a connection is kept, and Enter connects at once',
  { timeout: 120_000 },
  inTmux(async () => {
    const cwd = temporaryFolder({ 'space.yaml': config })
    const first = await startMeup('up', cwd, ['--listen', '127.0.0.1:0'])
    const pane = openPane(commandLine('join --as ana'), { cwd, columns: 120, env: { NO_COLOR: '1' } })
    await pane.sees('you are ana')
    await first.stop('SIGTERM')
    await pane.sees('trying again · Enter tries at once')
    const end = await refuseForLong(first.url)
    await pane.sees(/ana in demo · not connected · .*HTTP 503/)
    pane.type('Is it back?')
    pane.press('Enter')
    await pane.sees('… not connected; it is sent after that: Is it back?')
    pane.type('/resume bot')
    pane.press('Enter')
    await pane.sees('… not connected; it is sent after that: /resume bot')
    await end()
    await startMeup('up', cwd, ['--listen', new URL(first.url).host])
    const bot = await connect({ as: 'bot', directory: cwd })
    onTestFinished(() => bot.close())
    const heard = new Promise<string>((resolve) => {
      bot.on('envelope', ({ kind, payload }) => kind === 'chat' && resolve(payload.message))
    })
    pane.press('Enter')
    await pane.sees('… connected again')
    expect(await heard).toBe('Is it back?')
    await pane.sees('ana: Is it back?')
    expect(pane.all().split('trying again')).toHaveLength(2)
  }),
)
