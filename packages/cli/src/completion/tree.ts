import type { Command } from 'commander'

/** What may stand after the words of a command. */
export interface Place {
  /** The command, such as `meup token create`. */
  readonly path: string
  readonly words: readonly Word[]
}

export interface Word {
  readonly text: string
  readonly about: string
}

/** Every command of the tree with what may follow it, as commander knows it. */
export function placesOf(command: Command, path = command.name()): Place[] {
  const options = command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => word(long ?? short ?? '', description))
  const subcommands = command.commands.map((each) => word(each.name(), each.description()))
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  return [
    { path, words: [...subcommands, ...choices.map((choice) => word(choice, '')), ...options] },
    ...command.commands.flatMap((each) => placesOf(each, `${path} ${each.name()}`)),
  ]
}

/** Options of the tree after which a value stands; most are files. */
export function valuedOptions(command: Command): string[] {
  const own = command.options
    .filter(({ required, optional }) => required || optional)
    .flatMap(({ long, short }) => [long, short].filter((flag) => flag !== undefined))
  return [...new Set([...own, ...command.commands.flatMap(valuedOptions)])].sort()
}

const word = (text: string, about: string): Word => ({ text, about })
