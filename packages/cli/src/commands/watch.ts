import type { Command } from 'commander'
import { type ConnectionFlags, enter, withConnection } from '../connection.js'
import { exitCodes, UsageError } from '../exit.js'
import { printer, tell } from '../output.js'

interface WatchFlags extends ConnectionFlags {
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
    .action(async (flags: WatchFlags) => {
      const from = count(flags.from, '--from')
      const tail = count(flags.tail, '--tail')
      const replay =
        from !== undefined ? { after: Math.max(0, from - 1) } : tail !== undefined ? { tail } : {}
      const space = await enter(flags, replay)
      const show = printer(flags.json)
      const { head } = space.welcome.space
      space.on('reconnecting', (inMs, reason) =>
        tell(`… ${reason}; trying again in ${(inMs / 1000).toFixed(1)} s`),
      )
      process.once('SIGINT', () => process.exit(exitCodes.interrupted))
      if (!flags.follow && space.welcome.resume.to < space.welcome.resume.from) return space.close()
      for await (const envelope of space.envelopes()) {
        if (!flags.follow && (envelope.seq ?? 0) > head) break
        show(envelope)
        if (!flags.follow && envelope.seq === head) break
      }
      space.close()
    })
}

function count(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${flag} takes a whole number, not ${text}`)
  return Number(text)
}
