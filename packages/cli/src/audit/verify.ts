import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { printable } from '@meup/folds'
import type { Verification } from '@meup/gateway'
import { type ExportVerdict, type KnownHead, verifyExport } from '@meup/protocol'
import { type ConnectionFlags, destination } from '../connection.js'
import { exitCodes, UsageError } from '../exit.js'
import { print, printJson } from '../output.js'
import { openStream } from '../reading.js'

export interface VerifyFlags extends ConnectionFlags {
  readonly head?: string
}

/** `meup audit verify`: an export, without a gateway; or, with no file, the log of the space. */
export async function verifyAudit(file: string | undefined, { head, ...flags }: VerifyFlags): Promise<void> {
  if (head !== undefined && file === undefined) throw new UsageError('--head needs the file of an export')
  if (file === undefined) {
    const verification = await verifySpace(flags)
    tellVerdict(verification, ofSpace(verification), flags)
  } else {
    const verdict = await verifyFile(file, head === undefined ? undefined : readHead(head))
    tellVerdict(verdict, ofFile(verdict), flags)
  }
}

function tellVerdict(
  verdict: { readonly ok: boolean },
  lines: readonly string[],
  { json }: ConnectionFlags,
): void {
  if (!verdict.ok) process.exitCode = exitCodes.auditMismatch
  if (json) printJson(verdict)
  else for (const line of lines) print(printable(line))
}

async function verifySpace(flags: ConnectionFlags): Promise<Verification> {
  const answer = await openStream(destination(flags), 'audit/verify')
  return (await answer.json()) as Verification
}

const verifyFile = (file: string, known: KnownHead | undefined): Promise<ExportVerdict> =>
  verifyExport(
    file === '-' ? process.stdin : createReadStream(file),
    (bytes) => createHash('sha256').update(bytes).digest(),
    known,
  )

/** As `verify` prints it. */
function readHead(text: string): KnownHead {
  const [, seq, hash = ''] = /^(\d{1,15}):([\da-f]{64})$/i.exec(text) ?? []
  if (seq === undefined) {
    throw new UsageError(`--head takes what meup audit verify prints, <seq>:<hash>, not ${text}`)
  }
  return { seq: Number(seq), hash: hash.toLowerCase() }
}

function ofFile(verdict: ExportVerdict): string[] {
  if (!verdict.ok) return [`line ${verdict.line} is wrong: ${verdict.problem}`]
  const { first, checked, shown } = verdict
  const withheld = checked - shown
  const rest = withheld === 0 ? '' : `, ${withheld} of which its reader may not read`
  return [`whole: ${checked} envelopes from seq ${first}${rest}`, ...placeOf(verdict)]
}

function ofSpace(verification: Verification): string[] {
  const { ok, head, checked, brokenAt = 0, column, prunedBefore } = verification
  const from = prunedBefore === undefined ? 'seq 1' : `seq ${prunedBefore}, the oldest that is kept`
  if (ok) return [`whole: ${checked} envelopes from ${from}`, ...placeOf(verification)]
  return [
    `seq ${brokenAt} is wrong: ${column === undefined ? 'it is missing, or is not what was logged' : `its column ${column} is not what its body says`}`,
    `before it, ${checked} envelopes hold, from ${from}; after it, up to ${head}, nothing is proven`,
  ]
}

/** What is worth keeping elsewhere. */
const placeOf = ({ epoch, head, hash }: { epoch: string; head: number; hash: string }): string[] => [
  `epoch ${epoch}`,
  `head ${head}:${hash}`,
]
