import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Argument, Command } from 'commander'
import { beforeEach, describe, expect, test } from 'vitest'
import { completionScript, shells } from '../src/commands/completion.js'
import { folderWith } from './support/folder.js'

let program: Command
beforeEach(() => {
  program = new Command('meup').option('-C <folder>', 'do it in this folder').version('1')
  program
    .command('up')
    .description("run it: all of it, or what's there")
    .option('--config <file>', 'configuration')
  const group = program.command('token').description('tokens')
  group.command('create').option('--show', 'print it')
  group.command('list')
  program.command('kick').argument('<participant>', 'who').option('--as <participant>', 'whom to be')
  program.command('completion').addArgument(new Argument('<shell>').choices(shells))
})

/** What bash would offer behind these words; the last one is being typed. */
function complete(...words: string[]): string[] {
  return completeIn(tmpdir(), ...words)
}

function completeIn(cwd: string, ...words: string[]): string[] {
  const script = `${completionScript(program, 'bash')}
COMP_WORDS=(meup "$@"); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _meup; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    encoding: 'utf8',
    cwd,
  })
  expect([stderr, status]).toEqual(['', 0])
  return stdout.split('\n').filter(Boolean)
}

describe('bash', () => {
  test.for([
    [[''], ['up', 'token', 'kick', 'completion', '-C', '--version', '--help']],
    [['t'], ['token']],
    [
      ['token', ''],
      ['create', 'list', '--help'],
    ],
    [
      ['token', 'create', '--'],
      ['--show', '--help'],
    ],
    [['-C', 'somewhere', 'token', 'l'], ['list']],
    [['up', '--c'], ['--config']],
    [['completion', 'z'], ['zsh']],
  ])('after %j offers %j', ([words = [], offered]) => {
    expect(complete(...words)).toEqual(offered)
  })

  test('offers the names of the space that runs here, and silently none where there is none', () => {
    const cwd = folderWith({ '.meup/names': 'ana\nbot\n$(touch pwned)\n' })
    expect(completeIn(cwd, 'kick', 'b')).toEqual(['bot'])
    expect(completeIn(cwd, 'kick', 'x', '--as', '')).toEqual(['ana', 'bot', 'touchpwned'])
    expect(existsSync(join(cwd, 'pwned'))).toBe(false)
    const began = performance.now()
    expect(completeIn(folderWith(), 'kick', 'b')).toEqual([])
    expect(performance.now() - began).toBeLessThan(2000)
  })

  test('leaves the value of an option to the shell, which knows files', () => {
    expect(complete('up', '--config', '')).toEqual([])
  })
})

test('zsh gets every command with what it does, quoted', () => {
  const script = completionScript(program, 'zsh')
  expect(script).toMatch(/^#compdef meup\n/)
  expect(script).toContain(`'up:run it: all of it, or what'\\''s there'`)
  expect(script).toContain(`"meup token") candidates=('create:' 'list:' '--help:`)
})

test('fish gets a line for every word', () => {
  const lines = completionScript(program, 'fish').split('\n')
  expect(lines).toContain(`complete -c meup -n '__meup_at "meup"' -f -a 'token' -d 'tokens'`)
  expect(lines).toContain(`complete -c meup -n '__meup_at "meup up"' -l 'config' -r -d 'configuration'`)
  expect(lines).toContain(`complete -c meup -n '__meup_at "meup token create"' -l 'show' -d 'print it'`)
  expect(lines).toContain(`complete -c meup -n '__meup_at "meup"' -s 'C' -r -d 'do it in this folder'`)
})
