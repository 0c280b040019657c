import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { meup } from '../../../../test/support/cli.js'
import { findProgram } from '../../../../test/support/programs.js'
import { needing } from '../../../../test/verifies.js'
import { completionScript, shells } from '../../src/commands/completion.js'
import { exitCodes } from '../../src/failure/exit-codes.js'
import { createProgram } from '../../src/program.js'
import { folderWith } from '../support/folder.js'

type Shell = (typeof shells)[number]

/** Shell code that completes the line in `$@`, and prints candidates and the elapsed milliseconds. */
const tab: Readonly<Record<Shell, string>> = {
  bash: `source "$SCRIPT"
COMP_WORDS=(meup "$@"); COMP_CWORD=$#; began=\${EPOCHREALTIME/[.,]/}
_meup; ended=\${EPOCHREALTIME/[.,]/}
printf '%s\\n' "\${COMPREPLY[@]}" "$(( (ended - began) / 1000 )) ms"`,
  zsh: `zmodload zsh/datetime
compdef() {}
_files() {}
_describe() { print -rl -- "\${(P@)2}"; }
source "$SCRIPT"
words=(meup "$@"); CURRENT=$#words; began=$EPOCHREALTIME
_meup
printf '%d ms\\n' "$(( (EPOCHREALTIME - began) * 1000 ))"`,
  fish: `source $SCRIPT
set began (date +%s%N)
complete -C "meup $argv"
set ended (date +%s%N)
math "floor(($ended - $began) / 1000000)" | string replace -r '$' ' ms'`,
}

/** A fake `meup` that lists two tools. */
const fakeMeup = `#!/bin/sh
echo "$*" >> asked
printf '%s\\n' files/echo 'files/$(touch pwned)'
`

interface Tab {
  readonly candidates: readonly string[]
  readonly ms: number
}

/** Candidates without their descriptions that begin with the last word. */
function press(shell: Shell, program: string, cwd: string, words: readonly string[]): Tab {
  const bin = folderWith({ meup: fakeMeup, script: completionScript(createProgram(), shell) })
  chmodSync(join(bin, 'meup'), 0o755)
  const plain = { bash: ['--norc', '-c'], zsh: ['-f', '-c'], fish: ['--no-config', '-c'] }[shell]
  const { stdout, stderr, status } = spawnSync(
    program,
    [...plain, tab[shell], ...(shell === 'fish' ? [] : [shell]), ...words],
    {
      encoding: 'utf8',
      cwd,
      env: { PATH: `${bin}:${process.env.PATH}`, HOME: bin, SCRIPT: join(bin, 'script') },
    },
  )
  expect([stderr, status]).toEqual(['', 0])
  const lines = stdout.split('\n').filter(Boolean)
  const begun = words.at(-1) ?? ''
  const candidates = lines.slice(0, -1).map((line) => line.split(shell === 'zsh' ? ':' : '\t')[0] ?? '')
  return {
    candidates: candidates.filter((each) => each !== '' && each.startsWith(begun)).sort(),
    ms: Number.parseInt(lines.at(-1) ?? '', 10),
  }
}

const gatewayFile = (pid: number) => ({
  '.meup/gateway.json': JSON.stringify({ url: 'http://127.0.0.1:9', pid, people: {} }),
})

test('a gateway that does not answer holds no shell for longer than a second', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const env = {
    ...{ MEUP_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, MEUP_SPACE: 'demo' },
    MEUP_TOKEN: 'a'.repeat(32),
  }
  const began = performance.now()
  const { code, stdout } = await meup(['completion', 'bash', '--offer', 'tools'], { cwd: folderWith(), env })
  expect([code, stdout]).toEqual([exitCodes.timeout, ''])
  expect(performance.now() - began).toBeLessThan(3000)
})

for (const shell of shells) {
  const withShell = needing(shell, () => findProgram(shell))

  test(
    `${shell} completes commands, options, names and tools`,
    withShell((program) => {
      const cwd = folderWith({ '.meup/names': 'ana\nbot\n$(touch pwned)\n', ...gatewayFile(process.pid) })
      const complete = (...words: string[]): readonly string[] => press(shell, program, cwd, words).candidates
      expect(complete('re')).toEqual(['reasoning', 'replay', 'restart', 'restore', 'resume'])
      expect(complete('caps', 'gr')).toEqual(['grant'])
      expect(complete('caps', 'grant', '--f')).toEqual(['--for'])
      expect(complete('kick', 'b')).toEqual(['bot'])
      expect(complete('kick', 'bot', '--as', 'a')).toEqual(['ana'])
      expect(complete('call', 'files/')).toEqual(['files/echo', 'files/touchpwned'])
      expect(existsSync(join(cwd, 'pwned'))).toBe(false)
    }),
  )

  test(
    `${shell} completes at once and silently while the gateway is away`,
    withShell((program) => {
      const gone = gatewayFile(spawnSync('true').pid)
      for (const files of [{}, gone]) {
        const cwd = folderWith(files)
        for (const words of [
          ['kick', 'b'],
          ['call', 'f'],
          ['proposals', 'show', 'P'],
          ['caps', 'revoke', 'g'],
        ]) {
          const tries = [1, 2, 3].map(() => press(shell, program, cwd, words))
          expect(tries.flatMap(({ candidates }) => candidates)).toEqual([])
          expect(Math.min(...tries.map(({ ms }) => ms)), words.join(' ')).toBeLessThan(200)
        }
        expect(existsSync(join(cwd, 'asked'))).toBe(false)
      }
    }),
  )
}
