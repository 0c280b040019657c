import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'
import { audience, issuer, type Key, keySetOf, newKey, publish, tokenOf } from '../support/issuer.js'

const within = { timeout: 40_000, interval: 25 }
const config = (jwks: string): string => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
auth: { jwt: { issuer: "${issuer}", audience: ${audience}, jwks: "${jwks}" } }
defaults: { capabilities: [chat, "reasoning.*"] }
participants:
  ana: { kind: human, capabilities: ["*"] }
`

let [first, second]: Key[] = []
beforeAll(async () => {
  ;[first, second] = await Promise.all([newKey('first'), newKey('second')])
})

async function start(jwks: string, files: Record<string, string> = {}) {
  const cwd = temporaryFolder({ 'space.yaml': config(jwks), ...files })
  const running = await startMeup('gateway', cwd)
  let stdout = ''
  running.process.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  const enter = async (key: Key | undefined) => {
    if (key === undefined) throw new Error('no key')
    const space = await connect({ url: running.url, space: 'demo', token: await tokenOf(key) })
    onTestFinished(() => space.close())
    const closed = new Promise<string>((resolve) =>
      space.on('closed', (error) => resolve(`${error?.message}`)),
    )
    return { space, closed }
  }
  const ana = await connect({ as: 'ana', directory: cwd })
  onTestFinished(() => ana.close())
  return {
    cwd,
    ana,
    enter,
    running,
    /** Makes the gateway reload its configuration. Returns its report. */
    async reload() {
      stdout = ''
      running.process.kill('SIGHUP')
      await vi.waitFor(() => expect(stdout).toContain('\n'), within)
      return JSON.parse(stdout) as { ok: boolean; changes: string[]; problems: string[] }
    },
  }
}

const textOf = (key: Key | undefined): string => JSON.stringify(keySetOf(...(key ? [key] : [])))

describe('an issuer', () => {
  test('whose keys are at an address lets people in whom the file does not name', async () => {
    const place = await publish(keySetOf(...(first ? [first] : [])))
    const { ana, enter } = await start(place.url)
    const dan = await enter(first)
    expect(dan.space.capabilities).toEqual(['chat', 'reasoning.*'])
    await dan.space.chat('hello')
    await ana.whenPresent(['dan'])
    await ana.chat('hello dan', { to: ['dan'] })
    await expect(enter(second)).rejects.toMatchObject({ code: 'unauthorized' })
    expect(place.asked).toBe(1)
  })

  test('whose keys are in a file may change them: what the old ones opened is closed', async () => {
    const { ana, cwd, enter, reload } = await start('jwks.json', {
      'jwks.json': textOf(first),
    })
    const dan = await enter(first)
    expect(await reload()).toMatchObject({ ok: true, changes: [] })
    await dan.space.chat('still here')

    writeFileSync(join(cwd, 'jwks.json'), 'no keys')
    expect(await reload()).toMatchObject({
      ok: false,
      problems: [expect.stringMatching(/^auth\.jwt\.jwks: .*jwks\.json has no keys that can be used/)],
    })
    await dan.space.chat('still here')

    writeFileSync(join(cwd, 'jwks.json'), textOf(second))
    expect(await reload()).toMatchObject({ ok: true, changes: ['auth.jwt or its keys changed'] })
    expect(await dan.closed).toContain('4401')
    await expect(enter(first)).rejects.toMatchObject({ code: 'unauthorized' })
    await enter(second)

    writeFileSync(join(cwd, 'space.yaml'), config('jwks.json').replace(/^auth: .*$/m, ''))
    expect(await reload()).toMatchObject({ ok: true, changes: ['auth.jwt or its keys changed'] })
    await expect(enter(second)).rejects.toMatchObject({ code: 'unauthorized' })
    await ana.chat('and I am still here')
  })

  test('whose keys are not there keeps the gateway from starting, and says why', async () => {
    const cwd = temporaryFolder({ 'space.yaml': config('missing.json') })
    const { code, stderr } = await meup(['gateway'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/auth\.jwt\.jwks: .*missing\.json has no keys that can be used: ENOENT/)
  })
})

test('doctor shows who is trusted', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config('jwks.json'), 'jwks.json': textOf(first) })
  const { stdout } = await meup(['doctor', '--json'], { cwd })
  const { settings } = JSON.parse(stdout) as { settings: { name: string; value: string }[] }
  expect(
    settings.filter(({ name }) => name.startsWith('auth')).map(({ name, value }) => `${name} ${value}`),
  ).toEqual([
    `auth.jwt.issuer ${issuer}`,
    `auth.jwt.audience ${audience}`,
    `auth.jwt.jwks ${join(cwd, 'jwks.json')}`,
  ])
})
