import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { AuditStep, HttpClient, LogVerification } from '@meup/agent-sdk/http'
import { brief, onOneLine, printable, printableJson } from '@meup/folds'
import {
  anyContext,
  type Erasure,
  type ExportVerdict,
  type KnownHead,
  Phase,
  parseContext,
  verifyExport,
} from '@meup/protocol'
import { type Command, Option } from 'commander'
import type { SqliteFlags } from '../audit/export-sqlite.js'
import { formatLinks } from '../audit/reasoning-log.js'
import { exitCodes } from '../failure/exit-codes.js'
import { type ConnectionFlags, createHttpClient, withConnection } from '../lib/connection.js'
import { invalidValue, UsageError } from '../lib/exit.js'
import { checkNames } from '../lib/known-names.js'
import { collectNames, findGiven, parseCount } from '../lib/options.js'
import { print, printJson, printNotice } from '../lib/output.js'
import { type PeriodFlags, readPeriodTexts } from '../lib/times.js'
import { readRequestedTurns } from '../lib/turns.js'
import { explainUnreadable } from '../lib/unreadable-export.js'
import { writeFile } from '../lib/write-file.js'

export function addAudit(program: Command): void {
  const group = program
    .command('audit')
    .description('see what agents did and why, take the log with you, and prove that it is whole')
  withTurn(withConnection(group.command('trail'), 'print steps as JSON, one a line'))
    .description('show what agents thought, planned, did and were refused, step by step')
    .addOption(
      new Option('--phase <phase>', 'only such steps').choices(Phase.anyOf.map((phase) => phase.const)),
    )
    .option('--from <names>', 'only in turns of these: a name, or several with commas', collectNames)
    .option('--since <time>', 'only from then on, such as tuesday, 2026-01-02 or 1h')
    .option('--until <time>', 'only before then')
    .option('--limit <count>', 'only the last ones, up to this number', '100')
    .addHelpText(
      'after',
      '\nHow a proposal was decided and how a turn ended are not steps: see meup why and meup reasoning.',
    )
    .action(async ({ limit, ...flags }: TrailFlags & { limit: string }) => {
      const maxSteps = parseCount(limit, '--limit')
      checkTurn(flags)
      await printTrail(maxSteps, flags)
    })
  withTurn(withConnection(group.command('export'), 'print JSON, one object a line, as jsonl is anyway'))
    .description('write the log, as far as you may read it, so that it can be verified without a gateway')
    .addOption(
      new Option(
        '--format <format>',
        'jsonl proves that it is whole; markdown is the trail, for people; sqlite is a database of turns and steps',
      )
        .choices(['jsonl', 'markdown', 'sqlite'])
        .default('jsonl'),
    )
    .option('--context <path>', 'only what was said in this context and below it; needs markdown')
    .option('-o, --output <file>', 'write to this file, when the export is complete')
    .option('--to <file>', 'add to this database what it lacks; needs sqlite')
    .option('--follow', 'go on with what happens until a signal comes; needs sqlite')
    .addOption(
      new Option('--keep-days [days]', 'keep no older steps in the database; needs sqlite').preset('30'),
    )
    .action(async (flags: ExportFlags & SqliteFlags) => {
      checkTurn(flags)
      checkFormat(flags)
      if (flags.format === 'sqlite') {
        const { exportSqlite } = await import('../audit/export-sqlite.js')
        await exportSqlite(flags)
        return
      }
      await exportAudit(flags)
    })
  withConnection(group.command('verify'), 'print one JSON object')
    .description(
      'check an export, or without a file the log of the space; exits with 8 when it does not match',
    )
    .argument('[file]', 'an export; - = from stdin')
    .option('--head <seq:hash>', 'what this printed earlier: the export must go on from there')
    .action(verifyAudit)
}

const withTurn = (command: Command): Command =>
  command
    .option('--thread <agent>', 'only the turns of this agent')
    .option('--turn <number>', 'only this turn of it')

function checkTurn({ thread, turn }: Pick<TrailFlags, 'thread' | 'turn'>): void {
  if (turn === undefined) return
  if (thread === undefined)
    throw new UsageError('option_needed', { option: '--turn', needed: '--thread <agent>' })
  parseCount(turn, '--turn')
}

