import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ProcessProgram } from '../src/config/config.js'
import type { OperatorLog } from '../src/lib/logger.js'
import { type ProgramAssignment, Supervisor } from '../src/run/supervisor.js'
import { folderWith } from './support/folder.js'

/** Runs scripts of a folder as `meup up` does, and collects their output and the log messages about them. */
function running(files: Readonly<Record<string, string>>, isReplaced = false) {
  const directory = folderWith(files)
  const printed: string[] = []
  const said: string[] = []
  /** Session ids of programs that have ended. */
  const ended: string[] = []
  const say = (_fields: object, message: string): void => void said.push(message)
  const log: OperatorLog = {
    info: () => {},
    notice: say,
    warn: say,
    error: say,
    program: (_, fields, message) => say(fields, message),
    output: ({ participant, stream, text }) => void printed.push(`${participant} ${stream} ${text}`),
  }
  const spaces = {
    isPresent: () => false,
    findKick: () => undefined,
    setProgram: () => {},
    endProgram: (_space: string, _participant: string, session: string) => void ended.push(session),
    isReplaced: () => isReplaced,
  }
  return {
    printed,
    said,
    ended,
    getLines: (participant: string) => printed.filter((line) => line.startsWith(`${participant} `)),
    save: (name: string, text: string) => writeFileSync(join(directory, name), text, { mode: 0o700 }),
    start(participant: string, more: Partial<ProcessProgram> = {}): void {
      const program: ProcessProgram = {
        kind: 'process',
        command: process.execPath,
        args: [`${participant}.mjs`],
        cwd: directory,
        env: {},
        restart: 'on-failure',
        watch: true,
        ...more,
      }
      const connection = {
        url: 'http://127.0.0.1:9',
        space: 'demo',
        participant,
        token: 'a-token-of-this-test',
      }
      const assignment: ProgramAssignment = {
        program,
        label: participant,
        connection: { ...connection, directory, log },
      }
      const supervisor = new Supervisor({ spaces, log, random: () => 0 })
      onTestFinished(() => supervisor.close())
      supervisor.start([assignment])
    },
  }
}

/** A script that prints a text and keeps running. */
const script = (text: string): string =>
  `console.log(${JSON.stringify(text)}, process.pid); setInterval(() => {}, 1000)`

test('a program is started again when a file that it imports is saved; nothing else is', async () => {
  const { start, getLines, save, said } = running({
    'a.mjs': `import { word } from './word.mjs'; ${script('a')}; console.log(word)`,
    'word.mjs': `export const word = 'one'`,
    'b.mjs': script('b'),
  })
  start('a')
  start('b')
  await expect.poll(() => getLines('a')).toContain('a stdout one')
  await expect.poll(() => getLines('b')).toHaveLength(1)
  save('word.mjs', `export const word = 'two'`)
  await expect.poll(() => getLines('a')).toContain('a stdout two')
  expect(getLines('b')).toHaveLength(1)
  expect(said).toEqual(['word.mjs changed; restarting a'])
})

test('a program that cannot be loaded says so once, and is started by the next save alone', async () => {
  const { start, getLines, save, said, printed } = running({ 'a.mjs': script('good') })
  start('a')
  await expect.poll(() => getLines('a')).toHaveLength(1)
  const errors = () => printed.filter((line) => line.startsWith('a stderr SyntaxError')).length
  const waiting = () =>
    said.filter(
      (line) => line.startsWith('a ended: exit 1') && line.includes('restarting when its files change'),
    ).length
  for (const times of [1, 2, 3]) {
    save('a.mjs', 'const =') // Saving it unchanged a second and third time restarts it, too.
    await expect.poll(waiting).toBe(times)
    expect(errors()).toBe(times)
  }
  save('a.mjs', script('mended'))
  await expect.poll(() => getLines('a').at(-1)).toMatch(/^a stdout mended \d+$/)
  expect([errors(), waiting()]).toEqual([3, 3])
})

test('the same error is reported with how often it came, and when it is tried again', async () => {
  const { start, said } = running({ 'a.mjs': 'process.exit(3)' })
  start('a')
  await expect
    .poll(() => said[2])
    .toMatch(/^a ended: exit 3 \(3rd time in [\d.]+ s, same error\) · next try in 2 s$/)
})

test('a program whose command is not there is reported once with the cause, and found when it is', async () => {
  const { start, said, save, getLines } = running({})
  start('a', { command: './tool', args: [] })
  await expect.poll(() => said.length).toBe(2)
  expect(said[0]).toMatch(/^a: cannot start "\.\/tool": .* · next try in 0\.5 s$/)
  expect(said[1]).toMatch(/^a did not start \(2nd time in .*, same error\) · next try in 1 s$/)
  save('tool', '#!/bin/sh\necho here; exec sleep 60\n')
  await expect.poll(() => getLines('a')).toEqual(['a stdout here'])
})

test('a program that fails without having been changed follows its restart policy', async () => {
  const { start, getLines, said } = running({ 'a.mjs': `console.log('here'); process.exit(3)` })
  start('a')
  await expect.poll(() => getLines('a').length).toBeGreaterThanOrEqual(2)
  expect(said[0]).toBe('a ended: exit 3 · next try in 0.5 s')
})

