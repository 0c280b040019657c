import type { Command } from 'commander'
import type { JoinFlags } from '../join/join.js'
import { withConnection } from '../lib/connection.js'

/** `meup join`: an interactive conversation. Its implementation is loaded when it runs. */
export function addJoin(program: Command): void {
  withConnection(program.command('join'))
    .description('enter a space, talk and listen; type /help there')
    .option('--to <participant...>', 'say it to these alone')
    .option('--screen-reader', 'sentences alone, one below the other: nothing is drawn, no signs')
    .option('--verbose', 'say as well what went wrong when Ctrl+T was pressed')
    .addHelpText(
      'after',
      '\nCtrl+T thoughts · Ctrl+O tool output · Ctrl+P what waits · Esc interrupt · Ctrl+D leave',
    )
    .action(async (flags: JoinFlags) => (await import('../join/join.js')).join(flags))
}
