import { isObject, isOpenProposal } from '@meup/folds'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { Argument, type Command, Option } from 'commander'
import { exitCodes } from '../failure/exit-codes.js'
import { createHttpClient } from '../lib/connection.js'
import { print } from '../lib/output.js'
import { readProposals } from '../lib/proposals.js'
import { readGrants } from './caps.js'

export const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** `meup completion bash`: prints a completion script for the shell. */
export function addCompletion(program: Command): void {
  const offer = new Option('--offer <what>', 'print words of the running space').choices(Object.keys(offers))
  program
    .command('completion')
    .description('print a script that completes these commands in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addOption(offer.hideHelp())
    .addHelpText('after', '\nThe first lines of the script say where to put it.')
    .action(async (shell: Shell, { offer }: { readonly offer?: keyof typeof offers }) => {
      if (offer === undefined) print(completionScript(program, shell).trimEnd())
      else await printOffered(offers[offer])
    })
}

/** Words that the script asks `meup` for when Tab is pressed. */
const offers = { tools: readTools, proposals: readOpenProposals, grants: readGrantIds }

/** Maximum wait for a gateway that does not answer. */
const maxOfferMs = 1000

async function printOffered(read: () => Promise<readonly string[]>): Promise<void> {
  const giveUp = setTimeout(() => process.exit(exitCodes.timeout), maxOfferMs)
  for (const word of await read()) print(word)
  clearTimeout(giveUp)
}

/** Maximum number of latest requests and responses that are searched for names of tools. */
const maxLooked = 1000

/** Tools that were listed or called recently. Requesting `tools/list` would add an envelope to the log for every Tab. */
async function readTools(): Promise<readonly string[]> {
  const http = createHttpClient({})
  const kind = [Kind.mcpRequest, Kind.mcpResponse]
  const { envelopes } = await http.readLogPage({ kind, order: 'desc', limit: maxLooked })
  return [...new Set(envelopes.flatMap(findTools))].sort()
}

function findTools({ from, to = [], payload }: AnyEnvelope): string[] {
  const { method, params, result } = payload as Readonly<Record<string, unknown>>
  const tools = isObject(result) && Array.isArray(result.tools) ? result.tools : []
  const called = method === 'tools/call' && isObject(params) ? to.map((id) => `${id}/${params.name}`) : []
  return [...tools.filter(isObject).map(({ name }) => `${from}/${name}`), ...called]
}

async function readOpenProposals(): Promise<readonly string[]> {
  const now = Date.now()
  const proposals = await readProposals(createHttpClient({}))
  return proposals.filter((each) => isOpenProposal(each, now)).map(({ id }) => id)
}

async function readGrantIds(): Promise<readonly string[]> {
  return (await readGrants({})).list(Date.now()).map(({ id }) => id)
}

/** A script for the shell that completes the program's commands, options and arguments. */
export function completionScript(program: Command, shell: Shell): string {
  return { bash, zsh, fish }[shell](listPlaces(program), listValued(program))
}

/** Removes shell metacharacters: other participants may choose names that contain them. */
const onlyNames = "tr -cd 'A-Za-z0-9._/\\n-'"

/** Shell code that asks the running space; does not start `meup` if the gateway has gone. */
const askSpace = (what: keyof typeof offers): string => {
  const pid = `$(sed -nE 's/.*"pid":([0-9]+).*/\\1/p' .meup/gateway.json)`
  return `sh -c "kill -0 ${pid.replaceAll(/[$"\\]/g, '\\$&')} && meup completion bash --offer ${what}" 2>/dev/null </dev/null | ${onlyNames}`
}

/** Shell code that prints the names, tools, … of this folder's space; prints nothing if it is not running. */
const sources = {
  names: `cat .meup/names 2>/dev/null | ${onlyNames}`,
  tools: askSpace('tools'),
  proposals: askSpace('proposals'),
  grants: askSpace('grants'),
} as const
type Source = keyof typeof sources

/** Sources that complete an argument, by the argument's name. */
const argumentSources: Readonly<Record<string, readonly Source[]>> = {
  participant: ['names'],
  question: ['names'],
  what: ['tools'],
  tool: ['tools'],
  id: ['proposals'],
  grant: ['grants', 'names'],
}

/** An option that takes a value. Without a source, the shell completes files. */
interface Valued {
  readonly flags: readonly string[]
  readonly source: Source | undefined
}

function findSource(flags: string): Source | undefined {
  if (/<(?:names?|participants?|agent)>/.test(flags)) return 'names'
  return flags.endsWith('<tool>') ? 'tools' : undefined
}

const steps = (places: readonly Place[]): string[] => places.slice(1).map(({ path }) => `"${path}"`)

const readSources = (named: readonly Source[]): string =>
  `{ ${named.map((each) => sources[each]).join('; ')}; }`

const bash = (places: readonly Place[], valued: readonly Valued[]): string => `\
# meup completion bash: put  source <(meup completion bash)  into ~/.bashrc
_meup() {
  local at=meup word words= current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${valued
  .map(({ flags, source }) =>
    source === undefined
      ? `    ${flags.join('|')}) return ;;`
      : `    ${flags.join('|')}) COMPREPLY=($(compgen -W "$(${readSources([source])})" -- "$current")); return ;;`,
  )
  .join('\n')}
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in ${steps(places).join('|')}) at="$at $word" ;; esac
  done
  case "$at" in
${places.map(({ path, words }) => `    "${path}") words="${words.map(({ text }) => text).join(' ')}" ;;`).join('\n')}
  esac
  [[ "$current" == -* ]] || case "$at" in
${places.flatMap(({ path, takes }) => (takes.length === 0 ? [] : [`    "${path}") words="$words $(${readSources(takes)})" ;;`])).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _meup meup
`

