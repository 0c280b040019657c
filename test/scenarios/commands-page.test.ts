import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { commandLine, meup, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

const within = { timeout: 40_000, interval: 20 }

/** Makes a folder with the space of the page "Trust", below a temporary folder in place of a clone of this repository. */
function guardedFolder(): string {
  const clone = temporaryFolder()
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  writeSnippets(
    snippetsOf('docs/trust.md').filter(({ language }) => language === 'yaml'),
    clone,
  )
  mkdirSync(join(clone, 'guarded/files'))
  return join(clone, 'guarded')
}

/** Reads a terminal session on the page: commands with their output. */
function terminal(name: string): { command: string; output: string }[] {
  const snippet = snippetsOf('docs/commands.md').find(
    (each) => each.language === 'console' && each.file === name,
  )
  return (snippet?.text ?? '')
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n')
      return { command, output: output.join('\n') }
    })
}

const id = /(?<![\w-])[\w-]{21}(?![\w-])/g
const time = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** Maps ids on the page to ids of this run, in order of appearance. */
class Names {
  readonly #here = new Map<string, string>()

  /** Replaces ids on the page by those of this run, and times by `<time>`. */
  translate(page: string, here: string): string {
    const found = [...new Set(here.match(id) ?? [])].filter(
      (each) => ![...this.#here.values()].includes(each),
    )
    for (const each of new Set(page.match(id) ?? [])) {
      if (!this.#here.has(each)) this.#here.set(each, found.shift() ?? 'nothing')
    }
    return page.replace(id, (each) => this.#here.get(each) ?? each).replace(time, '<time>')
  }

  /** Replaces ids, or beginnings of ids, in a command. */
  shorten(command: string): string {
    return command.replace(/(?<= )\S+/g, (word) => {
      const known = [...this.#here].find(([each]) => word.length > 3 && each.startsWith(word))
      return known?.[1].slice(0, word.length) ?? word
    })
  }
}

/** Runs a command in a shell in this folder. The output has stdout and stderr, like a terminal. */
function type(command: string, cwd: string) {
  const line = commandLine(command.replace(/^meup /, ''))
  const child = spawn('sh', ['-c', `exec 2>&1; exec ${line}`], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { output: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.output += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { said, ended }
}

test('"Decide what others do" shows what is said when it is done', async () => {
  const cwd = guardedFolder()
  await startMeup('up', cwd, ['--listen', '127.0.0.1:0'])
  const names = new Names()
  const [call = { command: '', output: '' }, ...more] = terminal('helper')
  expect(more).toEqual([])
  const calling = type(call.command, cwd)
  await vi.waitFor(() => expect(calling.said.output).toMatch(/\n/), within)

  const decisions = terminal('ana')
  expect(decisions.length).toBeGreaterThan(3)
  for (const { command, output } of decisions) {
    const typed = type(names.shorten(command), cwd)
    const code = await typed.ended
    const said = typed.said.output.replace(time, '<time>').replace(/9 min \d+ s/, '10 min')
    expect([command, code, said]).toEqual([command, 0, names.translate(output, said)])
  }
  expect(await calling.ended).toBe(0)
  expect(calling.said.output).toBe(names.translate(call.output, calling.said.output))
  expect(readFileSync(join(cwd, 'files/note.txt'), 'utf8')).toBe('milk')
})

test('the commands that the page names exist', async () => {
  const { stdout } = await meup(['completion', 'bash'])
  const commands = [...stdout.matchAll(/^ {4}"(meup [^"]+)"\) words="([^"]*)"/gm)]
    .filter(([, , words = '']) => words.startsWith('--') || words.startsWith('bash'))
    .map(([, path = '']) => path)
  const page = readFileSync(join(repositoryRoot, 'docs/commands.md'), 'utf8')
  const rows = [...page.matchAll(/`(meup [a-z][a-z ]*?)(?= *[<[`])/g)].map(([, path]) => path)
  expect(rows.filter((path = '') => !commands.some((each) => path.startsWith(each)))).toEqual([])
})
