import { spawnSync } from 'node:child_process'
import type { Command, Option } from 'commander'
import { commandExamples, listLeaves } from '../command-help.js'
import { print } from '../lib/output.js'

/** `meup man`: the page of all commands. */
export function addMan(program: Command): void {
  program
    .command('man')
    .description('show the manual: every command with its options and examples')
    .option('--roff', 'print the page for man, such as into ~/.local/share/man/man1/meup.1')
    .action(({ roff }: { readonly roff?: boolean }) => {
      const page = formatManPage(program)
      if (roff) return void print(page.trimEnd())
      if (process.stdout.isTTY && showByMan(page)) return
      print(formatPlainPage(program).trimEnd())
    })
}

/** `false`: there is no `man` here that takes a page from stdin. */
function showByMan(page: string): boolean {
  const { status } = spawnSync('man', ['-l', '-'], { input: page, stdio: ['pipe', 'inherit', 'ignore'] })
  return status === 0
}

const getOptions = (command: Command): readonly Option[] => command.options.filter(({ hidden }) => !hidden)

/** `meup ask [name...] <question>` */
export const getUsage = (path: string, command: Command): string =>
  `meup ${path} ${command.usage()}`.replace('[options]', '').replace(/\s+/g, ' ').trimEnd()

/** A page in the language of man(7). */
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

/** The same without markup. */
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

/** Escapes a line for roff: backslashes, dashes, and a sign at its start that would begin a request. */
const toRoff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
