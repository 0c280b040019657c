import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { demoInMemory, spawnMeup, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { isSoak } from '../support/soak.js'

vi.setConfig({ testTimeout: 60_000 })

const fixture = join(repositoryRoot, 'packages/mcp-bridge/test/fixtures/raw-server.mjs')
const config = `${demoInMemory}
participants:
  ana: { kind: human, capabilities: ["*"] }
  helper: { kind: agent, capabilities: [chat, "reasoning.*"] }
  raw: { kind: mcp, command: node, args: [${JSON.stringify(fixture)}] }
`

/** Opens a space with an agent that thinks until its question is retracted, and a tool server that does not answer. */
async function openSpace() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const { process: gateway } = await startMeup('up', cwd)
  const [ana, helper] = await Promise.all(
    ['ana', 'helper'].map(async (as) => {
      const space = await connect({ as, directory: cwd })
      onTestFinished(() => space.close())
      return space
    }),
  )
  if (ana === undefined || helper === undefined) throw new Error('not connected')
  const ends: unknown[] = []
  const begun = new Promise<void>((resolve) => {
    void helper.answer((turn) =>
      turn.reason('how to do it', async () => {
        resolve()
        await new Promise<void>((end) => turn.signal.addEventListener('abort', () => end()))
        ends.push(turn.signal.reason)
      }),
    )
  })
  return { cwd, gateway, ana, begun, ends }
}

const whenCancelled = (space: SpaceClient): Promise<unknown> =>
  new Promise((resolve) =>
    space.on('envelope', ({ kind, from, payload }) => {
      if (kind === 'chat.cancel' && from === 'ana') resolve(payload)
    }),
  )

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const
/** The same code retracts a question and cancels a call, so each signal is tested with only one of them. */
const [asking, calling] = isSoak ? [signals, signals] : [signals.slice(0, 2), signals.slice(2)]

test.for(asking)('%s takes a question back: the run of the agent ends', async ([signal, code]) => {
  const { cwd, ana, begun, ends } = await openSpace()
  const cancelled = whenCancelled(ana)
  const ask = spawnMeup(['ask', 'helper', 'please do', '--as', 'ana'], cwd)
  await begun
  ask.process.kill(signal)
  expect(await ask.ended).toBe(code)
  expect(ask.said).toEqual({ stdout: '', stderr: 'meup: interrupted\n' })
  expect(await cancelled).toEqual({ reason: 'interrupted' })
  await expect.poll(() => ends).toHaveLength(1)
  await expect.poll(() => ana.runs).toEqual([])
})

test('a private question and one for everyone are taken back when their time is over', async () => {
  for (const words of [['helper', 'please do', '--private'], ['please do']]) {
    const { cwd, ana, ends } = await openSpace()
    const cancelled = whenCancelled(ana)
    const ask = spawnMeup(['ask', ...words, '--as', 'ana', '--timeout', '2s'], cwd)
    expect(await ask.ended).toBe(6)
    expect(await cancelled).toEqual({ reason: 'timeout' })
    await expect.poll(() => ends).toHaveLength(1)
  }
})

test.for(calling)('%s cancels a call at its tool server', async ([signal, code]) => {
  const { cwd, ana } = await openSpace()
  await ana.whenPresent(['raw'], { timeoutMs: 30_000 })
  const called = new Promise<void>((resolve) =>
    ana.on('envelope', ({ kind, payload }) => {
      if (kind === 'mcp.request' && payload.params?.name === 'silent') resolve()
    }),
  )
  const call = spawnMeup(['call', 'raw/silent', '--as', 'ana'], cwd)
  await called
  call.process.kill(signal)
  expect(await call.ended).toBe(code)
  await expect
    .poll(async () => JSON.stringify(await ana.request('raw', 'tools/call', { name: 'seen' })))
    .toContain('notifications/cancelled')
})

test('a second signal ends the command at once, though the gateway does not answer', async () => {
  const { cwd, gateway, begun } = await openSpace()
  const ask = spawnMeup(['ask', 'helper', 'please do', '--as', 'ana'], cwd)
  await begun
  gateway.kill('SIGSTOP')
  onTestFinished(() => void gateway.kill('SIGCONT'))
  ask.process.kill('SIGINT')
  ask.process.kill('SIGTERM')
  expect([130, 143]).toContain(await ask.ended)
  gateway.kill('SIGCONT')
})
