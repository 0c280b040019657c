import type { Command } from 'commander'
import type { JoinFlags } from '../join/join.js'
import { withConnection } from '../lib/connection.js'
import { collectNames } from '../lib/options.js'

/** `meup join`: an interactive conversation. Its implementation is imported when it runs. */
export function addJoin(program: Command): void {
  withConnection(program.command('join'))
    .description('enter a space, talk and listen; type /help there')
    .option('--to <names>', 'say it to these alone: a name, or several with commas', collectNames)
    .option('--reasoning', 'after each turn, why its tools were called, in full')
    .option('--screen-reader', 'sentences alone, one below the other: nothing is drawn, no signs')
    .option('--verbose', 'also print why Ctrl+T failed')
    .addHelpText(
      'after',
      '\nCtrl+T thoughts · Ctrl+O tool output · Ctrl+P what waits · Esc interrupt · Ctrl+D leave',
    )
    .action(async (flags: JoinFlags) => (await import('../join/join.js')).join(flags))
}
