import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
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
  program.command('call').argument('<tool>', 'which').option('--json', 'print JSON')
  program.command('show').argument('<id>', 'of the proposal')
  program.command('completion').addArgument(new Argument('<shell>').choices(shells))
})

/** Bash's completions for a command line whose last word is incomplete. */
function complete(...words: string[]): string[] {
  return completeIn(tmpdir(), ...words)
}

/** A fake `meup` that lists two tools; the name of one contains shell metacharacters. */
const askedFor = `#!/bin/sh
echo "$*" >> asked
printf '%s\\n' files/echo 'files/$(touch pwned)'
`

function completeIn(cwd: string, ...words: string[]): string[] {
  const bin = folderWith({ meup: askedFor })
  chmodSync(join(bin, 'meup'), 0o755)
  const script = `${completionScript(program, 'bash')}
COMP_WORDS=(meup "$@"); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _meup; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    encoding: 'utf8',
    cwd,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
  })
  expect([stderr, status]).toEqual(['', 0])
  return stdout.split('\n').filter(Boolean)
}

describe('bash', () => {
  test.for([
    [[''], ['up', 'token', 'kick', 'call', 'show', 'completion', '-C', '--version', '--help']],
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
    expect(completeIn(folderWith(), 'kick', 'b')).toEqual([])
  })

  test('asks the running space for its tools and ids, and nothing where its gateway has gone', () => {
    const file = (pid: number) => ({ '.meup/gateway.json': JSON.stringify({ url: '', pid, people: {} }) })
    const cwd = folderWith(file(process.pid))
    expect(completeIn(cwd, 'call', 'files/e')).toEqual(['files/echo'])
    expect(completeIn(cwd, 'call', '')).toEqual(['--json', '--help', 'files/echo', 'files/touchpwned'])
    expect(completeIn(cwd, 'call', '--j')).toEqual(['--json'])
    completeIn(cwd, 'show', '')
    expect(readFileSync(join(cwd, 'asked'), 'utf8').split('\n')).toEqual([
      'completion bash --offer tools',
      'completion bash --offer tools',
      'completion bash --offer proposals',
      '',
    ])
    expect(existsSync(join(cwd, 'pwned'))).toBe(false)
    const gone = folderWith(file(spawnSync('true').pid))
    expect(completeIn(gone, 'call', 'f')).toEqual([])
    expect(existsSync(join(gone, 'asked'))).toBe(false)
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
