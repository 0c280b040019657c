import type { Command } from 'commander'
import { withConnection } from '../connection.js'
import type { WatchFlags } from '../watch/watch.js'
import { count } from './count.js'

type Flags = Omit<WatchFlags, 'from' | 'tail'> & { readonly from?: string; readonly tail?: string }

/** `meup watch`: prints what happens, from a place in the log if asked. What it needs is loaded when it runs. */
export function addWatch(program: Command): void {
  withConnection(program.command('watch'))
    .description('print what happens in a space')
    .option('--from <seq>', 'begin at this envelope; 1 = the first')
    .option('--tail <count>', 'begin with the last so many')
    .option('--no-follow', 'end when the log has been printed')
    .option('--context <path>', 'only what happens in this context and below it')
    .option('--agent <participant...>', 'only what these say')
    .option('--kind <kind...>', 'only envelopes of these kinds')
    .option('--reasoning <detail>', 'full, boundaries (no thoughts), or none')
    .option('--verbose', 'say as well what went wrong when Ctrl+T was pressed')
    .action(async ({ from, tail, ...flags }: Flags) => {
      const { watch } = await import('../watch/watch.js')
      await watch({
        ...flags,
        ...(from !== undefined && { from: count(from, '--from') }),
        ...(tail !== undefined && { tail: count(tail, '--tail') }),
      })
    })
}
