import type { Command } from 'commander'
import { enter, withConnection } from '../connection.js'
import { exitCodes, UsageError } from '../exit.js'
import { openView, type ViewFlags } from '../view/view.js'

interface WatchFlags extends ViewFlags {
  readonly from?: string
  readonly tail?: string
  readonly follow: boolean
}

/** `meup watch`: prints what happens, from a place in the log if asked, and goes on. */
export function addWatch(program: Command): void {
  withConnection(program.command('watch'))
    .description('print what happens in a space')
    .option('--from <seq>', 'begin at this envelope; 1 = the first')
    .option('--tail <count>', 'begin with the last so many')
    .option('--no-follow', 'end when the log has been printed')
    .option('--verbose', 'say as well what went wrong when Ctrl+T was pressed')
    .action(async (flags: WatchFlags) => {
      const from = count(flags.from, '--from')
      const tail = count(flags.tail, '--tail')
      const replay =
        from !== undefined ? { after: Math.max(0, from - 1) } : tail !== undefined ? { tail } : {}
      const space = await enter(flags, replay)
      const view = openView(space, flags, { echoes: false })
      const { head } = space.welcome.space
      space.on('reconnecting', (inMs, reason) =>
        view.tell(`… ${reason}; trying again in ${(inMs / 1000).toFixed(1)} s`),
      )
      process.once('SIGINT', () => process.exit(exitCodes.interrupted))
      try {
        if (!flags.follow && space.welcome.resume.to < space.welcome.resume.from) return
        for await (const envelope of space.envelopes()) {
          if (!flags.follow && (envelope.seq ?? 0) > head) break
          view.show(envelope)
          if (!flags.follow && envelope.seq === head) break
        }
      } finally {
        view.close()
        space.close()
      }
    })
}

function count(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${flag} takes a whole number, not ${text}`)
  return Number(text)
}
