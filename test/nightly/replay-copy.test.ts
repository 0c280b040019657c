import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { commandLine, environment, meup, startMeup } from '../support/cli.js'
import { ask, recordedSpace } from '../support/recorded.js'
import { snippetsOf } from '../support/snippets.js'

test('a gateway serves a replayed space as the first one is served', async () => {
  const { cwd, url } = await recordedSpace()
  expect(await meup(['audit', 'export', '-o', 'whole'], { cwd })).toMatchObject({ code: 0 })
  const made = await meup(['replay', 'whole', '--into', 'copy/.meup/space.db'], { cwd })
  const verified = await meup(['audit', 'verify', 'whole'], { cwd })
  const { head, ...rest } = JSON.parse((await meup(['audit', 'verify', 'whole', '--json'], { cwd })).stdout)
  expect(made).toEqual({
    code: 0,
    stdout: verified.stdout.replace(/^.*/, `${head} envelopes are in the space demo of copy/.meup/space.db`),
    stderr: '',
  })

  const copy = join(cwd, 'copy')
  copyFileSync(join(cwd, 'space.yaml'), join(copy, 'space.yaml'))
  const gateway = await startMeup('gateway', copy)
  const [there, here] = [
    (path: string, accept?: string) => ask(url, cwd, path, accept),
    (path: string, accept?: string) => ask(gateway.url, copy, path, accept),
  ]
  const history = await there('envelopes?limit=1000', 'application/x-ndjson')
  expect(history.split('\n')).toHaveLength(head + 1)
  expect(await here('envelopes?limit=1000', 'application/x-ndjson')).toBe(history)
  for (const path of [
    'contexts',
    'participants',
    'turns?thread_id=demo/bot',
    'audit',
    'audit/export',
    'audit/verify',
  ]) {
    expect([path, await here(path)]).toEqual([path, await there(path)])
  }
  expect(JSON.parse(await here('turns?thread_id=demo/bot')).turns).toMatchObject([{ response: 'Yes.' }])
  expect(JSON.parse(await here('contexts')).contexts).toMatchObject([
    { state: 'concluded' },
    { state: 'cancelled' },
  ])
  const watched = await meup(['watch', '--from', '1', '--no-follow'], { cwd: copy })
  const replayed = await meup(['replay', 'whole', '--speed', 'max'], { cwd })
  expect(watched.stdout.slice(0, replayed.stdout.length)).toBe(replayed.stdout)

  const again = ['replay', 'whole', '--into', 'copy/.meup/space.db']
  const locked = await meup(again, { cwd })
  expect(locked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/Another gateway/) })
  expect(await gateway.stop('SIGTERM')).toBe(0)
  const taken = await meup(again, { cwd })
  expect(taken).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/has envelopes already/) })
  const named = await meup([...again, '--name', 'other', '--json'], { cwd })
  const { epoch, hash } = rest
  expect(JSON.parse(named.stdout)).toEqual({ space: 'other', path: 'copy/.meup/space.db', epoch, head, hash })
}, 120_000)

test('a space needs all envelopes, proven or not', async () => {
  const { cwd, url } = await recordedSpace()
  await meup(['audit', 'export', '--as', 'ben', '-o', 'some'], { cwd })
  const refused = await meup(['replay', 'some', '--into', 'copy.db'], { cwd })
  const stderr = expect.stringMatching(
    /1 of these were withheld .* observe\.targeted .*; nothing was written\n$/,
  )
  expect(refused).toEqual({ code: 1, stdout: '', stderr })
  expect(existsSync(join(cwd, 'copy.db'))).toBe(false)

  const live = await meup(['replay', '--into', 'live.db', '--name', 'live'], { cwd })
  expect(live).toMatchObject({ code: 0, stdout: expect.stringContaining('in the space live of live.db') })

  const { stdout: input } = await meup(['watch', '--from', '1', '--no-follow', '--json'], { cwd })
  const gap = await meup(['replay', '-', '--into', 'copy.db'], {
    cwd,
    input: input.replace(/^.*"seq":5,.*\n/m, ''),
  })
  expect(gap).toMatchObject({ code: 1, stderr: expect.stringContaining('seq 5 is missing') })
  const made = await meup(['replay', '-', '--into', 'copy.db', '--json'], { cwd, input })
  expect(made).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('a log of its own, with a new epoch'),
  })
  expect(JSON.parse(made.stdout)).toMatchObject({ space: 'demo', head: input.split('\n').length - 1 })
  expect(JSON.parse(made.stdout).epoch).not.toBe(JSON.parse(await ask(url, cwd, 'audit/verify')).epoch)
}, 120_000)

/** Runs commands of a page in a shell. Returns their output; rejects if one of them fails. */
async function shell(lines: string, cwd: string): Promise<string> {
  const script = `set -euo pipefail\nmeup() { ${commandLine('"$@"')}; }\n${lines}`
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd, env: environment({}) })
  return stdout
}

test('the page "Replay" does what it says', async () => {
  const { cwd, url } = await recordedSpace()
  const [terminal = '', space = ''] = snippetsOf('docs/replay.md').map(({ text }) => text)
  // Every replay prints the message, except the one of seqs 2 to 4.
  expect((await shell(terminal, cwd)).match(/between us/g)).toHaveLength(6)

  const lines = space.trimEnd().split('\n')
  const start = lines.pop() ?? ''
  mkdirSync(join(cwd, 'copy'))
  expect(await shell(lines.join('\n'), cwd)).toMatch(/^\d+ envelopes are in the space demo of copy/)
  expect(start).toBe('meup -C copy gateway --listen 127.0.0.1:8081')
  const copy = await startMeup('gateway', join(cwd, 'copy'), ['--listen', '127.0.0.1:0'])
  const chats = 'envelopes?limit=1000&kind=chat'
  const original = JSON.parse(await ask(url, cwd, chats)).envelopes
  expect(JSON.parse(await ask(copy.url, join(cwd, 'copy'), chats)).envelopes).toEqual(original)
}, 120_000)