const zsh = (places: readonly Place[], valued: readonly Valued[]): string => `\
#compdef meup
# meup completion zsh: put  source <(meup completion zsh)  into ~/.zshrc, after compinit
_meup() {
  local at=meup word
  local -a candidates
  case "$words[CURRENT-1]" in
${valued
  .map(({ flags, source }) =>
    source === undefined
      ? `    ${flags.join('|')}) _files; return ;;`
      : `    ${flags.join('|')}) candidates=(\${(f)"$(${readSources([source])})"}); _describe ${source} candidates; return ;;`,
  )
  .join('\n')}
  esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in ${steps(places).join('|')}) at="$at $word" ;; esac
  done
  case "$at" in
${places.map(({ path, words }) => `    "${path}") candidates=(${words.map(zshCandidate).join(' ')}) ;;`).join('\n')}
  esac
  [[ "$words[CURRENT]" == -* ]] || case "$at" in
${places.flatMap(({ path, takes }) => (takes.length === 0 ? [] : [`    "${path}") candidates+=(\${(f)"$(${readSources(takes)})"}) ;;`])).join('\n')}
  esac
  _describe meup candidates || _files
}
compdef _meup meup
`

const zshCandidate = ({ text, about }: Word): string => quote(`${text.replaceAll(':', '\\:')}:${about}`)

const fish = (places: readonly Place[], valued: readonly Valued[]): string => `\
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
${places.flatMap((place) => place.words.map((word) => fishLine(place.path, word, valued))).join('\n')}
${places.flatMap(({ path, takes }) => takes.map((each) => `complete -c meup -n ${quote(`__meup_at "${path}"`)} -f -a ${quote(`(${sources[each]})`)}`)).join('\n')}
`

function fishLine(path: string, { text, about }: Word, valued: readonly Valued[]): string {
  const [, dashes, name = ''] = /^(-+)(.+)$/.exec(text) ?? []
  const option = valued.find(({ flags }) => flags.includes(text))
  const words = option?.source === undefined ? ' -r' : ` -x -a ${quote(`(${sources[option.source]})`)}`
  const value = option === undefined ? '' : words
  const what =
    dashes === undefined ? `-f -a ${quote(text)}` : `${dashes === '--' ? '-l' : '-s'} ${quote(name)}${value}`
  return `complete -c meup -n ${quote(`__meup_at "${path}"`)} ${what} -d ${quote(about)}`
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A command, and the words that can follow it. */
interface Place {
  /** The command's path, such as `meup token create`. */
  readonly path: string
  readonly words: readonly Word[]
  readonly takes: readonly Source[]
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
  const takes = command.registeredArguments.flatMap((each) => argumentSources[each.name()] ?? [])
  return [
    {
      path,
      takes: [...new Set(takes)],
      words: [...subcommands, ...choices.map((choice) => word(choice, '')), ...options],
    },
    ...command.commands.flatMap((each) => listPlaces(each, `${path} ${each.name()}`)),
  ]
}

/** Options that take a value, grouped by source. */
function listValued(program: Command): Valued[] {
  const options = (command: Command): Option[] => [
    ...command.options.filter(({ required, optional, hidden }) => (required || optional) && !hidden),
    ...command.commands.flatMap(options),
  ]
  const all = options(program)
  return [...(Object.keys(sources) as Source[]), undefined].flatMap((source) => {
    const some = all.filter(({ flags }) => findSource(flags) === source)
    const flags = some.flatMap(({ long, short }) => [long, short].filter((flag) => flag !== undefined))
    return flags.length === 0 ? [] : [{ source, flags: [...new Set(flags)].sort() }]
  })
}

const word = (text: string, about: string): Word => ({ text, about })
