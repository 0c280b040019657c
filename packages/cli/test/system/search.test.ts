import { expect, test } from 'vitest'
import { openAsked, questions } from '../../../../test/support/asked.js'
import { meup } from '../../../../test/support/cli.js'

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
  const wrong = await run('x', '--since', 'yesterday')
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--since takes a time')])
})