/** `--format sqlite` excludes the options of the other formats: it always exports everything, into an existing file. */
function checkFormat(flags: ExportFlags & SqliteFlags): void {
  const { format, thread, context, output, to, follow, keepDays } = flags
  const ofOthers = { '--thread': thread, '--context': context, '--output': output }
  const ofSqlite = { '--to': to, '--follow': follow, '--keep-days': keepDays }
  const option = findGiven(format === 'sqlite' ? ofOthers : ofSqlite)
  if (option === undefined) return
  if (format !== 'sqlite') throw new UsageError('option_needed', { option, needed: '--format sqlite' })
  throw new UsageError('option_conflict', { option, other: '--format sqlite' })
}

interface TrailFlags extends ConnectionFlags, PeriodFlags {
  readonly thread?: string
  readonly turn?: string
  readonly phase?: string
  readonly from?: readonly string[]
}

/** Steps per request: the gateway's maximum. */
const pageSize = 1000
/** Maximum characters of a step's thought, call or result on its line. */
const maxContentChars = 200

/** `meup audit trail`: prints the last `limit` steps of the audit (thoughts, calls, results, decisions), oldest first. */
async function printTrail(limit: number, flags: TrailFlags): Promise<void> {
  const http = createHttpClient(flags)
  const steps = await readSteps(http, limit, flags)
  if (steps.length === 0 && !(await isThere(http, flags))) {
    process.exitCode = exitCodes.error
    printNotice(
      `there is no turn ${flags.turn} of ${flags.thread}; meup audit trail --thread ${flags.thread} shows those that are`,
    )
    return
  }
  if (steps.length === 0) await checkNames(http, { from: [...(flags.from ?? []), ...agentOf(flags.thread)] })
  for (const step of steps.reverse()) {
    if (flags.json) printJson(step)
    else print(trailLine(step))
  }
}

const agentOf = (thread?: string): string[] =>
  thread === undefined ? [] : [thread.slice(thread.indexOf('/') + 1)]

/** Returns true if the requested turn exists, even if none of its steps match. */
async function isThere(http: HttpClient, { thread, turn }: TrailFlags): Promise<boolean> {
  if (thread === undefined || turn === undefined) return true
  return (await readRequestedTurns(http, thread, turn)).length > 0
}

