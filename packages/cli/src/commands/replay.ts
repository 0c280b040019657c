import type { Command } from 'commander'
import { type ConnectionFlags, withConnection } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { findGiven, parseSeq } from '../lib/options.js'

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
  const { url, space, as, tokenFile, speed, from, to, name, into } = flags
  const ofGateway = findGiven({ '--url': url, '--space': space, '--as': as, '--token-file': tokenFile })
  if (file !== undefined && ofGateway !== undefined)
    throw new UsageError('option_conflict', { option: ofGateway, other: 'a file' })
  const ofPart = findGiven({ '--speed': speed, '--from': from, '--to': to })
  if (into !== undefined && ofPart !== undefined)
    throw new UsageError('option_conflict', { option: ofPart, other: '--into' })
  if (name !== undefined && into === undefined)
    throw new UsageError('option_needed', { option: '--name', needed: '--into' })
}
