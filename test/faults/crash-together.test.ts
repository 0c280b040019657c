import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { times } from '../support/soak.js'

const programs = join(repositoryRoot, 'test/support/chaos/programs')
const half = times(4, 25)
const named = (prefix: string): string[] => Array.from({ length: half }, (_, at) => `${prefix}${at}`)
const [agents, servers] = [named('agent'), named('server')]

test(`${2 * half} programs that crash at once are back without help, and a pair that works goes on`, {
  timeout: 240_000,
}, async () => {
  const program = (file: string, name: string) => ({
    ...{ command: process.execPath, args: [join(programs, file), `${name}.pid`] },
  })
  const capabilities = ['chat', 'mcp.*', 'reasoning.*']
  const agent = (name: string) => ({
    ...{ kind: 'process', watch: false, restart: 'always', capabilities },
    ...program('agent.mjs', name),
  })
  const cwd = temporaryFolder({
    'space.yaml': stringify({
      version: 1,
      space: 'crowd',
      gateway: { listen: '127.0.0.1:0' },
      participants: {
        ana: { kind: 'human', capabilities: ['*'] },
        pong: agent('pong'),
        ...Object.fromEntries(agents.map((name) => [name, agent(name)])),
        ...Object.fromEntries(
          servers.map((name) => [name, { kind: 'mcp', ...program('tool-server.mjs', name) }]),
        ),
      },
    }),
  })
  const { url, process: up } = await startMeup('up', cwd)
  const token = readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()
  const ana = await SpaceClient.open(dialWs, { url, space: 'crowd', token })
  onTestFinished(() => ana.close())
  const all = [...agents, ...servers]
  await ana.whenPresent([...all, 'pong'], { timeoutMs: 120_000 })

  let joins = 0
  ana.on('envelope', ({ kind, payload }) => {
    if (kind === 'system.presence' && payload.event === 'join') joins++
  })
  // Programs write their pid to a file once they have joined.
  const pidOf = (name: string) => Number(readFileSync(join(cwd, `${name}.pid`), 'utf8'))
  await expect.poll(() => all.map(pidOf).every(Boolean)).toBe(true)
  const pids = all.map(pidOf)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  const answers: string[] = []
  const question = { to: ['pong'], timeoutMs: 30_000 }
  for (let index = 0; joins < all.length; index++) answers.push((await ana.ask(`${index}`, question)).text)
  expect(answers).toEqual(answers.map((_, index) => `pong ${index}`))
  await ana.whenPresent(all, { timeoutMs: 120_000 })
  for (const name of [agents[0], agents.at(-1)])
    expect((await ana.ask('well?', { to: [`${name}`], timeoutMs: 30_000 })).text).toBe('pong well?')
  for (const name of [servers[0], servers.at(-1)])
    expect((await ana.call(`${name}/echo`, { text: 'well' })).text).toBe('well')
  expect(up.exitCode).toBeNull()
})
