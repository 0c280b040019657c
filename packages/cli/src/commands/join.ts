import { createInterface } from 'node:readline'
import { ProtocolError } from '@meup/protocol'
import type { Command } from 'commander'
import { enter, withConnection } from '../connection.js'
import { exitCodes, explain } from '../exit.js'
import { openView, type ViewFlags } from '../view/view.js'

/** `meup join`: what you type is said in the space; what happens in it is printed. */
export function addJoin(program: Command): void {
  withConnection(program.command('join'))
    .description('enter a space, talk and listen')
    .option('--to <participant...>', 'say it to these alone')
    .option('--verbose', 'say as well what went wrong when Ctrl+T was pressed')
    .action(async (flags: ViewFlags & { to?: string[] }) => {
      const space = await enter(flags)
      const view = openView(space, flags, { echoes: true })
      const { tell } = view
      space.on('envelope', (envelope) => view.show(envelope))
      space.on('reconnecting', (inMs, reason) =>
        tell(`… ${reason}; trying again in ${(inMs / 1000).toFixed(1)} s`),
      )
      space.on('lost', () => tell('… the log is another one now; this is its beginning'))
      tell(`you are ${space.id} in ${space.welcome.space.id}; type to talk, Ctrl+D leaves`)
      const said: Promise<void>[] = []
      const lines = view.lines ?? createInterface({ input: process.stdin })
      process.once('SIGINT', () => process.exit(exitCodes.interrupted))
      const left = new Promise<void>((resolve, reject) => {
        lines.on('close', resolve)
        space.on('closed', (error) => (error ? reject(error) : resolve()))
      })
      lines.on('line', (line) => {
        if (line.trim() !== '') said.push(say(line))
      })
      try {
        await left
        await Promise.all(said)
      } finally {
        lines.close()
        space.close()
      }

      async function say(line: string): Promise<void> {
        try {
          await space.chat(line, flags.to === undefined ? {} : { to: flags.to })
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error
          tell(`✗ ${explain(error)}`)
        }
      }
    })
}
