import { spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { commandExamples, listLeaves } from '../src/command-help.js'
import { formatManPage } from '../src/commands/man.js'
import { createProgram } from '../src/program.js'

/** Splits lines into words like a shell; one list of words per `meup` command. */
function parse(lines: readonly string[]): string[][][] {
  const script = `
    meup() { printf '%s\\0' "$@" $'\\1'; }
    git() { :; }
    cd "$(mktemp -d)"
    for line; do (eval "$line"); printf '\\2\\0'; done
    rm -r "$PWD"`
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...lines], { encoding: 'utf8' })
  const cut = (text: string, mark: string): string[] => text.split(`${mark}\0`).slice(0, -1)
  return cut(stdout, '\u0002').map((line) =>
    cut(line, '\u0001').map((words) => words.split('\0').slice(0, -1)),
  )
}

test('meup man with a command is its help', async () => {
  let said = ''
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said += text
    return true
  })
  onTestFinished(() => stdout.mockRestore())
  const run = (...args: string[]) => createProgram().parseAsync(args, { from: 'user' })
  await run('man', 'caps', 'grant')
  expect(said).toContain('Usage: meup caps grant')
  await expect(run('man', 'asks')).rejects.toThrow('there is no command asks')
})

describe('the help', () => {
  const leaves = listLeaves(createProgram())

  test('has two examples for every command, and for no other', () => {
    expect(Object.keys(commandExamples).sort()).toEqual(leaves.map(({ path }) => path).sort())
    for (const [path, examples] of Object.entries(commandExamples)) expect(examples.length, path).toBe(2)
  })

  test('has examples that are taken as they are written', async () => {
    const program = createProgram()
    let called: string[] = []
    for (const { path, command } of listLeaves(program)) command.action(() => void called.push(path))
    const examples = Object.entries(commandExamples).flatMap(([path, examples]) =>
      examples.map(([line]) => ({ path, line })),
    )
    const parsed = parse(
      examples.map(({ line }) => line.replace(/ > \S+$/, '').replace(/^source <\((.*)\)$/, '$1')),
    )
    for (const [index, { path, line }] of examples.entries()) {
      called = []
      for (const words of parsed[index] ?? [])
        await program.parseAsync(
          words.filter((word) => word !== '-C' && word !== '../other'),
          { from: 'user' },
        )
      expect(called, line).toEqual([path])
    }
  })

  test('lists every command in a group', () => {
    const text = createProgram().helpInformation()
    for (const { path } of leaves) expect(text).toMatch(new RegExp(`^  ${path.split(' ')[0]}\\b`, 'm'))
    expect(text.match(/^\S.*:$/gm)).toEqual([
      'Options:',
      'Start:',
      'Talk:',
      'Decide:',
      'Look:',
      'Prove:',
      'Operate:',
    ])
  })

  test('explains a command below another one', async () => {
    const written: string[] = []
    const program = createProgram()
    for (const { command } of listLeaves(program))
      command.configureOutput({ writeOut: (text) => void written.push(text) })
    await program.parseAsync(['help', 'caps', 'grant'], { from: 'user' })
    expect(written.join('')).toMatch(/^Usage: meup caps grant /)
  })

  test('is a manual page, too', () => {
    const page = formatManPage(createProgram())
    for (const { path } of leaves) expect(page).toContain(`.B meup ${path.replaceAll('-', '\\-')}`)
    expect(page).not.toMatch(/^'/m)
  })
})
