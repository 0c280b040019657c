import { expect, test } from 'vitest'
import { openAsked, questions } from '../../../../test/support/asked.js'
import { meup, readError } from '../../../../test/support/cli.js'

test('search finds words, newest first, with who said them and where they are', async () => {
  const { cwd, ben } = await openAsked()
  for (const question of questions) await ben.ask(question)
  const run = (...args: string[]) => meup(['search', ...args], { cwd })

  const { stdout } = await run('AUTH', 'memory')
  expect(stdout).toMatch(/^\S+ {2}#\d+ {2}bot {2}mcp\.request memory_search {2}.*auth design.*\n$/)
  const calls = await run('--tool', 'memory_search')
  expect(calls.stdout.split('\n').map((line) => line.split('  ')[2] ?? '')).toEqual([
    'tools',
    'bot',
    'tools',
    'bot',
    '',
  ])

  const found = await run('file', '--outcome', 'error', '--json')
  expect(JSON.parse(found.stdout)).toMatchObject({ from: 'tools', tool: 'file_read' })
  expect(await run('no', 'such', 'words')).toEqual({ code: 0, stdout: '', stderr: 'nothing was found\n' })
  const wrong = readError(await run('x', '--since', 'someday', '--json'))
  expect(wrong).toMatchObject({ code: 'invalid_value', exitCode: 2, details: { option: '--since' } })

  const yesterday = await run('no', 'such', 'words', '--since', 'yesterday')
  expect(yesterday.stderr).toMatch(/^--since \d{4}-\d\d-\d\dT00:00:00[+-]\d\d:\d\d\nnothing was found\n$/)
  const lists = await run('--kind', 'mcp.request,mcp.response', 'no', 'such', 'words')
  expect(lists).toEqual({ code: 0, stdout: '', stderr: 'nothing was found\n' })
  expect((await run('--tool', 'tools/memory_search')).stdout).toBe(calls.stdout)
  expect(await run('--tool', 'bot/memory_search')).toMatchObject({ code: 0, stdout: '' })
  for (const [option, name, near] of [
    ['--from', 'bto', 'bot'],
    ['--kind', 'mcp.requset', 'mcp.request'],
    ['--tool', 'tools/memory_serch', 'memory_search'],
  ] as const) {
    const unknown = await run(option, name)
    expect([unknown.code, unknown.stderr]).toEqual([
      expect.toBeOneOf([1, 2]),
      expect.stringContaining(`Did you mean ${near}?`),
    ])
  }
})

test('an envelope is named by its id, the beginning of it, or its seq', async () => {
  const { cwd, ben } = await openAsked()
  for (const question of questions) await ben.ask(question)
  const { stdout } = await meup(['search', '--tool', 'memory_search', '--limit', '1', '--json'], { cwd })
  const { id, seq } = JSON.parse(stdout) as { id: string; seq: number }
  for (const ref of [id, id.slice(0, -1), `#${seq}`]) {
    const sent = await meup(['send', 'so', '--reply', ref, '--json'], { cwd })
    expect(JSON.parse(sent.stdout)).toMatchObject({ correlationId: id })
  }
})

test('watch begins at a time, and prints times and seqs; names that nobody has are errors', async () => {
  const { cwd, ben } = await openAsked()
  await ben.ask(questions[0] ?? '')
  const watch = (...args: string[]) => meup(['watch', '--no-follow', ...args], { cwd })
  const all = await watch('--from', '1', '--seq', '--time')
  expect(all.stdout).toMatch(/^20\S+T\S+[+-]\d\d:\d\d {2}#\d+ {2}\S/)
  expect((await watch('--since', '1h', '--seq', '--time')).stdout).toBe(all.stdout)
  expect((await watch('--since', '0.001')).stdout).toBe('')
  for (const args of [
    ['--agent', 'bto'],
    ['--kind', 'nosuch'],
    ['--from', '1', '--since', '1h'],
  ])
    expect([args, (await watch(...args)).code]).toEqual([args, expect.toBeOneOf([1, 2])])
})
