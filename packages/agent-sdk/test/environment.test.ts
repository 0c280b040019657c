import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { type ConnectOptions, connect } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { testToken } from '@meup/gateway/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Standing, standing } from './support/standing.js'

let [one, other]: Standing[] = []
let directory = ''
beforeAll(async () => {
  one = await standing({ participants: { ana: ['chat'], bot: ['chat'] } })
  other = await standing({ name: 'other', participants: { ana: ['chat'], other: ['chat'] } })
})
afterAll(() => Promise.all([one?.stop(), other?.stop()]))
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'meup-env-'))
  for (const name of ['MEUP_URL', 'MEUP_SPACE', 'MEUP_TOKEN', 'MEUP_PARTICIPANT']) vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true })
})

function write(path: string, text: string): void {
  const file = join(directory, '.meup', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const running = (spaces = ['test']): void => write('gateway.json', JSON.stringify({ url: one?.url, spaces }))

/** Connects, and returns the space and the participant id. */
async function enter(options: ConnectOptions = {}): Promise<string> {
  await using space = await connect({ directory, ...options })
  return `${space.welcome.space.id}/${space.id}`
}

const refused = (options: ConnectOptions = {}): Promise<unknown> =>
  connect({ directory, ...options }).then(
    () => expect.unreachable('it was let in'),
    (error: unknown) => error,
  )

describe('from the environment', () => {
  test('url, space and token', async () => {
    vi.stubEnv('MEUP_URL', one?.url)
    vi.stubEnv('MEUP_SPACE', 'test')
    vi.stubEnv('MEUP_TOKEN', testToken('bot'))
    expect(await enter()).toBe('test/bot')
  })

  test('what is given goes before what is there', async () => {
    vi.stubEnv('MEUP_URL', 'http://127.0.0.1:1')
    vi.stubEnv('MEUP_SPACE', 'nowhere')
    vi.stubEnv('MEUP_TOKEN', 'wrong')
    const given = { url: other?.url ?? '', space: 'other', token: testToken('ana') }
    expect(await enter(given)).toBe('other/ana')
  })
})

describe('a token that a file or a shell ended with a line break', () => {
  test('is read without it', async () => {
    vi.stubEnv('MEUP_TOKEN', `${testToken('bot')}\r\n`)
    const given = { url: one?.url ?? '', space: 'test' }
    expect(await enter(given)).toBe('test/bot')
  })

  test.for(['hush-hush\nhush', 'hush\u0000hush', 'hush-hush…'])(
    'is refused without a quote when no header can hold it: %j',
    async (token) => {
      const error = await refused({ url: one?.url ?? '', space: 'test', token })
      expect(error).toMatchObject({ code: 'not_configured' })
      expect(String(error)).not.toContain('hush')
      const http = new HttpClient({ url: one?.url ?? '', space: 'test', token })
      const answered = await http.getJson('participants').catch((reason: unknown) => reason)
      expect(answered).toMatchObject({ code: 'not_configured' })
      expect(inspect(answered)).not.toContain('hush')
    },
  )
})

describe('from the folder', () => {
  test('the running gateway, its first space and the only token', async () => {
    running(['test', 'another'])
    write('tokens/ana', `${testToken('ana')}\n`)
    expect(await enter()).toBe('test/ana')
  })

  test('the folder may lie further up', async () => {
    running()
    write('tokens/ana', testToken('ana'))
    const deep = join(directory, 'a', 'b')
    mkdirSync(deep, { recursive: true })
    expect(await enter({ directory: deep })).toBe('test/ana')
  })

  test('its tokens are for its own gateway: another is not told them', async () => {
    running()
    write('tokens/ana', testToken('ana'))
    expect(await refused({ url: other?.url ?? '', space: 'other' })).toMatchObject({ code: 'unauthorized' })
  })

  test('which of several, by `as` or MEUP_PARTICIPANT', async () => {
    running()
    write('tokens/ana', testToken('ana'))
    write('tokens/bot', testToken('bot'))
    expect(await enter({ as: 'bot' })).toBe('test/bot')
    vi.stubEnv('MEUP_PARTICIPANT', 'ana')
    expect(await enter()).toBe('test/ana')
    expect(await enter({ as: 'bot' })).toBe('test/bot')
  })

  test('a token of the environment goes before the folder, save where `as` asks for another', async () => {
    running()
    write('tokens/ana', testToken('ana'))
    vi.stubEnv('MEUP_TOKEN', testToken('bot'))
    expect(await enter()).toBe('test/bot')
    expect(await enter({ as: 'ana' })).toBe('test/ana')
  })

  test('tokens of several spaces lie in a folder each', async () => {
    write('gateway.json', JSON.stringify({ url: other?.url, spaces: ['test', 'other'] }))
    write('tokens/test/ana', 'wrong')
    write('tokens/other/ana', testToken('ana'))
    expect(await enter({ space: 'other' })).toBe('other/ana')
    vi.stubEnv('MEUP_SPACE', 'other')
    expect(await enter()).toBe('other/ana')
  })

  test('a participant may have the name of the space', async () => {
    write('gateway.json', JSON.stringify({ url: other?.url, spaces: ['other'] }))
    write('tokens/other', testToken('other'))
    write('tokens/ana', testToken('ana'))
    expect(await enter({ as: 'other' })).toBe('other/other')
  })
})

describe('what is missing is said', () => {
  test('the gateway', async () => {
    expect(await refused()).toMatchObject({
      name: 'ConnectionError',
      code: 'not_configured',
      details: { option: 'url' },
    })
  })

  test('the space', async () => {
    const error = await refused({ url: one?.url ?? '' })
    expect(error).toMatchObject({
      code: 'not_configured',
      details: { option: 'space' },
    })
    write('gateway.json', JSON.stringify({ url: one?.url, spaces: [] }))
    expect(await refused()).toMatchObject({ code: 'not_configured' })
    running()
    expect(await refused({ url: other?.url ?? '' })).toMatchObject({
      details: { option: 'space' },
      message: expect.stringContaining(
        `at ${other?.url} is not known, because the gateway of this folder is at ${one?.url}`,
      ),
    })
  })

  test('whom to be, where there are several tokens', async () => {
    running()
    write('tokens/ana', testToken('ana'))
    write('tokens/bot', testToken('bot'))
    const error = await refused()
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'not_configured' })
    expect(String(error)).toMatch(/ana, bot .*`as`, MEUP_PARTICIPANT.*--as/)
  })

  test('a token that is not there', async () => {
    running()
    write('tokens/ana', testToken('ana'))
    const error = await refused({ as: 'eve' })
    expect(error).toMatchObject({ code: 'not_configured' })
    expect(String(error)).toMatch(/eve.*space\.yaml, make it with meup token create eve/)
  })

  test('no token at all is for the gateway to refuse', async () => {
    running()
    expect(await refused()).toMatchObject({ name: 'ProtocolError', code: 'unauthorized' })
  })

  test.each(['localhost:8080', 'http://', 'ftp://127.0.0.1'])('an address that is none: %s', async (url) => {
    const error = await refused({ url, space: 'test', token: 'x' })
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'not_configured' })
    expect(String(error)).toContain(`${url} is not an address`)
  })
})
