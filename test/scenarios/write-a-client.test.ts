import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { installDocumented, spawnDocumented } from '../support/client-kit/clients.js'

const config = (port: number) => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:${port}" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  page: { kind: agent, capabilities: [chat, "reasoning.*", mcp.response] }
`

function startClient(url: string, token: string): string[] {
  const folder = temporaryFolder({})
  installDocumented(folder)
  const client = spawnDocumented(folder, url, token)
  onTestFinished(() => void client.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: client.stdout }).on('line', (line) => lines.push(line))
  return lines
}

async function untilAnswered(space: SpaceClient, question: string): Promise<AnyEnvelope[]> {
  const envelopes = space.envelopes()
  const { id } = await space.chat(question)
  const seen: AnyEnvelope[] = []
  for await (const envelope of envelopes) {
    seen.push(envelope)
    if (envelope.kind === 'chat' && envelope.correlationId === id) return seen
  }
  throw new Error('the space was closed')
}

test('the page leads to a client that thinks, answers, serves a tool, filters and comes back', async () => {
  const port = 40_000 + (process.pid % 20_000)
  const folder = temporaryFolder({ 'space.yaml': config(port) })
  const token = (participant: string) =>
    readFileSync(join(folder, '.meup/tokens', participant), 'utf8').trim()
  const first = await startMeup('gateway', folder)
  const lines = startClient(first.url, token('page'))
  const ana = await connect({ url: first.url, space: 'demo', token: token('ana') })
  onTestFinished(() => ana.close())
  await ana.whenPresent(['page'])

  const stranger = startClient(first.url, 'no token of this space')
  await expect.poll(() => stranger).toContain('closed: 401 ')

  const seen = await untilAnswered(ana, 'how many words are these')
  const turn = seen.filter(({ from }) => from === 'page')
  expect(turn.map(({ kind }) => kind)).toEqual([
    'reasoning.start',
    'reasoning.thought',
    'reasoning.conclusion',
    'chat',
  ])
  expect(turn.at(-1)?.payload).toEqual({ message: '5 words' })
  expect((await ana.call('page/shout', { text: 'quietly' }, { context: 'a/b/c' })).text).toBe('QUIETLY')
  await expect(ana.call('page/whisper')).rejects.toMatchObject({ code: -32601 })

  // The client has asked not to get thoughts: it gets none of others, but the echo of its own.
  const run = await ana.reason('watch me')
  await run.thought('a thought that is cut')
  await run.conclude('watched')
  await expect.poll(() => lines).toContain('ana reasoning.conclusion watched')
  expect(lines.filter((line) => line.includes('reasoning.thought'))).toEqual([
    'page reasoning.thought There are 5',
  ])

  await first.stop('SIGKILL')
  await startMeup('gateway', folder)
  await ana.whenPresent(['page'], { timeoutMs: 15_000 })
  expect((await untilAnswered(ana, 'and now')).at(-1)?.payload).toEqual({ message: '2 words' })
})