test('a program that ends for its configuration is started by the next save alone', async () => {
  const { start, getLines, save, said } = running({ 'a.mjs': `console.error('no key'); process.exit(78)` })
  start('a')
  await expect
    .poll(() => said)
    .toEqual([
      'a ended: exit 78, a setting of it is wrong · restarting when its files change, or with meup restart a',
    ])
  save('a.mjs', script('mended'))
  await expect
    .poll(() => getLines('a'))
    .toEqual(['a stderr no key', expect.stringMatching(/^a stdout mended/)])
  const unwatched = running({ 'b.mjs': 'process.exit(78)' })
  unwatched.start('b', { watch: false, restart: 'always' })
  await expect
    .poll(() => unwatched.said)
    .toEqual(['b ended: exit 78, a setting of it is wrong · restarting with meup restart b'])
})

test.for([
  ['an import', `import 'node:fs'`, '{"type":"commonjs"}'],
  ['an await', `await null`, '{"type":"commonjs"}'],
  ['a module that awaits', `require('./later.mjs')`, '{}'],
] as const)(
  '%s in a program that is run as CommonJS is answered in one sentence',
  async ([, text, manifest]) => {
    const files = { 'a.js': text, 'later.mjs': 'await null', 'package.json': manifest }
    const { start, said, save, getLines } = running(files)
    start('a', { args: ['a.js'] })
    await expect
      .poll(() => said)
      .toEqual([
        'a ended: exit 1, it is run as CommonJS. Put "type": "module" into its package.json. · restarting when its files change, or with meup restart a',
      ])
    save('a.js', `${text.replace('require', 'import')}; console.log('mended')`)
    save('package.json', '{"type":"module"}')
    await expect.poll(() => getLines('a').at(-1)).toBe('a stdout mended')
  },
)

test('a program that has ended as it should is started again by a save', async () => {
  const { start, getLines, save } = running({ 'a.mjs': `console.log('one')` })
  start('a', { restart: 'never' })
  await expect.poll(() => getLines('a')).toEqual(['a stdout one'])
  save('a.mjs', `console.log('two')`)
  await expect.poll(() => getLines('a')).toEqual(['a stdout one', 'a stdout two'])
})

test('a program that does not end is killed after five seconds', async () => {
  const stubborn = `process.on('SIGTERM', () => console.log('asked')); ${script('old')}`
  const { start, getLines, save } = running({ 'a.mjs': stubborn })
  start('a')
  await expect.poll(() => getLines('a')).toHaveLength(1)
  const began = Date.now()
  save('a.mjs', script('new'))
  await expect.poll(() => getLines('a').at(-1)).toMatch(/^a stdout new/)
  expect(getLines('a')[1]).toBe('a stdout asked')
  expect(Date.now() - began).toBeGreaterThanOrEqual(5000)
})

test('with watch: false, or when it writes beside itself, a program is left alone', async () => {
  const writing = `import { writeFileSync } from 'node:fs'
    setInterval(() => writeFileSync('report.json', String(Date.now())), 20); ${script('writing')}`
  const { start, getLines, save } = running({
    'left.mjs': script('left'),
    'writing.mjs': writing,
    'other.mjs': script('other'),
  })
  start('left', { watch: false })
  start('writing')
  start('other')
  for (const name of ['left', 'writing', 'other']) await expect.poll(() => getLines(name)).toHaveLength(1)
  save('left.mjs', script('changed'))
  save('other.mjs', script('changed'))
  await expect.poll(() => getLines('other')).toHaveLength(2)
  expect([getLines('left'), getLines('writing')]).toEqual([
    [expect.stringMatching(/^left stdout left/)],
    [expect.stringMatching(/^writing stdout writing/)],
  ])
})

test('a token that a program prints is not shown', async () => {
  const { start, getLines } = running({ 'a.mjs': `console.error('token', process.env.MEUP_TOKEN)` })
  start('a')
  await expect.poll(() => getLines('a')).toEqual(['a stderr token [token]'])
})

test('a program is given a session of its own at each start, and its end is reported as soon as it has exited', async () => {
  const { start, getLines, ended } = running({
    'a.mjs': 'console.log(process.env.MEUP_SESSION); process.exit(3)',
  })
  start('a')
  await expect.poll(() => ended.length).toBeGreaterThan(1)
  const sessions = getLines('a').map((line) => line.split(' ').at(-1))
  expect(sessions.slice(0, 2)).toEqual(ended.slice(0, 2))
  expect(new Set(ended).size).toBe(ended.length)
})

test('a program that another one has replaced is not started again: that would replace it in its turn', async () => {
  const { start, said, ended } = running({ 'a.mjs': 'process.exit(1)' }, true)
  start('a')
  await expect.poll(() => said).toHaveLength(1)
  expect(said[0]).toMatch(
    /^a ended: another program has joined as a · restarting when its files change, or with meup restart a$/,
  )
  expect(ended).toHaveLength(1)
})
