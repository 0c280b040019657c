import { Argument, type Command } from 'commander'
import { print } from '../lib/output.js'

/** `meup completion bash`: prints a completion script for the shell. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes these commands in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText('after', '\nThe first lines of the script say where to put it.')
    .action((shell: Shell) => {
      print(completionScript(program, shell).trimEnd())
    })
}

export const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** A script that completes the commands of a program, by walking the words to the command that they name. */
export function completionScript(program: Command, shell: Shell): string {
  const places = listPlaces(program)
  const [named, valued] = [
    valuedOptions(program, isNamed),
    valuedOptions(program, (flags) => !isNamed(flags)),
  ]
  return { bash, zsh, fish }[shell](places, { named, valued })
}

/** Options that take a value: the name of a participant, or something else, most often a file. */
interface Valued {
  readonly named: readonly string[]
  readonly valued: readonly string[]
}

const isNamed = (flags: string): boolean => /<(?:names?|participants?|agent)>/.test(flags)

/** Prints the names of the running space; nothing where none runs here. The names that others chose hold no signs of a shell. */
const listNames = "cat .meup/names 2>/dev/null | tr -cd 'A-Za-z0-9._\\n-'"

const steps = (places: readonly Place[]): string[] => places.slice(1).map(({ path }) => `"${path}"`)

const bash = (places: readonly Place[], { named, valued }: Valued): string => `\
# meup completion bash: put  source <(meup completion bash)  into ~/.bashrc
_meup() {
  local at=meup word words= current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    ${named.join('|')}) COMPREPLY=($(compgen -W "$({ ${listNames}; })" -- "$current")); return ;;
    ${valued.join('|')}) return ;;
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in ${steps(places).join('|')}) at="$at $word" ;; esac
  done
  case "$at" in
${places.map(({ path, words, takesNames }) => `    "${path}") words="${words.map(({ text }) => text).join(' ')}${takesNames ? ` $({ ${listNames}; })` : ''}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _meup meup
`

const zsh = (places: readonly Place[], { named, valued }: Valued): string => `\
#compdef meup
# meup completion zsh: put  source <(meup completion zsh)  into ~/.zshrc, after compinit
_meup() {
  local at=meup word
  local -a candidates
  case "$words[CURRENT-1]" in
    ${named.join('|')}) candidates=(\${(f)"$({ ${listNames}; })"}); _describe names candidates; return ;;
    ${valued.join('|')}) _files; return ;;
  esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in ${steps(places).join('|')}) at="$at $word" ;; esac
  done
  case "$at" in
${places.map(({ path, words, takesNames }) => `    "${path}") candidates=(${words.map(zshCandidate).join(' ')}${takesNames ? ` \${(f)"$({ ${listNames}; })"}` : ''}) ;;`).join('\n')}
  esac
  _describe meup candidates || _files
}
compdef _meup meup
`

const zshCandidate = ({ text, about }: Word): string => quote(`${text.replaceAll(':', '\\:')}:${about}`)

const fish = (places: readonly Place[], { named, valued }: Valued): string => `\
# meup completion fish: meup completion fish > ~/.config/fish/completions/meup.fish
function __meup_at
  set -l at meup
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${steps(places).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${places.flatMap((place) => place.words.map((word) => fishLine(place.path, word, { named, valued }))).join('\n')}
${places.flatMap(({ path, takesNames }) => (takesNames ? [`complete -c meup -n ${quote(`__meup_at "${path}"`)} -f -a ${quote(`(${listNames})`)}`] : [])).join('\n')}
`

function fishLine(path: string, { text, about }: Word, { named, valued }: Valued): string {
  const [, dashes, name = ''] = /^(-+)(.+)$/.exec(text) ?? []
  const names = named.includes(text) ? ` -x -a ${quote(`(${listNames})`)}` : ''
  const value = valued.includes(text) ? ' -r' : names
  const what =
    dashes === undefined ? `-f -a ${quote(text)}` : `${dashes === '--' ? '-l' : '-s'} ${quote(name)}${value}`
  return `complete -c meup -n ${quote(`__meup_at "${path}"`)} ${what} -d ${quote(about)}`
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Words that can follow a command. */
interface Place {
  /** The command, such as `meup token create`. */
  readonly path: string
  readonly words: readonly Word[]
  /** Whether names of participants may follow. */
  readonly takesNames: boolean
}

interface Word {
  readonly text: string
  readonly about: string
}

/** Lists every command with its subcommands, choices and options. */
function listPlaces(command: Command, path = command.name()): Place[] {
  const options = command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => word(long ?? short ?? '', description))
  const subcommands = command.commands.map((each) => word(each.name(), each.description()))
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const takesNames = command.registeredArguments.some((each) =>
    /^(?:participant|question|grant)$/.test(each.name()),
  )
  return [
    { path, takesNames, words: [...subcommands, ...choices.map((choice) => word(choice, '')), ...options] },
    ...command.commands.flatMap((each) => listPlaces(each, `${path} ${each.name()}`)),
  ]
}

/** Options that take a value, with these flags. */
function valuedOptions(command: Command, isMeant: (flags: string) => boolean): string[] {
  const own = command.options
    .filter(({ required, optional, flags }) => (required || optional) && isMeant(flags))
    .flatMap(({ long, short }) => [long, short].filter((flag) => flag !== undefined))
  return [...new Set([...own, ...command.commands.flatMap((each) => valuedOptions(each, isMeant))])].sort()
}

const word = (text: string, about: string): Word => ({ text, about })
