import type { Command } from 'commander'
import { type ConnectionFlags, createHttpClient, withConnection } from '../lib/connection.js'
import { parseCount } from '../lib/options.js'
import { printJson, printNotice } from '../lib/output.js'

/** `meup erase`. */
export function addErase(program: Command): void {
  withConnection(program.command('erase'), 'print one JSON object')
    .description('remove what an envelope says from the log, for good; needs the capability space.erase')
    .argument('<seq>', 'its number, as meup search and meup watch --json show it')
    .requiredOption('--reason <text>', 'why, for everyone to read')
    .action(erase)
}

async function erase(
  seq: string,
  { reason, ...flags }: ConnectionFlags & { readonly reason: string },
): Promise<void> {
  const receipt = await createHttpClient(flags).erase(parseCount(seq, '<seq>'), reason)
  if (flags.json) return void printJson(receipt)
  const { recordedAt, removed } = receipt
  const rest = removed ? '' : '; its bytes go once nothing reads the log, such as a backup'
  printNotice(`seq ${seq} is erased, and seq ${recordedAt} says so${rest}`)
}
