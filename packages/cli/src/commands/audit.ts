import { Phase } from '@meup/protocol'
import { type Command, Option } from 'commander'
import type { ExportFlags } from '../audit/export.js'
import type { SqliteFlags } from '../audit/sqlite/export-sqlite.js'
import type { TrailFlags } from '../audit/trail.js'
import type { VerifyFlags } from '../audit/verify.js'
import { withConnection } from '../connection.js'
import { UsageError } from '../exit.js'
import { count } from './count.js'

/** `meup audit …`. What they need is loaded when they run. */
export function addAudit(program: Command): void {
  const group = program
    .command('audit')
    .description('see what agents did and why, take the log with you, and prove that it is whole')
  withTurn(withConnection(group.command('trail'), 'print steps as JSON, one a line'))
    .description('show what agents thought, planned, did and were refused, step by step')
    .addOption(
      new Option('--phase <phase>', 'only such steps').choices(Phase.anyOf.map((phase) => phase.const)),
    )
    .option('--from <participant...>', 'only in turns of these')
    .option('--since <time>', 'only from then on, or from so long ago, such as 1h')
    .option('--until <time>', 'only before then')
    .option('--limit <count>', 'only the last so many', '100')
    .action(async ({ limit, ...flags }: TrailFlags & { limit: string }) => {
      const most = count(limit, '--limit')
      checkTurn(flags)
      const { printTrail } = await import('../audit/trail.js')
      await printTrail(most, flags)
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
        const { exportSqlite } = await import('../audit/sqlite/export-sqlite.js')
        await exportSqlite(flags)
        return
      }
      const { exportAudit } = await import('../audit/export.js')
      await exportAudit(flags)
    })
  withConnection(group.command('verify'), 'print one JSON object')
    .description(
      'check an export, or without a file the log of the space; exits with 8 when it does not match',
    )
    .argument('[file]', 'an export; - = from stdin')
    .option('--head <seq:hash>', 'what this printed earlier: the export must go on from there')
    .action(async (file: string | undefined, flags: VerifyFlags) => {
      const { verifyAudit } = await import('../audit/verify.js')
      await verifyAudit(file, flags)
    })
}

const withTurn = (command: Command): Command =>
  command
    .option('--thread <agent>', 'only the turns of this agent')
    .option('--turn <number>', 'only this turn of it')

function checkTurn({ thread, turn }: Pick<TrailFlags, 'thread' | 'turn'>): void {
  if (turn === undefined) return
  if (thread === undefined)
    throw new UsageError('--turn counts the turns of an agent: say whose, with --thread')
  count(turn, '--turn')
}

/** A database has everything, and is added to; the other formats are written once. */
function checkFormat(flags: ExportFlags & SqliteFlags): void {
  const { format, thread, context, output, to, follow, keepDays } = flags
  const ofOthers = { '--thread': thread, '--context': context, '--output': output }
  const ofSqlite = { '--to': to, '--follow': follow, '--keep-days': keepDays }
  const wrong = Object.entries(format === 'sqlite' ? ofOthers : ofSqlite).find(
    ([, value]) => value !== undefined,
  )
  if (wrong === undefined) return
  const [flag] = wrong
  if (format !== 'sqlite') throw new UsageError(`${flag} needs --format sqlite`)
  throw new UsageError(`${flag} does not go with --format sqlite, which has every turn that you may read`)
}
