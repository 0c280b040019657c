import { spawnSync } from 'node:child_process'
import type { Command, Option } from 'commander'
import { commandExamples, explainCommand, listLeaves } from '../command-help.js'
import { print } from '../lib/output.js'

/** `meup man`: the manual page of all commands. `meup man ask` is `meup help ask`. */
export function addMan(program: Command): void {
  program
    .command('man')
    .description('show the manual: every command with its options and examples')
    .argument('[command...]', 'only this one')
    .option('--roff', 'print the page for man, such as into ~/.local/share/man/man1/meup.1')
    .action((words: readonly string[], { roff }: { readonly roff?: boolean }) => {
      if (words.length > 0) return explainCommand(program, words)
      const page = formatManPage(program)
      if (roff) return void print(page.trimEnd())
      if (process.stdout.isTTY && showByMan(page)) return
      print(formatPlainPage(program).trimEnd())
    })
}

/** Shows the page with `man`; `false` if no `man` that reads a page from stdin is installed. */
function showByMan(page: string): boolean {
  const { status } = spawnSync('man', ['-l', '-'], { input: page, stdio: ['pipe', 'inherit', 'ignore'] })
  return status === 0
}

const getOptions = (command: Command): readonly Option[] => command.options.filter(({ hidden }) => !hidden)

/** Usage line, such as `meup ask [name...] <question>`. */
export const getUsage = (path: string, command: Command): string =>
  `meup ${path} ${command.usage()}`.replace('[options]', '').replace(/\s+/g, ' ').trimEnd()

/** The manual page as roff, see man(7). */
export function formatManPage(program: Command): string {
  const commands = listLeaves(program).flatMap(({ path, command }) => [
    '.TP',
    `.B ${toRoff(getUsage(path, command))}`,
    toRoff(capitalize(command.description())),
    ...getOptions(command).flatMap(({ flags, description }) => [
      '.RS',
      '.TP',
      `.I ${toRoff(flags)}`,
      toRoff(description),
      '.RE',
    ]),
    ...(commandExamples[path] ?? []).flatMap(([line, about]) => [
      '.RS',
      '.PP',
      `${toRoff(capitalize(about))}:`,
      '.br',
      `.B ${toRoff(line)}`,
      '.RE',
    ]),
  ])
  return [
    '.TH MEUP 1',
    '.SH NAME',
    `meup \\- ${toRoff(program.description())}`,
    '.SH SYNOPSIS',
    '.B meup',
    '[\\-C folder] command [arguments] [options]',
    '.SH COMMANDS',
    ...commands,
    '',
  ].join('\n')
}

/** The manual page as plain text. */
function formatPlainPage(program: Command): string {
  return listLeaves(program)
    .flatMap(({ path, command }) => [
      getUsage(path, command),
      `    ${capitalize(command.description())}`,
      ...getOptions(command).map(({ flags, description }) => `    ${flags}  ${description}`),
      ...(commandExamples[path] ?? []).map(([line, about]) => `    $ ${line}  # ${about}`),
      '',
    ])
    .join('\n')
}

const capitalize = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`

/** Escapes a line for roff: backslashes, dashes, and a control character at its start. */
const toRoff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
