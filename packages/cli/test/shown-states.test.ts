import { join } from 'node:path'
import { HttpClient } from '@meup/agent-sdk/http'
import { createGateway, memoryStore, serve, tokenAuthenticator } from '@meup/gateway'
import { testSpaceConfig, testToken } from '@meup/gateway/testing'
import { Command } from 'commander'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { addCaps } from '../src/commands/caps.js'
import { participantLines } from '../src/join/command-runner.js'
import { writeGatewayFile } from '../src/lib/running-gateway.js'
import { stats } from '../src/operator/stats.js'
import { folderWith } from './support/folder.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

const ids = ['ana', 'bot', 'crasher', 'eve', 'idle', 'slow', 'tired']
const states = {
  ana: {},
  bot: { paused: { by: 'ana', reason: 'lunch', until: expect.any(String) } },
  crasher: { program: { state: 'restarting', count: 4 } },
  eve: { kicked: { by: 'ana', reason: 'spam' } },
  idle: {},
  slow: { program: { state: 'starting' } },
  tired: { program: { state: 'resting', count: 10 }, paused: { by: 'ana' } },
}

/** A folder with a running gateway and a participant in each state. */
async function running() {
  const config = testSpaceConfig({ participants: Object.fromEntries(ids.map((id) => [id, ['*']])) })
  const tokens = Object.fromEntries(ids.map((id) => [id, testToken(id)]))
  const gateway = await createGateway({
    spaces: [config],
    store: memoryStore(),
    authenticator: tokenAuthenticator({ test: tokens }),
  })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close())
  const { url } = served
  const http = new HttpClient({ url, space: 'test', token: testToken('ana') })
  await http.postJson('envelopes', [
    { kind: 'participant.pause', to: ['bot'], payload: { reason: 'lunch', timeoutSeconds: 600 } },
    { kind: 'participant.pause', to: ['tired'] },
    { kind: 'space.kick', payload: { participantId: 'eve', reason: 'spam' } },
  ])
  gateway.setProgram('test', 'crasher', { state: 'restarting', count: 4 })
  gateway.setProgram('test', 'slow', { state: 'starting' })
  gateway.setProgram('test', 'tired', { state: 'resting', count: 10 })
  const folder = folderWith({ '.meup/tokens/ana': testToken('ana') })
  writeGatewayFile(folder, { url, spaces: ['test'], pid: process.pid, people: { test: ['ana'] } })
  return { url, http, folder }
}

/** Captures what an action prints on stdout and stderr. */
async function printed(act: () => Promise<unknown>) {
  const texts = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      texts[name] += String(text)
      return true
    }),
  )
  try {
    await act()
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return texts
}

const shown = {
  bot: /bot: paused by ana, 10 min left · away$/m,
  crasher: /crasher: restarting \(4×\)$/m,
  eve: /eve: kicked by ana$/m,
  slow: /slow: starting$/m,
  tired: /tired: paused by ana · resting after 10 failures: meup restart tired$/m,
}

const caps = (...args: string[]): Promise<unknown> => {
  const program = new Command()
  addCaps(program)
  return program.parseAsync(['caps', ...args], { from: 'user' })
}

describe('who is paused, kicked, or fails', () => {
  test('is in stats of the gateway of a folder', async () => {
    const { folder } = await running()
    const config = join(folder, 'space.yaml')
    const { stdout, stderr } = await printed(() => stats({ config }))
    expect(stderr).toBe('')
    for (const line of Object.values(shown)) expect(stdout).toMatch(line)
    expect(stdout).not.toMatch(/(ana|idle): /)
    const { gateway } = JSON.parse((await printed(() => stats({ config, json: true }))).stdout)
    expect(gateway.spaces[0].participants).toEqual(
      Object.entries(states).map(([id, state]) => ({ id, kind: 'agent', status: 'away', ...state })),
    )
  })

  test('is in stats of another gateway for those who have a token, and told to be unknown without', async () => {
    const { url } = await running()
    const config = join(folderWith(), 'space.yaml')
    const without = await printed(() => stats({ config, url, json: true }))
    expect(JSON.parse(without.stdout).gateway.spaces).toMatchObject([{ space: 'test', participants: null }])
    expect(without.stderr).toMatch(/^test: who is paused, kicked or fails is not known: /)
    vi.stubEnv('MEUP_TOKEN', testToken('idle'))
    const { stdout, stderr } = await printed(() => stats({ config, url }))
    expect(stdout).toMatch(shown.crasher)
    expect(stderr).toBe('')
  })

  test('is told by caps ls', async () => {
    const { url } = await running()
    vi.stubEnv('MEUP_TOKEN', testToken('ana'))
    const flags = ['--url', url, '--space', 'test']
    const { stdout } = await printed(() => caps('ls', ...flags))
    for (const line of Object.values(shown)) expect(stdout).toMatch(line)
    expect(stdout).not.toMatch(/^(ana|idle): /m)
    const listed = (await printed(() => caps('ls', '--json', ...flags))).stdout.trim().split('\n')
    const parsed = listed.map((line) => JSON.parse(line))
    expect(parsed).toMatchObject(
      Object.entries(states).map(([id, state]) => ({ id, status: 'away', ...state })),
    )
    expect(parsed[0]).not.toHaveProperty('paused')
  })

  test('is in /participants of the terminal', async () => {
    const { http } = await running()
    const { participants } = await http.readParticipants()
    const runs = [{ context: 'r', owner: 'bot', reasoningVisible: true }]
    const present = participants.map((each) =>
      each.id === 'idle' ? { ...each, status: 'present' as const } : each,
    )
    const lines = participantLines({ participants: present, runs, now: Date.now() }, '')
    expect(lines.map((line) => line.trimEnd().replace(/ {2,}\*$/, ''))).toEqual([
      '●  idle     here',
      '○  ana      away',
      '‖  bot      paused by ana, 10 min left · away',
      '✗  crasher  restarting (4×)',
      '✗  eve      kicked by ana',
      '○  slow     starting',
      '‖  tired    paused by ana · resting after 10 failures: meup restart tired',
    ])
  })
})
