import type { Command } from 'commander'
import { withConnection } from '../connection.js'
import type { OpenFlags } from '../open/open.js'

/** `meup open`: the page of a space, signed in. What it needs is loaded when it runs. */
export function addOpen(program: Command): void {
  withConnection(program.command('open'), 'print one JSON object')
    .description('open the page in your browser, signed in: by a link that works once, within a minute')
    .option('--no-browser', 'only print the link')
    .action(async (flags: OpenFlags) => {
      const { open } = await import('../open/open.js')
      await open(flags)
    })
}
