import type { HttpClient } from '@meup/agent-sdk/http'
import { isErasable, ProtocolError } from '@meup/protocol'
import type { Command } from 'commander'
import { exitCodes } from '../failure/exit-codes.js'
import { askConfirmation, canAsk } from '../lib/confirm.js'
import { type ConnectionFlags, createHttpClient, withConnection } from '../lib/connection.js'
import { invalidValue, UsageError } from '../lib/exit.js'
import { checkNames } from '../lib/known-names.js'
import { isSeq, parseSeq } from '../lib/options.js'
import { printJson, printNotice } from '../lib/output.js'
import { retryPutOff } from '../lib/retry.js'

interface EraseFlags extends ConnectionFlags {
  readonly reason: string
  readonly from?: string
  readonly yes?: boolean
}

export function addErase(program: Command): void {
  withConnection(program.command('erase'), 'print one JSON object for each envelope')
    .description('remove what an envelope says from the log, for good; needs the capability space.erase')
    .argument(
      '[envelope]',
      'its seq, as meup search and meup watch --json show it; or its id, or how that begins',
    )
    .requiredOption('--reason <text>', 'why, for everyone to read')
    .option(
      '--from <name>',
      'instead of one envelope: all that this participant sent, as far as you may read it',
    )
    .option('--yes', 'do not ask before all of a participant is erased')
    .action((ref: string | undefined, flags: EraseFlags) => {
      if ((ref === undefined) === (flags.from === undefined))
        throw new UsageError('missing_argument', { form: 'meup erase <envelope>, or --from <participant>' })
      return ref === undefined ? eraseFrom(String(flags.from), flags) : eraseOne(ref, flags)
    })
}

async function eraseOne(ref: string, { reason, ...flags }: EraseFlags): Promise<void> {
  const http = createHttpClient(flags)
  // The eraser may not be allowed to read the envelope, so a seq is used without looking it up.
  const seq = isSeq(ref) ? parseSeq(ref, '<envelope>') : (await http.readEnvelope(ref)).seq
  if (seq === undefined) throw invalidValue('<envelope>', 'envelope', ref)
  const receipt = await http.erase(seq, reason)
  if (flags.json) return void printJson(receipt)
  const { recordedAt, removed } = receipt
  const rest = removed ? '' : '; its bytes go once nothing reads the log, such as a backup'
  printNotice(`seq ${seq} is erased, and seq ${recordedAt} says so${rest}`)
}

/** Erases all readable envelopes that a participant sent, except records of rights, which cannot be erased. */
async function eraseFrom(from: string, { reason, yes, ...flags }: EraseFlags): Promise<void> {
  const http = createHttpClient(flags)
  await checkNames(http, { from: [from] })
  const seqs: number[] = []
  for await (const { seq, kind } of http.readLog({ from }))
    if (seq !== undefined && isErasable(kind)) seqs.push(seq)
  const what = `${seqs.length} ${seqs.length === 1 ? 'envelope' : 'envelopes'} of ${from}`
  if (seqs.length > 0 && !yes && canAsk() && !(await askConfirmation(`Erase ${what} for good?`))) {
    printNotice('nothing was erased')
    process.exitCode = exitCodes.error
    return
  }
  let isRemoved = true
  for (const seq of seqs) {
    const receipt = await eraseAgain(http, seq, reason)
    if (receipt === undefined) continue
    isRemoved &&= receipt.removed
    if (flags.json) printJson(receipt)
  }
  const rest = isRemoved ? '' : '; the bytes of some go once nothing reads the log, such as a backup'
  if (!flags.json) printNotice(`${what} ${seqs.length === 1 ? 'is' : 'are'} erased${rest}`)
}

/** Erases an envelope; `undefined` if another participant has already erased it. */
async function eraseAgain(http: HttpClient, seq: number, reason: string) {
  try {
    return await retryPutOff(() => http.erase(seq, reason))
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'not_found') return undefined
    throw error
  }
}