/** Returns steps newest first. */
async function readSteps(http: HttpClient, limit: number, flags: TrailFlags): Promise<AuditStep[]> {
  const { thread, turn, phase, from } = flags
  const query = {
    ...{ thread, turn, phase, from },
    ...readPeriodTexts(flags),
    limit: Math.min(limit, pageSize),
  }
  const found: AuditStep[] = []
  for await (const { steps } of http.readAuditPages(query)) {
    found.push(...steps)
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/**
 * Formats a step: time, agent, turn, asker, phase, content, and ids of its call, decision and proposal; for a call also
 * arguments, reason, and the capability that allowed it.
 */
export function trailLine(step: AuditStep): string {
  const { created_at, thread_id, turn_number, phase, content, right, asked_by: asker } = step
  const agent = onOneLine(thread_id.slice(thread_id.indexOf('/') + 1))
  const turn = turn_number === null ? 'job' : `turn ${turn_number}`
  const asked = asker === null ? '' : `, asked by ${onOneLine(asker)}`
  const allowed = right === undefined ? '' : ` · ${onOneLine(right)}`
  return `${created_at}  ${agent} ${turn}${asked}  ${phase}: ${brief(content, maxContentChars)}${callText(step)}${formatLinks(step)}${allowed}`
}

/** Maximum characters of a call's arguments, and of its reason. */
const maxCallChars = 200

function callText({ parameters, rationale }: AuditStep): string {
  const given = parameters === undefined ? '' : ` · with ${brief(printableJson(parameters), maxCallChars)}`
  return rationale === undefined ? given : `${given} — ${brief(rationale, maxCallChars)}`
}

export interface ExportFlags extends ConnectionFlags {
  readonly format: 'jsonl' | 'markdown' | 'sqlite'
  readonly output?: string
  readonly thread?: string
  readonly turn?: string
  readonly context?: string
}

/**
 * `meup audit export`: writes the log as visible to this participant, or its audit trail, unchanged as the gateway sends it.
 */
export async function exportAudit({ output, ...flags }: ExportFlags): Promise<void> {
  const isForPeople = flags.format === 'markdown'
  const option = flags.thread === undefined ? flags.context && '--context' : '--thread'
  if (option && !isForPeople) {
    throw new UsageError('option_needed', { option, needed: '--format markdown' })
  }
  checkContext(flags)
  if (output === undefined && process.stdout.isTTY && !isForPeople) {
    throw new UsageError('export_to_terminal', {})
  }
  const format = isForPeople ? 'markdown' : 'jsonl'
  const pieces = await createHttpClient(flags).openExport({ ...flags, format })
  if (output === undefined) {
    await pipeline(pieces, process.stdout, { end: false })
    return
  }
  await writeFile(pieces, output)
  printNotice(`${output} is written${isForPeople ? '' : `; meup audit verify ${output} checks it`}`)
}

function checkContext({ context, thread }: Pick<ExportFlags, 'context' | 'thread'>): void {
  if (context === undefined) return
  if (thread !== undefined)
    throw new UsageError('option_conflict', { option: '--context', other: '--thread' })
  if (parseContext(context, anyContext) === undefined) throw invalidValue('--context', 'context', context)
}

export interface VerifyFlags extends ConnectionFlags {
  readonly head?: string
}

/** `meup audit verify`: verifies an export offline, or, without a file, the log of the space. */
export async function verifyAudit(file: string | undefined, { head, ...flags }: VerifyFlags): Promise<void> {
  if (head !== undefined && file === undefined)
    throw new UsageError('option_needed', { option: '--head', needed: 'the file of an export' })
  if (file === undefined) {
    const verification = await createHttpClient(flags).verifyLog()
    printVerdict(verification, formatSpaceVerification(verification), flags)
  } else {
    const verdict = await verifyFile(file, head === undefined ? undefined : readHead(head)).catch((error) => {
      throw explainUnreadable(file, error)
    })
    printVerdict(verdict, formatFileVerdict(verdict), flags)
  }
}

function printVerdict(
  verdict: { readonly ok: boolean },
  lines: readonly string[],
  { json }: ConnectionFlags,
): void {
  if (!verdict.ok) process.exitCode = exitCodes.auditMismatch
  if (json) printJson(verdict)
  else for (const line of lines) print(printable(line))
}

const verifyFile = (file: string, known: KnownHead | undefined): Promise<ExportVerdict> =>
  verifyExport(
    file === '-' ? process.stdin : createReadStream(file),
    (bytes) => createHash('sha256').update(bytes).digest(),
    known,
  )

/** Parses `seq:hash`, as `verify` prints it. */
function readHead(text: string): KnownHead {
  const [, seq, hash = ''] = /^(\d{1,15}):([\da-f]{64})$/i.exec(text) ?? []
  if (seq === undefined) {
    throw invalidValue('--head', 'head', text)
  }
  return { seq: Number(seq), hash: hash.toLowerCase() }
}

function formatFileVerdict(verdict: ExportVerdict): string[] {
  if (!verdict.ok) return [`line ${verdict.line} is wrong: ${verdict.problem}`]
  const { first, checked, shown, erased } = verdict
  const withheld = checked - shown - new Set(erased.map(({ seq }) => seq)).size
  const rest = withheld > 0 ? `, ${withheld} of them as hashes alone` : ''
  return [
    `whole: ${checked} envelopes from seq ${first}${rest}`,
    ...erased.map(formatErasure),
    ...formatHead(verdict),
  ]
}

const formatErasure = ({ seq, by, reason }: Erasure): string =>
  onOneLine(`seq ${seq} was erased by ${by}: ${reason}`)

function formatSpaceVerification(verification: LogVerification): string[] {
  const { ok, head, checked, brokenAt = 0, column, prunedBefore, erased = [] } = verification
  const from = prunedBefore === undefined ? 'seq 1' : `seq ${prunedBefore}, the oldest that is kept`
  if (ok)
    return [
      `whole: ${checked} envelopes from ${from}`,
      ...erased.map(formatErasure),
      ...formatHead(verification),
    ]
  return [
    `seq ${brokenAt} is wrong: ${column === undefined ? 'it is missing, or is not what was logged' : `its column ${column} is not what its body says`}`,
    `before it, ${checked} envelopes hold, from ${from}; after it, up to ${head}, nothing is proven`,
  ]
}

/** Formats epoch and head. Keep a copy outside the gateway to detect a replaced log. */
const formatHead = ({ epoch, head, hash }: { epoch: string; head: number; hash: string }): string[] => [
  `epoch ${epoch}`,
  `head ${head}:${hash}`,
]
