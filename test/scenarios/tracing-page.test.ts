import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { receiveTraces } from '../support/otlp.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

const snippets = snippetsOf('docs/tracing.md')
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: agent, capabilities: ["*"] }
`

test('the command of the page traces, under the name that it gives', async () => {
  const command = snippets.map(({ text }) => text).find((text) => text.includes('meup'))
  expect(command).toMatch(/^(OTEL_\w+=\S+ )+meup up\n$/)
  const receiver = await receiveTraces()
  for (const [, name = '', value = ''] of command?.matchAll(/(OTEL_\w+)=(\S+)/g) ?? []) {
    vi.stubEnv(name, value.replace('http://127.0.0.1:4318', receiver.url))
  }
  const cwd = temporaryFolder({ 'space.yaml': config })
  const starting = startMeup('up', cwd)
  vi.unstubAllEnvs()
  const running = await starting

  const enter = async (as: string) => {
    const space = await connect({ as, directory: cwd, tracing: true })
    onTestFinished(() => space.close())
    return space
  }
  const [ana, bot] = await Promise.all([enter('ana'), enter('bot')])
  ana.tool('carried', {}, (_, { request }) => ({ id: request.id, meta: request.payload.params?._meta }))
  const run = await bot.reason('thinking')
  const { data } = await run.call('ana/carried', {}, { why: 'to see what arrives' })
  await run.conclude()
  expect(await running.stop('SIGTERM')).toBe(0)
  const resource = { 'service.name': 'deploys' }
  expect(receiver.spans).toMatchObject([
    { name: 'execute_tool carried', resource },
    { name: 'invoke_agent bot', resource },
  ])

  const { id, meta } = data as { id: string; meta: { traceparent: string } }
  writeSnippets(snippets, cwd)
  const args = [join(cwd, 'traceparent.mjs'), bot.welcome.space.epoch, run.context, id]
  expect(execFileSync(process.execPath, args).toString()).toBe(`${meta.traceparent}\n`)
})
