import type { Command } from 'commander'
import { type ConnectionFlags, withConnection } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { parseSeq } from '../lib/options.js'

interface Flags extends ConnectionFlags {
  readonly speed?: string
  readonly from?: string
  readonly to?: string
  readonly into?: string
  readonly name?: string
}

/** `meup replay`: plays a log again. Its implementation is imported when it runs. */
export function addReplay(program: Command): void {
  withConnection(program.command('replay'), 'print envelopes as JSON, one a line; with --into one object')
    .description('play a log again, at the terminal or into a space of its own')
    .argument('[file]', 'an export, or envelopes one a line; - = from stdin (default: the log of the space)')
    .option('--speed <factor>', 'how many times as fast as it went; max = without pauses (default: 1)')
    .option('--from <seq>', 'begin at this envelope')
    .option('--to <seq>', 'end with this envelope')
    .option('--into <database>', 'make a space of it in this file, for a gateway to serve')
    .option('--name <space>', 'what the space is called there (default: as it was)')
    .action(async (file: string | undefined, flags: Flags) => {
      checkFlags(file, flags)
      const { from, to, ...others } = flags
      const { replay } = await import('../replay/replay.js')
      await replay(file, {
        ...others,
        ...(from !== undefined && { from: parseSeq(from, '--from') }),
        ...(to !== undefined && { to: parseSeq(to, '--to') }),
      })
    })
}

function checkFlags(file: string | undefined, flags: Flags): void {
  const has = (...names: (keyof Flags)[]): boolean => names.some((name) => flags[name] !== undefined)
  if (file !== undefined && has('url', 'space', 'as', 'tokenFile')) {
    throw new UsageError('a file needs no gateway: leave out --url, --space, --as and --token-file')
  }
  if (has('into') && has('speed', 'from', 'to')) {
    throw new UsageError('--into takes the whole log: leave out --speed, --from and --to')
  }
  if (has('name') && !has('into')) throw new UsageError('--name is for --into')
}
