import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { dialWs, SpaceClient } from '@meup/agent-sdk/internal'
import { expect, onTestFinished, test } from 'vitest'
import { verifiedIds } from '../support/chain.js'
import { meup, runMeup, startMeup, temporaryFolder } from '../support/cli.js'

/** Envelopes in a burst, and milliseconds between bursts: 1,000 envelopes per second. */
const [burst, gap] = [10, 10]

const plenty = '{ perSecond: 100000, burst: 100000 }'
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
limits:
  rates: { chat: ${plenty}, control: ${plenty}, bytes: { perSecond: 1.0e+9, burst: 1.0e+9 } }
participants:
  ana: { kind: human, capabilities: ["*"] }
`

test('a backup under load has what was acknowledged before it, and is a whole log elsewhere after kill -9', async () => {
  const [cwd, elsewhere] = [temporaryFolder({ 'space.yaml': config }), temporaryFolder()]
  const gateway = await startMeup('gateway', cwd)
  const token = readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()
  const ana = await SpaceClient.open(dialWs, { url: gateway.url, space: 'demo', token })
  onTestFinished(() => ana.close())

  const acknowledged: string[] = []
  let [sent, isLoaded] = [0, true]
  const start = performance.now()
  const load = (async () => {
    while (isLoaded) {
      for (let i = 0; i < burst; i++) {
        const said = ana.send({ kind: 'chat', payload: { message: `${sent++}` } })
        said.then(
          ({ id }) => void acknowledged.push(id),
          () => {}, // The kill interrupts these.
        )
      }
      await pause(Math.max(0, start + (sent / burst) * gap - performance.now()))
    }
  })()
  const reach = (count: number) =>
    expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(count)
  await reach(2000)
  const [before, from] = [[...acknowledged], performance.now()]
  expect(await runMeup(['backup', '--to', join(elsewhere, 'copy.db')], { cwd })).toMatchObject({ code: 0 })
  const perSecond = (acknowledged.length - before.length) / ((performance.now() - from) / 1000)
  expect(perSecond, 'envelopes a second while it is made').toBeGreaterThan(500)
  await reach(acknowledged.length + 500)
  await gateway.stop('SIGKILL')
  isLoaded = false
  await load

  cpSync(join(cwd, 'space.yaml'), join(elsewhere, 'space.yaml'))
  cpSync(join(cwd, '.meup/tokens'), join(elsewhere, '.meup/tokens'), { recursive: true })
  const restored = await meup(['restore', 'copy.db', '--json'], { cwd: elsewhere })
  expect(restored).toMatchObject({ code: 0 })
  const { head } = JSON.parse(restored.stdout).logs[0]
  const ids = await verifiedIds(join(elsewhere, '.meup/space.db'), 'demo')
  expect(ids).toHaveLength(head)
  expect(new Set(ids).size).toBe(head)
  expect(before.filter((id) => !ids.includes(id))).toEqual([])

  await startMeup('gateway', elsewhere)
  expect(await meup(['audit', 'verify'], { cwd: elsewhere })).toMatchObject({ code: 0 })
  expect(await meup(['send', 'on it goes'], { cwd: elsewhere })).toMatchObject({ code: 0 })
  const occupied = { code: 1, stderr: expect.stringContaining('exists already') }
  expect(await meup(['restore', 'copy.db'], { cwd: elsewhere })).toMatchObject(occupied)
  expect(readdirSync(elsewhere).sort()).toEqual(['.meup', 'copy.db', 'space.yaml'])
})
