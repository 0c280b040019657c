import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { meup, type RunningSpace, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'

const sdk = join(repositoryRoot, 'packages/agent-sdk/dist/index.js')

/** The source of an agent that thinks about every question, and answers with its process id. */
const agent = `
import { connect } from ${JSON.stringify(sdk)}
const space = await connect()
await space.answer(async (turn) => {
  const r = await turn.reason('thinking')
  await r.thought('it is a question')
  await r.conclude('it can be answered')
  await turn.reply('answered by ' + process.pid)
})
`
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: process, command: node, args: [bot.mjs], capabilities: [chat, "reasoning.*"] }
`

async function enter(running: RunningSpace, folder: string): Promise<SpaceClient> {
  const token = readFileSync(join(folder, '.meup/tokens/ana'), 'utf8').trim()
  return connect({ url: running.url, space: 'demo', token })
}

/** Asks, and waits for the answer. */
async function ask(space: SpaceClient, question: string): Promise<string> {
  const envelopes = space.envelopes()
  const { id } = await space.chat(question)
  for await (const envelope of envelopes) {
    if (envelope.kind === 'chat' && envelope.correlationId === id) return envelope.payload.message
  }
  throw new Error('the space was closed before an answer came')
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('after kill -9 and a restart the conversation is there, and the agents come back', async () => {
  const folder = temporaryFolder({ 'space.yaml': config, 'bot.mjs': agent })
  const first = await startMeup('up', folder)
  const ana = await enter(first, folder)
  await ana.whenPresent(['bot'])
  const answer = await ask(ana, 'Are you there?')
  const oldAgent = Number(answer.split(' ').at(-1))
  ana.close()
  expect(await first.stop('SIGKILL')).toBe('SIGKILL')
  await expect.poll(() => isRunning(oldAgent)).toBe(false)

  const second = await startMeup('up', folder)
  const again = await enter(second, folder)
  await again.whenPresent(['bot'])
  expect(await ask(again, 'And now?')).not.toBe(answer)
  again.close()

  const { code, stdout } = await meup(['watch', '--from', '1', '--no-follow', '--json'], { cwd: folder })
  expect(code).toBe(0)
  const log = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AnyEnvelope)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  const said = log
    .filter(({ kind }) => /^(chat|reasoning)/.test(kind))
    .map(({ from, kind }) => `${from} ${kind}`)
  const turn = [
    'ana chat',
    'bot reasoning.start',
    'bot reasoning.thought',
    'bot reasoning.conclusion',
    'bot chat',
  ]
  expect(said).toEqual([...turn, ...turn])
  // The crash ended bot's connection; the restarted gateway logs that bot has left before it logs that bot joins again.
  const presence = log.filter((envelope) => envelope.kind === 'system.presence')
  const ofBot = presence
    .filter(({ payload }) => payload.participant.id === 'bot')
    .map(({ payload }) => payload.event)
    .filter((event) => event !== 'update') // Updates only describe its program.
  expect(ofBot).toEqual(['join', 'leave', 'join'])

  expect(await second.stop('SIGTERM')).toBe(0)
})

test('an agent outside comes back by itself when the gateway does', async () => {
  const port = 20_000 + (process.pid % 20_000)
  const file = config.replace('127.0.0.1:0', `127.0.0.1:${port}`).replace(/ {2}bot:.*\n/, '')
  const folder = temporaryFolder({ 'space.yaml': file })
  const first = await startMeup('gateway', folder)
  const ana = await enter(first, folder)
  const seen: (number | undefined)[] = []
  ana.on('envelope', ({ seq, kind }) => kind === 'chat' && seen.push(seq))
  const before = await ana.chat('before')
  await first.stop('SIGKILL')

  const sent = ana.chat('said while the gateway was away')
  await startMeup('gateway', folder)
  const after = await sent
  expect(seen).toEqual([before.seq, after.seq])
  ana.close()
})
