import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connect } from '../../packages/gateway/test/projected.js'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'

const config = (storage = '') => `
version: 1
space: demo
${storage}
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
`

/** A folder whose gateway has run, and in which ana thought twice. */
async function ranOnce() {
  const cwd = temporaryFolder({ 'space.yaml': config() })
  const running = await startMeup('gateway', cwd)
  for (const message of ['first', 'second']) {
    const think = ['send', '--kind', 'reasoning.thought', '--context', 'aside', message]
    expect(await meup(think, { cwd })).toMatchObject({ code: 0 })
  }
  const trail = async () => (await meup(['audit', 'trail', '--json'], { cwd })).stdout
  expect(await trail()).toContain('second')
  return { cwd, running, trail }
}

describe('meup audit rebuild', () => {
  test('makes turns and steps again as they were, from the log alone', async () => {
    const { cwd, running, trail } = await ranOnce()
    const before = await trail()
    const refused = await meup(['audit', 'rebuild'], { cwd })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/a gateway has .*space\.db open: stop it, then rebuild/)

    await running.stop('SIGTERM')
    const db = connect(join(cwd, '.meup/space.db'))
    db.exec(`UPDATE turns SET record = '{}'; UPDATE fold_snapshot_parts SET bytes = x''`)
    const envelopes = db.prepare<[], number>('SELECT count(*) FROM envelopes').pluck().get()
    expect(await meup(['audit', 'rebuild'], { cwd })).toEqual({
      code: 0,
      stdout: `demo: ${envelopes} envelopes, 2 turns, 2 steps\n`,
      stderr: '',
    })
    const { stdout } = await meup(['audit', 'rebuild', '--json'], { cwd })
    expect(JSON.parse(stdout)).toEqual({ spaces: [{ space: 'demo', envelopes, turns: 2, steps: 2 }] })
    await startMeup('gateway', cwd)
    expect(await trail()).toBe(before)
  })

  test('has nothing to do where there is no file', async () => {
    const cwd = temporaryFolder({ 'space.yaml': config() })
    expect(await meup(['audit', 'rebuild'], { cwd })).toMatchObject({
      code: 1,
      stderr: /^meup: There is no log /,
    })
    const inMemory = temporaryFolder({ 'space.yaml': config('storage: { kind: memory }') })
    const refused = await meup(['audit', 'rebuild'], { cwd: inMemory })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('the storage of this space is memory')
  })
})
