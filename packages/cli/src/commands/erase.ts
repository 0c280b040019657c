import type { Command } from 'commander'
import { type ConnectionFlags, createHttpClient, withConnection } from '../lib/connection.js'
import { UsageError } from '../lib/exit.js'
import { isSeq, parseSeq } from '../lib/options.js'
import { printJson, printNotice } from '../lib/output.js'

/** `meup erase`. */
export function addErase(program: Command): void {
  withConnection(program.command('erase'), 'print one JSON object')
    .description('remove what an envelope says from the log, for good; needs the capability space.erase')
    .argument(
      '<envelope>',
      'its seq, as meup search and meup watch --json show it; or its id, or how that begins',
    )
    .requiredOption('--reason <text>', 'why, for everyone to read')
    .action(erase)
}

async function erase(
  ref: string,
  { reason, ...flags }: ConnectionFlags & { readonly reason: string },
): Promise<void> {
  const http = createHttpClient(flags)
  // An eraser may lack the right to read the envelope, so a seq is not looked up.
  const seq = isSeq(ref) ? parseSeq(ref, '<envelope>') : (await http.readEnvelope(ref)).seq
  if (seq === undefined) throw new UsageError(`<envelope> takes a seq or an id, not ${ref}`)
  const receipt = await http.erase(seq, reason)
  if (flags.json) return void printJson(receipt)
  const { recordedAt, removed } = receipt
  const rest = removed ? '' : '; its bytes go once nothing reads the log, such as a backup'
  printNotice(`seq ${seq} is erased, and seq ${recordedAt} says so${rest}`)
}
