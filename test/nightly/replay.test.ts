import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { commandLine, meup, spawnMeup, temporaryFolder } from '../support/cli.js'
import { alone, recordedSpace } from '../support/recorded.js'
import { inTmux, openPane } from '../support/tmux.js'

/** Returns the rest of a text after `beginning`, with which it must begin. */
function behind(beginning: string, text: string): string {
  expect(text.slice(0, beginning.length)).toBe(beginning)
  return text.slice(beginning.length)
}

const onlyPresence = /^(· \w+ (is here|left)\n)*$/

describe('at a terminal', () => {
  test('a replay shows what watch shows, to whoever may see it', async () => {
    const { cwd, url } = await recordedSpace()
    const watch = (...args: string[]) => meup(['watch', '--from', '1', '--no-follow', ...args], { cwd })
    const [json, lines, bens] = [await watch('--json'), await watch(), await watch('--as', 'ben')]
    await alone(url, cwd)
    for (const as of ['ana', 'ben']) await meup(['audit', 'export', '--as', as, '-o', as], { cwd })
    const play = (...args: string[]) => meup(['replay', ...args, '--speed', 'max'], { cwd })

    const { seq } = JSON.parse(json.stdout.trimEnd().split('\n').at(-1) ?? '')
    expect(await play('ana', '--json', '--to', `${seq}`)).toEqual({
      code: 0,
      stdout: json.stdout,
      stderr: '',
    })
    const all = await play('ana')
    expect(all).toMatchObject({ code: 0, stdout: expect.stringContaining('[redacted:'), stderr: '' })
    expect(behind(lines.stdout, all.stdout)).toMatch(onlyPresence)
    expect(await play('ana', '--from', '3', '--to', '5')).toEqual({
      ...all,
      stdout: all.stdout
        .split(/(?<=\n)/)
        .slice(0, 3)
        .join(''),
    })

    const input = readFileSync(join(cwd, 'ana'), 'utf8')
    expect(await meup(['replay', '-', '--speed', '0'], { cwd, input })).toEqual(all)
    expect(await play()).toEqual(all)
    expect(
      await meup(['replay', '-', '--speed', 'max', '--to', `${seq}`], { cwd, input: json.stdout }),
    ).toEqual(await play('ana', '--to', `${seq}`))

    const ben = await play('ben')
    expect(behind(bens.stdout, ben.stdout)).toMatch(onlyPresence)
    expect([all.stdout, ben.stdout].map((said) => said.includes('between us'))).toEqual([true, false])
    const count = input.split('\n').length - 3
    const why = 'the exporter was not allowed to read them'
    expect(ben.stderr).toBe(`1 of ${count} envelopes could not be shown: ${why}\n`)
    expect(await play('ben', '--from', '999')).toEqual({
      code: 0,
      stdout: '',
      stderr: `nothing was played: this has the envelopes 1 to ${count}\n`,
    })
  }, 120_000)

  test('nothing is shown of what is damaged, and no space is made of it', async () => {
    const { cwd } = await recordedSpace()
    await meup(['audit', 'export', '-o', 'whole'], { cwd })
    const text = readFileSync(join(cwd, 'whole'), 'utf8')
    const lines = text.split('\n').length - 1
    const changed = text.replace('an apple', 'no apple')
    for (const [args, input, line] of [
      [['changed'], changed, lines],
      [['-'], changed, lines],
      [['changed', '--into', 'copy.db'], changed, lines],
    ] as const) {
      writeFileSync(join(cwd, 'changed'), input)
      const said = await meup(['replay', ...args], { cwd, input })
      expect(said).toMatchObject({ code: 8, stdout: '' })
      const name = args[0] === '-' ? 'stdin' : args[0]
      expect(said.stderr).toMatch(
        new RegExp(`^meup: line ${line} of ${name} is wrong: .+; nothing was played\n$`),
      )
    }
    expect(existsSync(join(cwd, 'copy.db'))).toBe(false)
  }, 120_000)

  test('it says how it was called wrongly', async () => {
    const cwd = temporaryFolder()
    const calls = [
      ['file', '--space', 'demo'],
      ['file', '--token-file', 'token'],
      ['file', '--into', 'copy.db', '--from', '2'],
      ['file', '--into', 'copy.db', '--speed', 'max'],
      ['file', '--name', 'other'],
      ['file', '--speed', 'fast'],
      ['file', '--speed', '-1'],
      ['file', '--to', '0'],
      ['no-such-file'],
      ['.'],
      [],
    ]
    const outcomes = await Promise.all(calls.map((args) => meup(['replay', ...args], { cwd })))
    expect(outcomes).toMatchObject(calls.map(() => ({ code: 2, stdout: '' })))
    const nobody = ['--url', 'http://127.0.0.1:9', '--space', 'demo']
    expect(await meup(['replay', ...nobody], { cwd })).toMatchObject({ code: 3, stdout: '' })
  }, 120_000)
})

/** Writes a recording of a run in which each envelope comes an hour after the previous one. */
function slowly(): string {
  const kinds = ['reasoning.start', ...Array.from({ length: 30 }, () => 'reasoning.thought')]
  const lines = kinds.map((kind, i) => {
    const ts = new Date(Date.UTC(2026, 0, 1, i)).toISOString()
    const [id, context] = [`e${i}`, i === 0 ? undefined : 'e0']
    const envelope = {
      protocol: 'meup/v0.3',
      ts,
      from: 'bot',
      id,
      kind,
      context,
      payload: { message: `no. ${i}` },
    }
    return `${JSON.stringify({ seq: i + 1, ...envelope })}\n`
  })
  return lines.join('')
}

describe('a replay that takes its time', () => {
  test('ends at once when it is interrupted', async () => {
    const { said, ended, process } = spawnMeup(['replay', 'slow'], temporaryFolder({ slow: slowly() }))
    await vi.waitFor(() => expect(said.stderr).toContain('… 1 h later'), { timeout: 15_000 })
    process.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(said.stdout).toMatch(/^bot ┄ no\. 0\n/)
    expect(said.stdout).not.toContain('no. 30')
  })

  test(
    'hides thoughts and shows them at Ctrl+T',
    inTmux(async () => {
      const cwd = temporaryFolder({ slow: slowly() })
      const ana = openPane(commandLine('replay slow'), { cwd, env: { NO_COLOR: '1' } })
      await ana.sees('bot  · no. 1')
      ana.press('C-t')
      await ana.sees(/thinking hidden\n… 1 h later/)
      await ana.sees(/1 h later\n… 1 h later/)
      ana.press('C-t')
      await ana.sees(/thinking visible\n… \d+ thoughts? from before:\nbot {2}· no\. /)
      ana.press('C-c')
      await ana.sees('ended 130')
    }),
    60_000,
  )
})
