import { Argument, type Command } from 'commander'
import { completionScript, type Shell, shells } from '../completion/scripts.js'
import { print } from '../output.js'

/** `meup completion bash`: a script for the shell, made of the commands that there are. */
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
