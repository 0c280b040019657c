import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import type { AnyEnvelope, WelcomePayload } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { meup, type RunningSpace, spawnMeup, startMeup, temporaryFolder } from '../support/cli.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
  ben: { kind: agent, capabilities: [chat] }
`
const within = { timeout: 40_000, interval: 20 }

interface Reloaded {
  readonly event: string
  readonly ok: boolean
  readonly changes: string[]
  readonly later: string[]
  readonly problems: string[]
}

/** Collects the reports of the running gateway about its reloads. */
function reportsOf({ process }: RunningSpace) {
  let text = ''
  process.stdout?.on('data', (chunk: Buffer) => {
    text += chunk
  })
  const reports = (): Reloaded[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Reloaded)
      .filter(({ event }) => event === 'reloaded')
  return {
    reports,
    /** Sends SIGHUP, and returns the gateway's next report of a reload. */
    async reload(): Promise<Reloaded> {
      const before = reports().length
      process.kill('SIGHUP')
      return vi.waitFor(() => reports()[before] ?? Promise.reject(new Error('no answer')), within)
    },
  }
}

async function start(command: 'up' | 'gateway' = 'gateway', args: string[] = [], text = config) {
  const cwd = temporaryFolder({ 'space.yaml': text })
  const running = await startMeup(command, cwd, args)
  const path = (...parts: string[]) => join(cwd, ...parts)
  return {
    cwd,
    path,
    running,
    ...reportsOf(running),
    tokenOf: (id: string) => readFileSync(path('.meup/tokens', id), 'utf8').trim(),
    write: (changed: string) => writeFileSync(path('space.yaml'), changed),
    enter: (as: string) => enter({ as, directory: cwd }),
  }
}

/** Connects a participant, and records its envelopes, welcomes and the end of its connection. */
async function enter(options: Parameters<typeof connect>[0]) {
  const space = await connect(options)
  onTestFinished(() => space.close())
  const closed = new Promise<string>((resolve) => {
    space.on('closed', (error) => resolve(error?.message ?? 'without an error'))
  })
  const [heard, welcomes, lost]: [AnyEnvelope[], WelcomePayload[], string[]] = [[], [], []]
  space.on('envelope', (envelope) => heard.push(envelope))
  space.on('welcome', (welcome) => welcomes.push(welcome))
  space.on('reconnecting', (_, reason) => lost.push(reason))
  return { space, closed, heard, welcomes, lost }
}

/** Checks that one participant receives a message of the other. */
async function hears(listener: Awaited<ReturnType<typeof enter>>, speaker: SpaceClient): Promise<void> {
  const { id } = await speaker.chat('do you hear me?')
  await vi.waitFor(() => expect(listener.heard.map((envelope) => envelope.id)).toContain(id), within)
}

/** Rejects unless the promise resolves within a second. */
const soon = <Value>(promise: Promise<Value>): Promise<Value> =>
  Promise.race([
    promise,
    new Promise<never>((_, reject) => {
      const timer = setTimeout(() => reject(new Error('a second has passed')), 1000)
      onTestFinished(() => clearTimeout(timer))
    }),
  ])

describe('tokens of a running gateway', () => {
  test('rotate closes what the old token opened, and the new one opens', async () => {
    const { cwd, enter, running, tokenOf } = await start()
    const [ana, ben] = [await enter('ana'), await enter('ben')]
    const joined = spawnMeup(['join', '--as', 'ben'], cwd)
    await vi.waitFor(() => expect(joined.said.stderr).toContain('you are ben'), within)
    const old = tokenOf('ben')

    const rotated = await meup(['token', 'rotate', 'ben', '--json'], { cwd })
    expect(rotated.code).toBe(0)
    expect(rotated.stdout).not.toContain(tokenOf('ben'))
    expect(JSON.parse(rotated.stdout)).toMatchObject({
      gateway: 'applied',
      tokens: [{ space: 'demo', participant: 'ben', state: 'valid', file: join(cwd, '.meup/tokens/ben') }],
    })
    expect(await soon(ben.closed)).toContain('4401')
    expect(await joined.ended).not.toBe(0)
    expect(joined.said.stderr).toContain('4401')

    expect(tokenOf('ben')).not.toBe(old)
    const stale = { url: running.url, space: 'demo', token: old }
    await expect(connect(stale)).rejects.toMatchObject({ code: 'unauthorized' })
    const again = await enter('ben')
    await hears(again, ana.space)
    expect(ana.lost).toEqual([])
  })

  test('revoke closes, and no start makes another; create does', async () => {
    const { cwd, enter, running, tokenOf } = await start()
    const [ana, ben] = [await enter('ana'), await enter('ben')]
    const revoked = await meup(['token', 'revoke', 'ben'], { cwd })
    expect(revoked).toMatchObject({ code: 0, stdout: 'ben: revoked · .meup/tokens/ben\n' })
    expect(await soon(ben.closed)).toContain('4401')
    await expect(enter('ben')).rejects.toMatchObject({ code: 'unauthorized' })
    await hears(ana, ana.space)

    expect(await running.stop('SIGTERM')).toBe(0)
    await startMeup('gateway', cwd)
    await expect(enter('ben')).rejects.toMatchObject({ code: 'unauthorized' })
    expect(tokenOf('ben')).toBe('revoked')
    const list = await meup(['token', 'ls', '--json'], { cwd })
    expect(JSON.parse(list.stdout).tokens).toMatchObject([
      { participant: 'ana', kind: 'human', state: 'valid' },
      { participant: 'ben', kind: 'agent', state: 'revoked' },
    ])

    const shown = await meup(['token', 'create', 'ben', '--show'], { cwd })
    expect(shown).toMatchObject({ code: 0, stdout: `${tokenOf('ben')}\n` })
    await enter('ben')
  })
})

describe('reload', () => {
  const changed = config.replace('[chat]', '[chat, "reasoning.*"]').concat('  dan: { kind: agent }\n')

  test('adds a participant and a capability, and no connection is lost', async () => {
    const { enter, reload, write } = await start()
    const [ana, ben] = [await enter('ana'), await enter('ben')]
    await expect(ben.space.send({ kind: 'reasoning.start' })).rejects.toMatchObject({
      code: 'capability_violation',
    })
    const { capabilities } = ben.space
    expect(capabilities).toEqual(['chat'])

    write(changed)
    expect(await reload()).toEqual({
      event: 'reloaded',
      ok: true,
      changes: ['ben has other capabilities', 'dan was added'],
      later: [],
      problems: [],
      warnings: [],
    })
    await vi.waitFor(() => expect(ben.space.capabilities).toEqual(['chat', 'reasoning.*']), within)
    expect(ben.welcomes.at(-1)?.you).toMatchObject({ id: 'ben', capabilities: ['chat', 'reasoning.*'] })
    await ben.space.send({ kind: 'reasoning.start' })
    await enter('dan')
    await vi.waitFor(() => {
      const present = ana.space.participants.filter(({ status }) => status === 'present')
      expect(present.map(({ id }) => id)).toEqual(['ana', 'ben', 'dan'])
    }, within)
    await hears(ben, ana.space)
    expect([ana.lost, ben.lost, ana.welcomes]).toEqual([[], [], []])
  })

  test('closes who was removed, and nobody else', async () => {
    const { enter, reload, write } = await start('gateway', [], changed)
    const [ana, ben, dan] = [await enter('ana'), await enter('ben'), await enter('dan')]
    write(changed.replace('  dan: { kind: agent }\n', ''))
    expect((await reload()).changes).toEqual(['dan was removed'])
    expect(await soon(dan.closed)).toContain('4401')
    await hears(ben, ana.space)
    await expect(ana.space.chat('dan?', { to: ['dan'] })).rejects.toMatchObject({
      code: 'participant_not_found',
    })
  })

  test('of a file with mistakes changes nothing, and says so; tokens count all the same', async () => {
    const { enter, path, reload, write } = await start()
    const [ana, ben] = [await enter('ana'), await enter('ben')]
    write(config.replace('["*"]', '[chat]').concat('surprise: 1\n'))
    const report = await reload()
    expect(report).toMatchObject({ ok: false, changes: [] })
    expect(report.problems[0]).toMatch(/space\.yaml:\d+:\d+ /)
    await hears(ben, ana.space)
    expect(ana.space.capabilities).toEqual(['*'])

    writeFileSync(path('.meup/tokens/ben'), 'revoked\n')
    expect(await reload()).toMatchObject({ ok: false, changes: ["ben's token was revoked"] })
    expect(await soon(ben.closed)).toContain('4401')
    writeFileSync(path('.meup/tokens/ana'), 'short\n')
    expect((await reload()).problems.at(-1)).toContain('.meup/tokens/ana is shorter than 16 characters')
    await hears(ana, ana.space)
  })

  test('says what takes a new start', async () => {
    const { reload, write } = await start()
    write(config.replace('127.0.0.1:0', '127.0.0.1:9'))
    expect(await reload()).toMatchObject({ ok: true, changes: [], later: ['gateway'] })
  })

  test('with --watch needs no signal, for the file and for tokens', async () => {
    const { enter, path, reports, write } = await start('gateway', ['--watch'])
    const ben = await enter('ben')
    write(changed)
    await vi.waitFor(() => expect(ben.space.capabilities).toEqual(['chat', 'reasoning.*']), within)
    writeFileSync(path('.meup/tokens/ben'), 'a-token-of-my-own-0123\n')
    expect(await ben.closed).toContain('4401')
    await enter('ben')
    await expect
      .poll(() => reports().flatMap(({ changes }) => changes))
      .toEqual(['ben has other capabilities', 'dan was added', "ben's token was replaced"])
  })
})
