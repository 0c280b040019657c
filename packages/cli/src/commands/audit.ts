import { type Command, Option } from 'commander'
import type { ExportFlags } from '../audit/export.js'
import type { VerifyFlags } from '../audit/verify.js'
import { withConnection } from '../connection.js'

/** `meup audit …`. What they need is loaded when they run. */
export function addAudit(program: Command): void {
  const group = program.command('audit').description('take the log with you, and prove that it is whole')
  withConnection(group.command('export'), 'print JSON, one object a line, as it does anyway')
    .description('write the log, as far as you may read it, so that it can be verified without a gateway')
    .addOption(new Option('--format <format>', 'how it is written').choices(['jsonl']).default('jsonl'))
    .option('-o, --output <file>', 'write to this file, when the export is complete')
    .action(async (flags: ExportFlags) => {
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
